#include "generator/definition/definition.hpp"
#include "stencil_tune/library.hpp"

namespace stencil_tune {

Stencil load_stencil(const std::string& name_or_file) {
  return name_or_file.ends_with(".toml") ? load_definition(name_or_file) : find_stencil(name_or_file);
}

}  // namespace stencil_tune
