// Which kernels may run between two exchanges of halos, and how many steps. No GPU.
#pragma once

#include <functional>
#include <optional>

namespace stencil_tune {

/// What a rank runs.
struct LocalKernel {
  int fused_steps = 1;
  double gstencils = 0;  ///< 1e9 updated cells a second; 0: not known
};

/// Visits all options for runs of `steps` steps, those with few fused steps first, each with one to four launches an
/// exchange. kernel_for says which kernel runs of so many steps use on a part; nothing where parts are too thin for as
/// many. A kernel of unknown rate is passed over. visit takes an option, or returns false where parts are too thin.
void each_exchange_option(int steps, const std::function<std::optional<LocalKernel>(int steps)>& kernel_for,
                          const std::function<bool(const LocalKernel& kernel, int per_exchange)>& visit);

}  // namespace stencil_tune
