// Cells of the arrays of a kernel of the user's own, on the host, and what the GPU is told of them.
#pragma once

#include "generator/user_kernel/user_kernel.hpp"
#include "tuner/verify/device/cells.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

check::Cell cell_type(CellType type) noexcept;

/// The numbers that an array is filled with, as its definition says; other seeds make other random ones.
check::CellsFilled filled_cells(const KernelArgument& argument, std::uint64_t seed);

/// What stands in the array before a launch.
std::vector<std::byte> filled_array(const KernelArgument& argument, std::int64_t cells, std::uint64_t seed);

/// Reads a captured argument. Throws Error: file_io; invalid_argument where the file holds another number of bytes.
std::vector<std::byte> captured_bytes(const KernelArgument& argument, std::size_t count);

/// The value that a launch is given, in the argument's type.
std::vector<std::byte> value_bytes(const KernelArgument& argument, const WholeValues& sizes);

struct WrongCells {
  std::int64_t cells = 0;  ///< in the array
  std::uint64_t count = 0;
  std::int64_t first = 0;
  std::span<const std::byte> found, expected;  ///< the first one
};

/// "3 of 1000 cells of 'c' are wrong, the first is 17: 0.5 instead of 0.25".
std::string wrong_cells_text(const KernelArgument& argument, const WrongCells& wrong);

/// The same of arrays on the host; nothing where all are right. Floating point may be off by
/// tolerance * max(1, |expected|); whole numbers must be equal.
std::optional<std::string> wrong_cells(const KernelArgument& argument, std::span<const std::byte> found,
                                       std::span<const std::byte> expected, double tolerance);

}  // namespace stencil_tune
