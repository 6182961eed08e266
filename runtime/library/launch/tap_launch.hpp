// The kernel that serves any linear stencil from a table of taps, for as long as the chosen one is being compiled.
#pragma once

#include "generator/kernel_source/launch.hpp"
#include "generator/kernel_source/source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stencil_tune {

/// Can the tap-table kernel serve the problem? It wants one output, linear in at most 8 inputs, a table that fits, and
/// a grid that a launch has blocks for.
bool has_tap_table(const Problem& problem);

/// The kernel for the problem: one source for all stencils, boundaries and grids of an element type (and of up to 64
/// taps, or up to 1024).
KernelSource tap_kernel_source(const Problem& problem);

/// Geometry and parameter of the tap-table kernel for any box of a problem. Does not change after it was made.
class TapLaunch {
 public:
  /// The problem has a tap table.
  explicit TapLaunch(const Problem& problem);

  static LaunchGeometry geometry(const Box& box);

  /// coefficients: empty for the stencil's own values.
  std::vector<std::byte> argument(const Box& box, std::span<const std::uint64_t> inputs,
                                  std::span<const std::uint64_t> outputs, std::span<const double> coefficients) const;

 private:
  /// What multiplies each tap, given the coefficients.
  std::vector<double> weights(std::span<const double> coefficients) const;

  template <class Value, int kCapacity>
  std::vector<std::byte> pack(const Box& box, std::span<const std::uint64_t> inputs, std::uint64_t output,
                              std::span<const double> coefficients) const;

  Stencil stencil_;
  StageFacts facts_;
  ElementType type_;
  Boundaries boundaries_;
  Extents extents_;
  std::int64_t pitch_;
};

}  // namespace stencil_tune
