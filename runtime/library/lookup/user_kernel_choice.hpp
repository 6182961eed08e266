// Which configuration of a kernel of the user's own serves sizes on a GPU.
#pragma once

#include "db/records.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "runtime/cuda/device.hpp"
#include "stencil_tune/tuned_kernel.hpp"

#include <span>

namespace stencil_tune {

struct UserKernelChoice {
  ParameterValues values;
  TunedEvidence evidence;
};

/// The best match among the winners of kernels of this name; those that are no legal configuration here are passed
/// over, with a note. Among several sizes the nearest is taken: the least sum of |log2| of their ratios; among several
/// objectives the rate in bursts.
/// Throws Error(illegal_candidate) where no configuration is legal.
UserKernelChoice choose_configuration(const UserKernel& kernel, const DeviceFacts& device,
                                      std::span<const WinnerRecord> winners);

}  // namespace stencil_tune
