// A kernel's text as a file of its own has it.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune {

/// The text with the namespace stencil_tune under another name, so that several exported files link into one program.
std::string in_namespace(std::string_view text, std::string_view name);

}  // namespace stencil_tune
