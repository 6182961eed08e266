// A launch prepared so far that only addresses and coefficients are missing.
#pragma once

#include "generator/kernel_source/launch.hpp"
#include "runtime/cuda/driver.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace stencil_tune {

/// Geometry and parameter for one box of cells. What follows from stencil and tuning is computed once, so that a launch
/// costs a copy and a few stores. Does not change after it was made.
class PackedLaunch {
 public:
  /// shared_bytes: dynamic shared memory, where it is not the candidate's.
  PackedLaunch(const Candidate& candidate, const Box& box, std::optional<std::size_t> shared_bytes = std::nullopt);

  const LaunchGeometry& geometry() const noexcept { return geometry_; }

  /// Size of the launch's parameter.
  std::size_t argument_bytes() const noexcept { return arguments_.bytes(); }

  /// The launch's parameter, tensor maps included. coefficients: empty for the stencil's own values. place: for
  /// stencils that ask for it.
  void write_argument(Driver& driver, std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                      std::span<const double> coefficients, std::span<std::byte> to, const Place& place = {}) const;

 private:
  LaunchGeometry geometry_;
  ElementType type_;
  KernelArguments arguments_;
};

}  // namespace stencil_tune
