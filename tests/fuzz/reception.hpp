// How the definition parser takes a text that may say anything, and whether harm came of it.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune {

struct Reception {
  bool accepted = false;
  std::string harm;  ///< what must never be; empty when all is well
};

/// Harmless is a text that is rejected as malformed with a short printable message, or that gives a stencil within the
/// limits whose every name is an identifier and whose canonical text and generated update hold nothing but words,
/// numbers, operators and brackets. Exceptions other than Error go on to the caller.
Reception receive_definition(std::string_view text);
Reception receive_expression(std::string_view text, int rank);

}  // namespace stencil_tune
