// The executor's own template files, as text.
#pragma once

#include "generator/kernel_source/source.hpp"

#include <span>

namespace stencil_tune {

/// "stencil_tune/device.cuh" for the host, what it includes, and "stencil_tune/cuda.cuh" for plain CUDA.
std::span<const TemplateFile> executor_files();

}  // namespace stencil_tune
