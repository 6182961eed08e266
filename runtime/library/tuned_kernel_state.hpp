// What handles of a kernel of the user's own share.
#pragma once

#include "generator/user_kernel/configuration.hpp"
#include "runtime/library/launch/loaded_kernel.hpp"
#include "stencil_tune/tuned_kernel.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

namespace stencil_tune {

/// Does not change after it was made, but for what was captured.
struct TunedKernel::State {
  Driver& driver;
  int device;  ///< ordinal
  UserKernel kernel;
  TunedEvidence evidence;
  KernelSource source;
  LaunchGeometry geometry;
  std::shared_ptr<LoadedKernel> loaded;
  std::vector<std::size_t> symbol_bytes;   ///< for each argument what a launch copies to its symbol; 0: it has none
  std::filesystem::path capture_folder;    ///< for the first launch; empty: it is not captured
  std::atomic<bool> was_captured = false;  ///< or is being captured
};

}  // namespace stencil_tune
