// One compiled kernel on a real GPU, on small grids: every cell against the CPU's reference.
#pragma once

#include "runtime/compile/compiler.hpp"
#include "runtime/cuda/driver.hpp"
#include "tuner/executor/host_check.hpp"

#include <cstdint>
#include <string>

namespace stencil_tune {

struct DeviceVerdict {
  std::string wrong;               ///< what was wrong first, and on which grid; empty when all is right
  std::string not_run;             ///< why this GPU cannot hold the kernel; empty when it ran
  std::int64_t cells_checked = 0;  ///< compared with the reference
};

/// Updates each of the case's grids three times: whole with random numbers, a part of the updated box only, and whole
/// on arrays without a byte to spare (what a memory checker watches best), with numbers whose result is known to the
/// bit where the stencil has such and steps are not fused. Elsewhere arrays are aligned no better than the kernel may
/// ask, and lie between guard bands. Whole steps are not tried on a part: their outputs have boxes of their own. Cells
/// outside the box, row padding, guard bands and inputs must stay as they were. Works on the thread's current context.
/// Throws Error when a launch fails or breaks the context.
DeviceVerdict check_on_device(Driver& driver, const HostCase& kernel_case, const CompiledKernel& kernel);

}  // namespace stencil_tune
