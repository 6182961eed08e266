// How fast winners that ship are, as the library launches them.
#pragma once

#include "db/records.hpp"
#include "generator/stencil/problem.hpp"
#include "stencil_tune/stencil_tune.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Arrays of one grid after the other, filled with random numbers between 1/4 and 1: what a kernel's power, and by it
/// its clock, depends on.
class Arrays {
 public:
  /// Addresses of so many, with rows of that pitch.
  std::vector<void*> get(const stencil_tune::Request& request, std::size_t count);

 private:
  std::pair<std::string, std::int64_t> made_for_{};  ///< type and extents, pitch
  std::vector<stencil_tune::DeviceField> fields_;
};

/// A winner as `Library::lookup` finds it.
struct Shipped {
  stencil_tune::Request request;
  stencil_tune::Kernel kernel;
  int stage = stencil_tune::kWholeStep;  ///< or the one that is timed alone
};

/// Throws Error where the library gives another kernel for the winner's problem.
Shipped find_shipped(stencil_tune::Library& library, const stencil_tune::TrialRecord& winner);

/// Seconds a step: the median of batches of 40 ms without rests, after 100 ms of warming up. What a run leaves over of
/// fused steps is not in them.
double seconds_a_step(stencil_tune::DeviceContext& context, const Shipped& shipped, Arrays& arrays);

}  // namespace bench
