// Numbers of things, in words.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace stencil_tune {

/// "1 trial", "2 trials", "3 launches"
template <class Number>
std::string counted(Number number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : what.ends_with("ch") ? "es" : "s");
}

}  // namespace stencil_tune
