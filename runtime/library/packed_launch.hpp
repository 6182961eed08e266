// A launch prepared so far that only addresses and coefficients are missing.
#pragma once

#include "generator/kernel/source.hpp"
#include "runtime/cuda/driver.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace stencil_tune {

/// Geometry and parameter for one box of cells. Packing from scratch walks over all taps of the stencil; this does it
/// once, so that a launch costs a copy and a few stores. Does not change after it was made.
class PackedLaunch {
 public:
  PackedLaunch(const Problem& problem, const Tuning& tuning, const Box& box);

  const LaunchGeometry& geometry() const noexcept { return geometry_; }

  /// Of the launch's parameter.
  std::size_t argument_bytes() const noexcept { return packed_.size(); }

  /// The launch's parameter, tensor maps included. coefficients: empty for the stencil's own values.
  void write_argument(Driver& driver, std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                      std::span<const double> coefficients, std::span<std::byte> to) const;

 private:
  LaunchGeometry geometry_;
  ElementType type_;
  std::vector<std::byte> packed_;    ///< with the stencil's own coefficients
  std::vector<std::size_t> inputs_;  ///< where in it each address stands
  std::vector<std::size_t> outputs_;
  std::size_t coefficients_ = 0;        ///< where the first coefficient stands
  std::vector<TensorMapRequest> maps_;  ///< one an input, without its address
};

}  // namespace stencil_tune
