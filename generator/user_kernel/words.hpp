// The words that definitions of kernels use for types and fills.
#pragma once

#include "generator/user_kernel/user_kernel.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

std::optional<CellType> find_cell_type(std::string_view word);
std::vector<std::string> cell_type_names();

/// But for Fill::number, which a definition writes as one.
std::optional<Fill> find_fill(std::string_view word);
std::vector<std::string> fill_names();

}  // namespace stencil_tune
