// Named lists of problems for `bench --suite`.
#pragma once

#include "generator/problem.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

std::vector<std::string> suite_names();

/// Throws Error(unknown_name) with the nearest name.
std::vector<Problem> suite(const std::string& name);

}  // namespace stencil_tune
