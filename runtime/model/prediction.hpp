// What the performance model says of a candidate.
#pragma once

#include "runtime/model/occupancy.hpp"

#include <string_view>

namespace stencil_tune {

struct Prediction {
  double time_ms = 0;
  double gstencils = 0;    ///< updated cells / second / 1e9
  double share = 0;        ///< rate over the model's own copy ceiling; may exceed 1 where steps are fused
  std::string_view bound;  ///< the slowest part: "DRAM", "L2", "L1", "shared memory", "instructions", "latency"
  double dram_ms = 0;
  double l2_ms = 0;
  double l1_ms = 0;
  double shared_ms = 0;
  double issue_ms = 0;
  double latency_ms = 0;
  double dram_bytes = 0;
  double l2_bytes = 0;
  int registers = 0;  ///< given or guessed
  Occupancy occupancy;
};

}  // namespace stencil_tune
