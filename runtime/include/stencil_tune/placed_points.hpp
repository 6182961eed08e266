// Points that were placed for a kernel: what its runs add to fields, and record of them.
#pragma once

#include "stencil_tune/points.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {

/// A handle: copies share one placement in device memory. Kernel::place_points() makes it. It serves one run at a time:
/// the launches of one stream, or those of a captured graph, which follow each other.
class Points {
 public:
  struct State;
  /// Kernel::place_points() makes them.
  explicit Points(std::shared_ptr<State> state) : state_(std::move(state)) {}

  int sources() const noexcept;    ///< columns of a series
  int receivers() const noexcept;  ///< columns of the records
  /// Rows that a call of so many steps records: steps / PointList::every.
  std::int64_t records(std::int64_t steps) const noexcept;

  /// Steps that one launch of a long run with these points makes; less than Kernel::fused_steps() where the kernel of
  /// choice takes no points, which notes() says.
  int fused_steps() const noexcept;
  /// What runs with these points go without, and why; empty where they run what all others do.
  const std::vector<std::string>& notes() const noexcept;

  std::size_t device_bytes() const noexcept;  ///< memory that the placement takes

  const State& state() const noexcept { return *state_; }  ///< for the library's own parts

 private:
  std::shared_ptr<State> state_;
};

/// Device memory of a run with points, in the type that kernels compute in: double for f64, else float.
struct PointData {
  const void* series = nullptr;  ///< [step of the call][source]; null where there are no sources
  void* records = nullptr;       ///< [record][receiver]; null where nothing is recorded
};

}  // namespace stencil_tune
