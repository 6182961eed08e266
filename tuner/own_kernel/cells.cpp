#include "tuner/own_kernel/cells.hpp"

#include "tuner/verify/device/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stencil_tune {
namespace {

template <class Value>
Value read_as(const std::byte* cell) {
  Value value;
  std::memcpy(&value, cell, sizeof value);
  return value;
}

template <class Value>
void write_as(Value value, std::byte* cell) {
  std::memcpy(cell, &value, sizeof value);
}

/// Of 64 bits: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::uint64_t stream_of(const std::string& name, std::uint64_t seed) {
  std::uint64_t stream = mixed(seed);
  for (const char c : name) stream = mixed(stream ^ static_cast<unsigned char>(c));
  return stream;
}

bool is_signed(CellType type) { return type != CellType::u8 && type != CellType::u32 && type != CellType::u64; }

double fill_value(const KernelArgument& argument, std::uint64_t stream, std::int64_t cell) {
  const std::uint64_t random = mixed(stream + static_cast<std::uint64_t>(cell));
  switch (argument.fill) {
    case Fill::random:
      if (is_floating(argument.type)) return static_cast<double>(random >> 11) * 0x1p-52 - 1;
      return static_cast<double>(random % 256);
    case Fill::integers:
      return static_cast<double>(random % 17) - (is_signed(argument.type) ? 8 : 0);
    case Fill::zeros:
      return 0;
    case Fill::index:
      return static_cast<double>(cell);
    case Fill::number:
      return argument.fill_number;
  }
  return 0;
}

bool is_right(double found, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(found);
  if (found == expected) return true;
  return std::fabs(found - expected) <= tolerance * std::max(1.0, std::fabs(expected));
}

}  // namespace

double load_cell(CellType type, const std::byte* cell) noexcept {
  switch (type) {
    case CellType::f32:
      return read_as<float>(cell);
    case CellType::f64:
      return read_as<double>(cell);
    case CellType::f16:
      return check::from_f16(read_as<unsigned short>(cell));
    case CellType::bf16:
      return check::from_bf16(read_as<unsigned short>(cell));
    case CellType::i32:
      return read_as<std::int32_t>(cell);
    case CellType::u32:
      return read_as<std::uint32_t>(cell);
    case CellType::i64:
      return static_cast<double>(read_as<std::int64_t>(cell));
    case CellType::u64:
      return static_cast<double>(read_as<std::uint64_t>(cell));
    case CellType::u8:
      return read_as<std::uint8_t>(cell);
  }
  return 0;
}

void store_cell(CellType type, double value, std::byte* cell) noexcept {
  switch (type) {
    case CellType::f32:
      return write_as(static_cast<float>(value), cell);
    case CellType::f64:
      return write_as(value, cell);
    case CellType::f16:
      return write_as(check::to_f16(static_cast<float>(value)), cell);
    case CellType::bf16:
      return write_as(check::to_bf16(static_cast<float>(value)), cell);
    case CellType::i32:
      return write_as(static_cast<std::int32_t>(static_cast<std::int64_t>(value)), cell);
    case CellType::u32:
      return write_as(static_cast<std::uint32_t>(static_cast<std::int64_t>(value)), cell);
    case CellType::i64:
      return write_as(static_cast<std::int64_t>(value), cell);
    case CellType::u64:
      return write_as(static_cast<std::uint64_t>(value), cell);
    case CellType::u8:
      return write_as(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)), cell);
  }
}

std::vector<std::byte> filled_array(const KernelArgument& argument, std::int64_t cells, std::uint64_t seed) {
  const std::size_t width = size_of(argument.type);
  const std::uint64_t stream = stream_of(argument.name, seed);
  std::vector<std::byte> bytes(static_cast<std::size_t>(cells) * width);
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    store_cell(argument.type, fill_value(argument, stream, cell),
               bytes.data() + static_cast<std::size_t>(cell) * width);
  }
  return bytes;
}

std::vector<std::byte> value_bytes(const KernelArgument& argument, const WholeValues& sizes) {
  std::vector<std::byte> bytes(size_of(argument.type));
  if (argument.number) {
    store_cell(argument.type, *argument.number, bytes.data());
    return bytes;
  }
  const std::int64_t value = argument.value.evaluate(sizes);
  if (is_floating(argument.type)) {
    store_cell(argument.type, static_cast<double>(value), bytes.data());
  } else {
    std::memcpy(bytes.data(), &value, bytes.size());  // little-endian, as everywhere where CUDA runs
  }
  return bytes;
}

std::optional<std::string> wrong_cells(const KernelArgument& argument, std::span<const std::byte> found,
                                       std::span<const std::byte> expected, double tolerance) {
  const std::size_t width = size_of(argument.type), cells = expected.size() / width;
  std::size_t wrong = 0, first = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::byte *a = found.data() + cell * width, *b = expected.data() + cell * width;
    if (std::equal(a, a + width, b)) continue;
    if (is_floating(argument.type) && is_right(load_cell(argument.type, a), load_cell(argument.type, b), tolerance)) {
      continue;
    }
    if (wrong++ == 0) first = cell;
  }
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} cells of '{}' are wrong, the first is {}: {} instead of {}", wrong, cells, argument.name,
                     first, load_cell(argument.type, found.data() + first * width),
                     load_cell(argument.type, expected.data() + first * width));
}

}  // namespace stencil_tune
