// A kernel's text as a file of its own has it.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune {

/// write_out() of generator/trim/trim.hpp with the namespace stencil_tune renamed, so that several exported files link
/// into one program.
std::string write_out_templates(std::string_view source, std::string_view renamed_namespace,
                                std::string_view also_using);

}  // namespace stencil_tune
