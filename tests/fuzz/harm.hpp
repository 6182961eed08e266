// How a fuzz target says that something happened that must never happen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace stencil_tune {

/// Ends the program where `holds` is false.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", std::string(what).c_str());
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace stencil_tune
