// templates/taps.cuh as text. It is no template of candidates, so that their winners do not depend on it.
#pragma once

#include "generator/kernel_source/source.hpp"

#include <span>

namespace stencil_tune {

std::span<const TemplateFile> tap_template();

}  // namespace stencil_tune
