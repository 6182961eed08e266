// The executor's own template files, as text.
#pragma once

#include "generator/kernel/source.hpp"

#include <span>

namespace stencil_tune {

/// "stencil_tune/device.cuh" for the host, and what it includes.
std::span<const TemplateFile> executor_files();

}  // namespace stencil_tune
