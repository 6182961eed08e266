// A loaded candidate, ready to be launched on any problem it serves.
#pragma once

#include "generator/candidates/constraints.hpp"
#include "generator/kernel_source/launch.hpp"
#include "runtime/cuda/module.hpp"
#include "tuner/verify/field_set.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

class Launcher {
 public:
  /// Loads the kernel. Throws Error(launch_failed) where the driver refuses the binary.
  Launcher(Driver& driver, const Tuning& tuning, const CompiledKernel& kernel);

  const Tuning& tuning() const noexcept { return tuning_; }

  /// Why this device cannot run the kernel on the problem; nothing when it can. Allows it the shared memory it needs.
  std::optional<std::string> exceeded_limit(const Problem& problem);

  /// Resident warps over the SM's maximum, 0..1.
  double occupancy(const Problem& problem, const Limits& limits) const;

  /// One launch, asynchronous: the steps that it fuses, stored as launch_buffers() says.
  void step(const Problem& problem, const FieldSet& fields, std::span<const double> coefficients,
            CUstream_st* stream) const;

  /// A launch prepared for repetition: geometry and the arguments of each phase.
  struct Repeated {
    LaunchGeometry geometry;
    std::vector<std::vector<std::byte>> arguments;  ///< one a phase
  };
  Repeated prepare(const Problem& problem, const FieldSet& fields, std::span<const double> coefficients) const;

  /// `count` launches one after the other, the buffers rotated as a solver would; count is best a multiple of the
  /// phases.
  void launch(const Repeated& steps, int count, CUstream_st* stream) const;

 private:
  Driver* driver_;
  Tuning tuning_;
  Module module_;
};

}  // namespace stencil_tune
