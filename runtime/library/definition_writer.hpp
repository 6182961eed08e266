// A stencil as the text of a definition: how one that was built in code reaches another program.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>

namespace stencil_tune {

/// TOML that parse_definition() reads back to a stencil with the same key. Fields and coefficients are called f0, c0,
/// and so on; those that nothing uses are left out.
std::string write_definition(const Stencil& stencil);

}  // namespace stencil_tune
