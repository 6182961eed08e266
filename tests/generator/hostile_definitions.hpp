// Text that nobody means well, and the check that nothing came of it.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// Pieces of text: code, preprocessor directives, escapes, numbers out of range, deep nesting, Unicode.
std::vector<std::string> hostile_pieces();

/// Whole definitions: each piece in each place of a definition where text may stand, and some that attack TOML itself.
std::vector<std::string> hostile_definitions();

/// Parses; the text must be rejected as malformed, or give a stencil within the limits whose every name is an
/// identifier and whose canonical text holds nothing but words, numbers and brackets. False where it was rejected.
bool accepts_harmlessly(const std::string& definition);
bool accepts_expression_harmlessly(const std::string& expression, int rank);

}  // namespace stencil_tune
