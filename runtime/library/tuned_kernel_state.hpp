// What handles of a kernel of the user's own share.
#pragma once

#include "generator/own_kernel/configuration.hpp"
#include "runtime/library/launch/loaded_kernel.hpp"
#include "stencil_tune/tuned_kernel.hpp"

#include <memory>

namespace stencil_tune {

/// Does not change after it was made.
struct TunedKernel::State {
  Driver& driver;
  OwnKernel kernel;
  TunedEvidence evidence;
  KernelSource source;
  LaunchGeometry geometry;
  std::shared_ptr<LoadedKernel> loaded;
};

}  // namespace stencil_tune
