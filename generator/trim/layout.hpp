// Lines of a text that what was taken out of it left short.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune {

/// Loops stand behind their STENCIL_UNROLL, and a single short statement behind its `if`, `for` or `while` and both
/// behind `if` and `else`, without braces, where a line has room. Unrolled loops that are nested without anything
/// between them have no braces either. Nothing else changes.
std::string with_short_lines_joined(std::string_view text);

}  // namespace stencil_tune
