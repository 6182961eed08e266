// Plans that say how to time and race candidates, and the results.
#pragma once

#include "db/records.hpp"
#include "runtime/compile/compiled_kernel.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/cuda/nvml.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace stencil_tune {

/// A candidate and its binary.
using CodedKernel = std::pair<std::string, CompiledKernel>;

/// How long and how carefully to time.
struct MeasurePlan {
  double first_look_ms = 3;  ///< first timing; drop the candidate when it is drop_factor slower than `best_ms`
  double drop_factor = 1.5;
  double best_ms = 0;                ///< best median so far; 0: none
  double relative_interval = 0.005;  ///< stop when the median's confidence interval is narrower
  double cap_ms = 400;               ///< stop in any case
};

/// How finalists race: in bursts, each in turn and with rests between, then the first of them under continuous load,
/// one straight after the other: all in the first round, the fastest of them once more on the way back.
struct RacePlan {
  int rounds = 5;            ///< in bursts, at the least
  int under_load = 0;        ///< so many of the finalists, from the first on
  int load_rounds = 2;       ///< even, so that a GPU that heats up favours none
  int again = 3;             ///< finalists that go through the later rounds
  double warm_up_ms = 1000;  ///< load before the first turn
  double ahead_ms = 100;     ///< work in the device's queue: a host that others keep busy may not come for as long
  double settle_ms = 200;    ///< part of a turn that is not counted: clocks follow the load within this time
  double load_ms = 1000;     ///< counted part of a turn: a period of the power that an H200 lets through at its limit
};

/// Seconds that so many take under load.
inline double load_race_s(const RacePlan& plan, int finalists) {
  const int turns = finalists + (plan.load_rounds - 1) * std::min(plan.again, finalists);
  return (plan.warm_up_ms + turns * (plan.ahead_ms + plan.settle_ms + plan.load_ms)) / 1e3;
}

struct DeviceResult {
  Outcome outcome = Outcome::ok;
  std::string message;
  Timing timing;
  double occupancy = 0;
  bool dropped = false;        ///< too slow after the first look: timing is rough
  bool raced = false;          ///< timed in turns with the other finalists, and verified again afterwards
  ClockReading clocks;         ///< while a raced one ran: the reading with the lowest SM clock
  double sustained_ms = 0;     ///< a sweep under continuous load; 0: it did not race so
  double watts = 0;            ///< the GPU's mean under that load; 0: not known
  double sharpness = -1;       ///< how sharp its checks were (tuner/verify/sharpness.hpp); -1: not verified
  std::string sharpness_note;  ///< what mathematics makes equal, cells that may hold anything
};

/// What was measured before the first candidate.
struct DeviceSession {
  DeviceFacts device;
  double ceiling_gbs = 0;   ///< best plain copy with buffers of the problem's size
  bool fits_in_l2 = false;  ///< both buffers together
};

}  // namespace stencil_tune
