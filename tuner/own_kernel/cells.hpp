// Cells of the arrays of a kernel of the user's own, on the host.
#pragma once

#include "generator/own_kernel/own_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// One cell, widened; exact up to 2^53.
double load_cell(CellType type, const std::byte* cell) noexcept;

/// Rounded to nearest; of whole numbers cut to the type's width.
void store_cell(CellType type, double value, std::byte* cell) noexcept;

/// What stands in the array before a launch, as its definition says; other seeds make other random numbers.
std::vector<std::byte> filled_array(const KernelArgument& argument, std::int64_t cells, std::uint64_t seed);

/// The value that a launch is given, in the argument's type.
std::vector<std::byte> value_bytes(const KernelArgument& argument, const WholeValues& sizes);

/// "3 of 1000 cells of 'c' are wrong, the first is 17: 0.5 instead of 0.25"; nothing where all are right. Floating
/// point may be off by tolerance * max(1, |expected|); whole numbers must be equal.
std::optional<std::string> wrong_cells(const KernelArgument& argument, std::span<const std::byte> found,
                                       std::span<const std::byte> expected, double tolerance);

}  // namespace stencil_tune
