// All fields in double precision, each as dense rows; of those that vary along some axes alone, their cells.
using Fields = std::vector<std::vector<double>>;

// The index that answers for i on an axis of n cells, -1 for "the value is 0".
[[maybe_unused]] long long answer(Boundary boundary, long long i, long long n) {
  if (i >= 0 && i < n) return i;
  switch (boundary) {
    case zero:
      return -1;
    case periodic:
      return ((i % n) + n) % n;
    case reflect: {
      if (n == 1) return 0;
      const long long period = 2 * (n - 1);
      const long long folded = ((i % period) + period) % period;
      return folded < n ? folded : period - folded;
    }
    default:
      return i < 0 ? 0 : n - 1;
  }
}

[[maybe_unused]] double read(const std::vector<double>& field, const long long (&n)[3], long long x, long long y,
                             long long z) {
  x = answer(kBoundaries[0], x, n[0]);
  y = answer(kBoundaries[1], y, n[1]);
  z = answer(kBoundaries[2], z, n[2]);
  return x < 0 || y < 0 || z < 0 ? 0.0 : field[static_cast<std::size_t>((z * n[1] + y) * n[0] + x)];
}

[[maybe_unused]] double read_along(int axis, const std::vector<double>& profile, const long long (&n)[3], long long i) {
  i = answer(kBoundaries[axis], i, n[axis]);
  return i < 0 ? 0.0 : profile[static_cast<std::size_t>(i)];
}

[[maybe_unused]] double read_along(int axis, int slower, const std::vector<double>& profile, const long long (&n)[3],
                                   long long i, long long j) {
  i = answer(kBoundaries[axis], i, n[axis]);
  j = answer(kBoundaries[slower], j, n[slower]);
  return i < 0 || j < 0 ? 0.0 : profile[static_cast<std::size_t>(j * n[axis] + i)];
}

// Every operation may be made to round: by so much, relatively, in either direction.
double noise = 0;
std::minstd_rand dice;

double off(double value, double relative) {
  constexpr double kSides = std::minstd_rand::max() - std::minstd_rand::min();
  return value * (1 + relative * (2 * static_cast<double>(dice() - std::minstd_rand::min()) / kSides - 1));
}

double op(double value) { return noise == 0 ? value : off(value, noise); }

// As kernels have numbers and coefficients.
[[maybe_unused]] double as_computed(double number) { return static_cast<double>(static_cast<Computed>(number)); }

// What a comparison decides. One that rounding could turn round decides nothing: NaN, as all that follows from it.
[[maybe_unused]] double decided(bool holds, double a, double b) {
  const bool far = std::fabs(a - b) > 64 * kUnit * (std::fabs(a) + std::fabs(b));
  return far || a == b ? (holds ? 1.0 : 0.0) : NAN;
}

// A floor that rounding could make another whole number is NaN, and so is the rest of such a quotient.
[[maybe_unused]] bool is_near_whole(double number) {
  return std::fabs(number - std::nearbyint(number)) <= 64 * kUnit * std::fabs(number);
}
[[maybe_unused]] double floored(double a) { return is_near_whole(a) && a != std::nearbyint(a) ? NAN : std::floor(a); }
// The same of a nearest whole number, at a number halfway between two.
[[maybe_unused]] double nearest(double a) { return is_near_whole(a - 0.5) ? NAN : std::nearbyint(a); }
[[maybe_unused]] double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (is_near_whole(a / b) && rest != 0) return NAN;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Philox 4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
struct Counter {
  long long word[4];
};
[[maybe_unused]] double random_number(const Counter& counter, long long seed, long long call) {
  std::uint32_t c[4], key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(call)};
  for (int i = 0; i < 4; ++i) c[i] = static_cast<std::uint32_t>(counter.word[i]);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * c[0], b = std::uint64_t{0xcd9e8d57} * c[2];
    c[0] = static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0];
    c[1] = static_cast<std::uint32_t>(b);
    c[2] = static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1];
    c[3] = static_cast<std::uint32_t>(a);
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  if (sizeof(Computed) == sizeof(float)) return (c[0] >> 8) * 0x1p-24;
  return static_cast<double>((std::uint64_t{c[0]} << 32 | c[1]) >> 11) * 0x1p-53;
}

[[maybe_unused]] double chosen(double condition, double a, double b) {
  if (std::isnan(condition)) return NAN;
  return condition != 0 ? a : b;
}

[[maybe_unused]] double least(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }
[[maybe_unused]] double most(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }
