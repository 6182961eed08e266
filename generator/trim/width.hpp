#pragma once

#include <cstddef>

namespace stencil_tune {

inline constexpr std::size_t kWidth = 120;  ///< of the longest line, in characters

}  // namespace stencil_tune
