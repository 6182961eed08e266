#include "bench/scaling/starting_cells.hpp"

#include <cmath>
#include <cstring>

namespace bench {
namespace {

using stencil_tune::ElementType;

/// Knuth's linear congruential generator (MMIX), whose upper bits are good enough for cells.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {
    for (int i = 0; i < 4; ++i) next();
  }
  float next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state_ >> 40) * 0x1p-24F;
  }

 private:
  std::uint64_t state_;
};

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Towards zero; what is too small for a normal number is 0.
std::uint16_t to_f16(float value) {
  const std::uint32_t bits = bits_of(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + 15;
  const std::uint32_t sign = bits >> 16 & 0x8000;
  if (exponent <= 0) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent) << 10 | (bits >> 13 & 0x3ff));
}

/// Towards zero.
std::uint16_t to_bf16(float value) { return static_cast<std::uint16_t>(bits_of(value) >> 16); }

double from_f16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

template <class Cell, class Convert>
void fill(std::vector<std::byte>& bytes, Start start, std::uint64_t seed, const Convert& convert) {
  Random random(seed);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Cell)) {
    const float value = start == Start::known ? 0.25F + 0.125F * random.next() : 2 * random.next() - 1;
    const Cell cell = convert(value);
    std::memcpy(bytes.data() + at, &cell, sizeof(cell));
  }
}

template <class Cell, class Convert>
std::vector<double> read(stencil_tune::Span<const std::byte> bytes, const Convert& convert) {
  std::vector<double> values;
  values.reserve(bytes.size() / sizeof(Cell));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Cell)) {
    Cell cell{};
    std::memcpy(&cell, bytes.data() + at, sizeof(cell));
    values.push_back(convert(cell));
  }
  return values;
}

}  // namespace

std::vector<std::byte> starting_cells(std::int64_t cells, ElementType type, Start start, std::uint64_t seed) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(cells) * stencil_tune::size_of(type));
  switch (type) {
    case ElementType::f64:
      fill<double>(bytes, start, seed, [](float value) { return static_cast<double>(value); });
      break;
    case ElementType::f32:
      fill<float>(bytes, start, seed, [](float value) { return value; });
      break;
    case ElementType::f16:
      fill<std::uint16_t>(bytes, start, seed, to_f16);
      break;
    case ElementType::bf16:
      fill<std::uint16_t>(bytes, start, seed, to_bf16);
      break;
    default:
      break;  // no problem's type
  }
  return bytes;
}

std::vector<double> values_of(stencil_tune::Span<const std::byte> cells, ElementType type) {
  switch (type) {
    case ElementType::f64:
      return read<double>(cells, [](double value) { return value; });
    case ElementType::f32:
      return read<float>(cells, [](float value) { return static_cast<double>(value); });
    case ElementType::f16:
      return read<std::uint16_t>(cells, from_f16);
    case ElementType::bf16:
      return read<std::uint16_t>(cells, from_bf16);
    default:
      return {};
  }
}

double epsilon_of(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return 0x1p-52;
    case ElementType::f32:
      return 0x1p-23;
    case ElementType::f16:
      return 0x1p-10;
    case ElementType::bf16:
      return 0x1p-7;
    default:
      return 0;
  }
}

}  // namespace bench
