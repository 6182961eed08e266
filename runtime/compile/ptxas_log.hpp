// What ptxas -v says of a kernel.
#pragma once

#include "runtime/compile/compiler.hpp"

#include <string_view>

namespace stencil_tune {

/// Whether the log has a section of `entry`.
bool ptxas_log_describes(std::string_view log, std::string_view entry);

/// Reads the section of `entry`. Throws Error(internal) when the log has none: figures are never made up.
KernelResources read_ptxas_log(std::string_view log, std::string_view entry);

}  // namespace stencil_tune
