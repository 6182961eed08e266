// The calibrations that ship (runtime/model/calibrations/), as text.
#pragma once

#include "generator/kernel_source/source.hpp"

#include <span>

namespace stencil_tune {

std::span<const TemplateFile> calibration_files();

}  // namespace stencil_tune
