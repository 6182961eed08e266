#include "tuner/session/stage_by_stage.hpp"

#include "tuner/session/trials/trial_record.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <algorithm>
#include <string_view>

namespace stencil_tune {
namespace {

/// The sharpness of two checks together: the least, but one of unknown sharpness (-1) hides no blunt one.
double least_sharpness(double a, double b) {
  const double least = std::min(a, b), other = std::max(a, b);
  return least < 0 && other < kSharp ? other : least;
}

constexpr std::string_view kThen = " + ";

}  // namespace

TrialRecord stage_by_stage(const Problem& step, std::span<const TrialRecord> stages) {
  TrialRecord whole = stages.front();
  for (const TrialRecord& stage : stages.subspan(1)) {
    whole.code += kThen;
    whole.code += stage.code;
    whole.timing.median_ms += stage.timing.median_ms;
    whole.timing.low_ms += stage.timing.low_ms;
    whole.timing.high_ms += stage.timing.high_ms;
    whole.timing.samples = std::min(whole.timing.samples, stage.timing.samples);
    whole.registers = std::max(whole.registers, stage.registers);
    whole.spill_bytes = std::max(whole.spill_bytes, stage.spill_bytes);
    whole.shared_bytes = std::max(whole.shared_bytes, stage.shared_bytes);
    whole.occupancy = std::min(whole.occupancy, stage.occupancy);
    whole.raced = whole.raced && stage.raced;
    whole.predicted = whole.predicted || stage.predicted;
    whole.sharpness = least_sharpness(whole.sharpness, stage.sharpness);
    if (whole.sharpness_note.empty()) whole.sharpness_note = stage.sharpness_note;
    whole.sm_clock_mhz = std::min(whole.sm_clock_mhz, stage.sm_clock_mhz);  // 0: not known
    whole.memory_clock_mhz = std::min(whole.memory_clock_mhz, stage.memory_clock_mhz);
    if (whole.throttle.empty()) whole.throttle = stage.throttle;
  }
  whole.id = 0;
  whole.problem = problem_key(step);
  whole.plan.clear();
  whole.rate = kernel_rate(StencilSubject(step), whole.timing);
  const double rate_gbs = minimal_traffic_bytes(step) / whole.timing.median_ms / 1e6;
  whole.share = whole.ceiling_gbs > 0 ? rate_gbs / whole.ceiling_gbs : 0;
  return whole;
}

int passes_of(const TrialRecord& trial) {
  int passes = 1;
  for (std::size_t at = trial.code.find(kThen); at != std::string::npos; at = trial.code.find(kThen, at + 1)) ++passes;
  return passes;
}

}  // namespace stencil_tune
