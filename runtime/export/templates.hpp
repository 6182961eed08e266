// Template files written out in one text.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune {

/// `source` with its #include "stencil_tune/..." lines replaced by the files' texts, each once and after what it
/// includes itself, and the namespace stencil_tune renamed, so that several exported files link into one program.
/// Throws Error(internal) for a file that is not among template_files().
std::string write_out_templates(std::string_view source, std::string_view renamed_namespace);

}  // namespace stencil_tune
