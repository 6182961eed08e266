// Text that nobody means well.
#pragma once

#include <string>
#include <vector>

namespace stencil_tune {

/// Pieces of text: code, preprocessor directives, escapes, numbers out of range, deep nesting, Unicode.
std::vector<std::string> hostile_pieces();

/// Whole definitions: each piece in each place of a definition where text may stand, and some that attack TOML itself.
std::vector<std::string> hostile_definitions();

}  // namespace stencil_tune
