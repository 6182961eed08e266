// Where in a source its definition stands.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune {

/// The text with blanks for all but the definition's lines, so that places stay what they are: what stands between a
/// line "/* stencil-tune" and the next "*/". Throws Error(malformed_definition) where there is none, or two.
std::string definition_comment(std::string_view source, std::string_view file);

}  // namespace stencil_tune
