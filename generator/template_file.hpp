// Text that ships inside the library.
#pragma once

#include <string_view>

namespace stencil_tune {

/// Generated source includes templates by this name.
struct TemplateFile {
  std::string_view name;  ///< "stencil_tune/direct.cuh"
  std::string_view text;
};

}  // namespace stencil_tune
