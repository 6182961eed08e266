// fmt::print in lines that standard output has room for.
#pragma once

#include "tuner/terminal/terminal.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

/// Whole lines: what goes on with a line that is too long for the terminal begins further in.
template <class... Values>
void print_fitted(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  fmt::print("{}", wrap_lines(text, terminal_of(stdout).columns, "      "));
}

}  // namespace stencil_tune
