#pragma once

#include <string_view>

namespace stencil_tune {

inline constexpr std::string_view kAxisNames = "xyz";

}  // namespace stencil_tune
