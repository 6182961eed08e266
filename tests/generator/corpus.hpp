// Definitions of the corpus, by name. Test programs run in the source folder.
#pragma once

#include "generator/definition/definition.hpp"

#include <fmt/format.h>

#include <string_view>

namespace stencil_tune {

inline Stencil corpus(std::string_view name) { return load_definition(fmt::format("corpus/{}.toml", name)); }

}  // namespace stencil_tune
