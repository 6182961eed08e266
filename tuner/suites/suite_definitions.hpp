// Definitions of the corpus that suites time, carried along as text: a suite runs from any folder.
#pragma once

#include "generator/kernel/source.hpp"

#include <span>

namespace stencil_tune {

/// Under the names corpus/<file>.
std::span<const TemplateFile> suite_definitions();

}  // namespace stencil_tune
