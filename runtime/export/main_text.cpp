#include "generator/candidates/family.hpp"
#include "generator/kernel/launch.hpp"
#include "runtime/export/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {

namespace {

/// Between the element type and double.
std::string_view conversions(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return "double widen(double cell) { return cell; }\nvoid narrow(double value, double& cell) { cell = value; }\n";
    case ElementType::f32:
      return "double widen(float cell) { return cell; }\n"
             "void narrow(double value, float& cell) { cell = static_cast<float>(value); }\n";
    case ElementType::f16:
      return "double widen(__half cell) { return __half2float(cell); }\n"
             "void narrow(double value, __half& cell) { cell = __float2half(static_cast<float>(value)); }\n";
    case ElementType::bf16:
      return "double widen(__nv_bfloat16 cell) { return __bfloat162float(cell); }\n"
             "void narrow(double value, __nv_bfloat16& cell) { cell = __float2bfloat16(static_cast<float>(value)); }\n";
  }
  return {};
}

constexpr std::string_view kRead = R"(
enum Boundary { hold, zero, clamp, periodic, reflect };

// The index that answers for i on an axis of n cells, -1 for "the value is 0".
long long answer(Boundary boundary, long long i, long long n) {
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
)";

constexpr std::string_view kChecks = R"(
void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

// One array on the GPU, rows `pitch` cells apart.
struct Array {
  long long cells;
  Cell* data = nullptr;
  explicit Array(long long count) : cells(count) {
    require(cudaMalloc(reinterpret_cast<void**>(&data), static_cast<std::size_t>(cells) * sizeof(Cell)), "cudaMalloc");
    require(cudaMemset(data, 0xff, static_cast<std::size_t>(cells) * sizeof(Cell)), "cudaMemset");
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data); }
};
)";

/// All steps of a launch but the last, one plain sweep after the other.
constexpr std::string_view kEarlierSteps = R"(  for (int step = 1; step < kSteps; ++step) {
    std::vector<double> after = dense[kAdvanced];
    for (long long z = 0; z < n[2]; ++z) {
      for (long long y = 0; y < n[1]; ++y) {
        for (long long x = 0; x < n[0]; ++x) {
          if (!is_updated(n, x, y, z)) continue;
          reference(dense, n, x, y, z, kCoefficients, &after[static_cast<std::size_t>((z * n[1] + y) * n[0] + x)]);
        }
      }
    }
    dense[kAdvanced] = after;
  }
)";

double rounding(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return 0x1p-53;
    case ElementType::f32:
      return 0x1p-24;
    case ElementType::f16:
      return 0x1p-11;
    case ElementType::bf16:
      return 0x1p-8;
  }
  return 1;
}

std::string call(const Problem& problem, const ExportSignature& signature) {
  std::string arguments;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) arguments += fmt::format("in[{}]->data, ", i);
  for (std::size_t i = 0; i < signature.outputs.size(); ++i) arguments += fmt::format("out[{}]->data, ", i);
  arguments += "n[0], ";
  if (problem.extents.rank >= 2) arguments += "n[1], ";
  if (problem.extents.rank >= 3) arguments += "n[2], ";
  if (problem.extents.rank >= 2) arguments += "pitch, ";
  if (problem.extents.rank >= 3) arguments += "pitch * n[1], ";
  if (!problem.stencil.coefficients.empty()) arguments += "nullptr, ";
  if (problem.facts.placed) arguments += "kOrigin, kFirstStep, ";
  return fmt::format("::{}({}nullptr)", signature.name, arguments);
}

std::string extents_list(const Extents& extents) {
  return fmt::format("{}, {}, {}", extents.n[0], extents.n[1], extents.n[2]);
}

/// Awkward on purpose: prime extents, some tiles not full. Fused steps want a whole tile inside.
Extents check_extents(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  if (candidate.shape().placement == Placement::inside) {
    const std::array<int, kMaxRank> tile = output_tile(candidate);
    Extents extents{.rank = problem.extents.rank, .n = {1, 1, 1}};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(extents.rank); ++axis) extents.n[axis] = tile[axis] + 5;
    const std::int64_t multiple = candidate.shape().row_multiple;
    extents.n[0] = (extents.n[0] + multiple - 1) / multiple * multiple;
    return extents;
  }
  constexpr std::array<std::int64_t, kMaxRank> kPrimes{67, 23, 13};
  Extents extents{.rank = problem.extents.rank, .n = {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(extents.rank); ++axis) {
    extents.n[axis] = kPrimes[axis] + 2 * std::int64_t{problem.facts.radius[axis]};
  }
  return extents;
}

}  // namespace

std::string main_text(const Candidate& candidate, const ExportSignature& signature) {
  const Problem& problem = candidate.problem();
  const Tuning& tuning = candidate.tuning();
  const bool is_f64 = problem.type == ElementType::f64;
  const double compute = rounding(is_f64 ? ElementType::f64 : ElementType::f32);
  std::array<HeldLayers, kMaxRank> held{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.extents.rank); ++axis) {
    held[axis] = held_layers(problem, axis);
  }
  const int steps = sweeps_per_launch(tuning);
  std::string values;
  for (const Coefficient& c : problem.stencil.coefficients) values += fmt::format("{:a}, ", c.value);

  std::string text;
  text += "\n#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <memory>\n";
  text += "#include <random>\n#include <vector>\n\n";
  // In a namespace of its own: nothing here can be what the launcher is called.
  text += fmt::format("namespace {}_check {{\nnamespace {{\n", signature.name);
  text += fmt::format("\nusing Cell = {};\n\n// A number and a cell of the element type.\n", signature.cell);
  text += conversions(problem.type);
  text += kRead;
  text += fmt::format(R"(
double read(const std::vector<double>& field, const long long (&n)[3], long long x, long long y, long long z) {{
  x = answer({}, x, n[0]);
  y = answer({}, y, n[1]);
  z = answer({}, z, n[2]);
  return x < 0 || y < 0 || z < 0 ? 0.0 : field[static_cast<std::size_t>((z * n[1] + y) * n[0] + x)];
}}

)",
                      name(problem.boundaries[0]), problem.extents.rank > 1 ? name(problem.boundaries[1]) : "hold",
                      problem.extents.rank > 2 ? name(problem.boundaries[2]) : "hold");
  if (problem.facts.placed) {
    text +=
        "constexpr long long kOrigin[3] = {3, 11, 5};  // of the self-check\nconstexpr long long kFirstStep = 7;\n\n";
  }
  text += reference_text(problem);
  text += kChecks;
  text += fmt::format(
      R"(
constexpr int kInputs = {inputs};
constexpr int kOutputs = {outputs};
constexpr int kSteps = {steps};  // of a launch
{advanced}constexpr double kCoefficients[] = {{{values}0}};
constexpr long long kHeld[3][2] = {{{{{lx}, {hx}}}, {{{ly}, {hy}}}, {{{lz}, {hz}}}}};  // layers at both ends, never written

using Arrays = std::vector<std::unique_ptr<Array>>;

Arrays make_arrays(int count, long long cells) {{
  Arrays arrays;
  for (int i = 0; i < count; ++i) arrays.push_back(std::unique_ptr<Array>(new Array(cells)));
  return arrays;
}}

cudaError_t launch(const Arrays& in, const Arrays& out, const long long (&n)[3], [[maybe_unused]] long long pitch) {{
  return {call};
}}

bool is_updated(const long long (&n)[3], long long x, long long y, long long z) {{
  const long long at[3] = {{x, y, z}};
  for (int a = 0; a < 3; ++a) {{
    if (at[a] < kHeld[a][0] || at[a] >= n[a] - kHeld[a][1]) return false;
  }}
  return true;
}}
)",
      fmt::arg("steps", steps),
      fmt::arg("advanced", steps > 1 ? fmt::format("constexpr int kAdvanced = {};  // the input that they change\n",
                                                   advanced_input(problem).value_or(0))
                                     : std::string()),
      fmt::arg("inputs", signature.inputs.size()), fmt::arg("outputs", signature.outputs.size()),
      fmt::arg("values", values), fmt::arg("lx", held[0].low), fmt::arg("hx", held[0].high),
      fmt::arg("ly", held[1].low), fmt::arg("hy", held[1].high), fmt::arg("lz", held[2].low),
      fmt::arg("hz", held[2].high), fmt::arg("call", call(problem, signature)));
  text += fmt::format(
      R"(
// Runs the launcher on a small grid and compares every cell. Returns the number of wrong ones.
long long check(const long long (&n)[3], long long pitch) {{
  const long long cells = pitch * n[1] * n[2];
  const Arrays in = make_arrays(kInputs, cells);
  const Arrays out = make_arrays(kOutputs, cells);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.25, 1);  // positive: safe to divide by or to take a root of
  std::vector<double> dense[kInputs];
  for (int f = 0; f < kInputs; ++f) {{
    std::vector<Cell> stored(static_cast<std::size_t>(cells));
    for (long long row = 0; row < n[1] * n[2]; ++row) {{
      for (long long x = 0; x < n[0]; ++x) {{
        Cell& cell = stored[static_cast<std::size_t>(row * pitch + x)];
        narrow(uniform(random), cell);
        dense[f].push_back(widen(cell));
      }}
    }}
    require(cudaMemcpy(in[static_cast<std::size_t>(f)]->data, stored.data(), stored.size() * sizeof(Cell),
                       cudaMemcpyHostToDevice), "cudaMemcpy");
  }}
  require(launch(in, out, n, pitch), "launch");
{earlier}
  long long wrong = 0;
  for (int f = 0; f < kOutputs; ++f) {{
    std::vector<Cell> result(static_cast<std::size_t>(cells));
    require(cudaMemcpy(result.data(), out[static_cast<std::size_t>(f)]->data, result.size() * sizeof(Cell),
                       cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<unsigned char> untouched(sizeof(Cell), 0xff);
    for (long long z = 0; z < n[2]; ++z) {{
      for (long long y = 0; y < n[1]; ++y) {{
        for (long long x = 0; x < n[0]; ++x) {{
          const Cell& cell = result[static_cast<std::size_t>((z * n[1] + y) * pitch + x)];
          bool right = std::memcmp(&cell, untouched.data(), sizeof(Cell)) == 0;
          if (is_updated(n, x, y, z)) {{
            double expected[kOutputs];
            const double largest = reference(dense, n, x, y, z, kCoefficients, expected);
            // A few roundings an operation, and one when stored.
            right = std::fabs(widen(cell) - expected[f]) <= largest * {tolerance:a};
          }}
          if (!right && ++wrong == 1) std::fprintf(stderr, "first wrong cell: %lld, %lld, %lld\n", x, y, z);
        }}
      }}
    }}
  }}
  return wrong;
}}

// Median milliseconds of one launch, after 100 ms of warming up. Launches are timed in batches, so that the time between
// two of them does not count, and take turns in what they write where that is possible, as in a time loop. On random
// numbers: on a constant some kernels are faster.
double measure(const long long (&n)[3], long long pitch) {{
  const long long cells = pitch * n[1] * n[2];
  const Arrays in = make_arrays(kInputs, cells);
  const Arrays out = make_arrays(kOutputs, cells);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.25, 1);
  std::vector<Cell> numbers(static_cast<std::size_t>(std::min(cells, 1LL << 20)));
  for (Cell& number : numbers) narrow(uniform(random), number);
  for (const Arrays* arrays : {{&in, &out}}) {{
    for (const auto& array : *arrays) {{
      auto filled = static_cast<long long>(numbers.size());
      require(cudaMemcpy(array->data, numbers.data(), numbers.size() * sizeof(Cell), cudaMemcpyHostToDevice),
              "cudaMemcpy");
      for (; filled < cells; filled *= 2) {{
        require(cudaMemcpy(array->data + filled, array->data,
                           static_cast<std::size_t>(std::min(filled, cells - filled)) * sizeof(Cell),
                           cudaMemcpyDeviceToDevice), "cudaMemcpy");
      }}
    }}
  }}
  cudaEvent_t start, stop;
  require(cudaEventCreate(&start), "cudaEventCreate");
  require(cudaEventCreate(&stop), "cudaEventCreate");
  const auto batch = [&](int launches) {{
    float ms = 0;
    require(cudaEventRecord(start), "cudaEventRecord");
    for (int i = 0; i < launches; ++i) {{
      const bool back = kInputs == kOutputs && i % 2 == 1;
      require(launch(back ? out : in, back ? in : out, n, pitch), "launch");
    }}
    require(cudaEventRecord(stop), "cudaEventRecord");
    require(cudaEventSynchronize(stop), "cudaEventSynchronize");
    require(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    return ms;
  }};
  int launches = 1;
  float warm = 0;
  while (warm < 100) {{
    const float ms = batch(launches);
    warm += ms;
    if (ms < 5) launches *= 2;
  }}
  std::vector<double> times;
  for (int i = 0; i < 31; ++i) times.push_back(static_cast<double>(batch(launches)) / launches);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}}

}}  // namespace

int run() {{
  const long long small[3] = {{{small}}};
  const long long large[3] = {{{large}}};
  const long long wrong = check(small, {small_pitch});
  std::printf("self-check on %lld x %lld x %lld: %s (%lld wrong cells)\n", small[0], small[1], small[2],
              wrong == 0 ? "right" : "WRONG", wrong);
  if (wrong != 0) return 1;

  const double ms = measure(large, {large_pitch});
  double cells = 1, updated = 1;
  for (int a = 0; a < 3; ++a) {{
    cells *= static_cast<double>(large[a]);
    updated *= static_cast<double>(large[a] - kHeld[a][0] - kHeld[a][1]);
  }}
  const double bytes = (kInputs * cells + kOutputs * updated) * sizeof(Cell);
  std::printf("%lld x %lld x %lld: %.4f ms, %.1f GStencil/s, %.0f GB/s\n", large[0], large[1], large[2], ms,
              kSteps * updated / ms / 1e6, bytes / ms / 1e6);
  return 0;
}}

}}  // namespace {name}_check

int main() {{ return {name}_check::run(); }}
)",
      fmt::arg("name", signature.name),
      fmt::arg("tolerance", steps * 4 * (problem.facts.operations + 2) * compute + 2 * rounding(problem.type)),
      fmt::arg("earlier", steps > 1 ? kEarlierSteps : ""), fmt::arg("small", extents_list(check_extents(candidate))),
      fmt::arg("large", extents_list(problem.extents)),
      fmt::arg("small_pitch", (check_extents(candidate).n[0] + 63) / 64 * 64), fmt::arg("large_pitch", problem.pitch));
  return text;
}

}  // namespace stencil_tune
