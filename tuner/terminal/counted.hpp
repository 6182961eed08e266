// Numbers of things, in words.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace stencil_tune {

/// "1 trial", "2 trials"
template <class Number>
std::string counted(Number number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace stencil_tune
