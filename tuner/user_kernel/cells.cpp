#include "tuner/user_kernel/cells.hpp"

#include "generator/input_file.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

namespace stencil_tune {
namespace {

static_assert(static_cast<int>(CellType::u8) == static_cast<int>(check::Cell::u8));
static_assert(static_cast<int>(Fill::number) == static_cast<int>(check::CellFill::number));

std::uint64_t stream_of(const std::string& name, std::uint64_t seed) {
  std::uint64_t stream = check::mixed(seed);
  for (const char c : name) stream = check::mixed(stream ^ static_cast<unsigned char>(c));
  return stream;
}

}  // namespace

check::Cell cell_type(CellType type) noexcept { return static_cast<check::Cell>(type); }

check::CellsFilled filled_cells(const KernelArgument& argument, std::uint64_t seed) {
  return {cell_type(argument.type), static_cast<check::CellFill>(argument.fill), argument.fill_number,
          stream_of(argument.name, seed)};
}

std::vector<std::byte> filled_array(const KernelArgument& argument, std::int64_t cells, std::uint64_t seed) {
  const std::size_t width = size_of(argument.type);
  const check::CellsFilled filled = filled_cells(argument, seed);
  std::vector<std::byte> bytes(static_cast<std::size_t>(cells) * width);
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    check::store_cell(filled.type, check::filled_value(filled, cell),
                      bytes.data() + static_cast<std::size_t>(cell) * width);
  }
  return bytes;
}

std::vector<std::byte> captured_bytes(const KernelArgument& argument, std::size_t count) {
  require_regular_file(argument.captured);
  std::ifstream file(argument.captured, std::ios::binary | std::ios::ate);
  if (!file) throw Error(ErrorCode::file_io, fmt::format("cannot read {}", argument.captured));
  if (const auto held = static_cast<std::size_t>(file.tellg()); held != count) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' takes {} bytes with these sizes, {} were captured: tune it with the sizes of its launch",
                    argument.name, count, held));
  }
  std::vector<std::byte> bytes(count);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  if (!file) throw Error(ErrorCode::file_io, fmt::format("cannot read {}", argument.captured));
  return bytes;
}

std::vector<std::byte> value_bytes(const KernelArgument& argument, const WholeValues& sizes) {
  if (!argument.captured.empty()) return captured_bytes(argument, size_of(argument.type));
  std::vector<std::byte> bytes(size_of(argument.type));
  if (argument.number) {
    check::store_cell(cell_type(argument.type), *argument.number, bytes.data());
    return bytes;
  }
  const std::int64_t value = argument.value.evaluate(sizes);
  if (is_floating(argument.type)) {
    check::store_cell(cell_type(argument.type), static_cast<double>(value), bytes.data());
  } else {
    std::memcpy(bytes.data(), &value, bytes.size());  // little-endian, as everywhere where CUDA runs
  }
  return bytes;
}

std::string wrong_cells_text(const KernelArgument& argument, const WrongCells& wrong) {
  const check::Cell type = cell_type(argument.type);
  return fmt::format("{} of {} cells of '{}' are wrong, the first is {}: {} instead of {}", wrong.count, wrong.cells,
                     argument.name, wrong.first, check::load_cell(type, wrong.found.data()),
                     check::load_cell(type, wrong.expected.data()));
}

std::optional<std::string> wrong_cells(const KernelArgument& argument, std::span<const std::byte> found,
                                       std::span<const std::byte> expected, double tolerance) {
  const std::size_t width = size_of(argument.type);
  WrongCells wrong;
  wrong.cells = static_cast<std::int64_t>(expected.size() / width);
  for (std::int64_t cell = 0; cell < wrong.cells; ++cell) {
    const std::size_t at = static_cast<std::size_t>(cell) * width;
    if (check::is_right(cell_type(argument.type), &found[at], &expected[at], tolerance)) continue;
    if (wrong.count++ > 0) continue;
    wrong.first = cell;
    wrong.found = found.subspan(at, width);
    wrong.expected = expected.subspan(at, width);
  }
  if (wrong.count == 0) return std::nullopt;
  return wrong_cells_text(argument, wrong);
}

}  // namespace stencil_tune
