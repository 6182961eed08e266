// Two lines of the report: how the n steps of a run divide into launches, and what fused steps would gain.
#pragma once

#include "db/records.hpp"
#include "tuner/model/model.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

/// "100 steps: 33 launches of 3 fused steps and 1 single step, 700.1 GStencil/s with them counted".
/// single: the fastest kernel of one sweep; empty where none was timed.
std::string plan_note(int steps, const TrialRecord& winner, const std::optional<TrialRecord>& single);

/// What `--steps 100` would gain over a winner of one sweep, by the model: said of a problem of one step whose steps
/// can be fused, else empty.
std::string gain_note(const Problem& problem, const Limits& limits, const DeviceModel& device,
                      const TrialRecord& winner);

}  // namespace stencil_tune
