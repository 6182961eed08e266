// Indices of the stencil's own, which are ints, as containers take them, and lists of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stencil_tune {

constexpr std::size_t at(std::int64_t index) noexcept { return static_cast<std::size_t>(index); }

inline bool contains(const std::vector<int>& indices, int index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

}  // namespace stencil_tune
