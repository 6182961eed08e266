// The device code of verification and of the copy ceiling, as it is compiled at run time.
#pragma once

#include "generator/kernel_source/source.hpp"

#include <span>

namespace stencil_tune {

/// All files of tuner/verify/device under the names they include each other by.
std::span<const TemplateFile> check_files();

}  // namespace stencil_tune
