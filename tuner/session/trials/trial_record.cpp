#include "tuner/session/trials/trial_record.hpp"

#include "db/winner_choice.hpp"
#include "runtime/compile/machine_code.hpp"

#include <limits>

namespace stencil_tune {
namespace {

TrialRecord common(const TrialContext& context, const std::string& code) {
  TrialRecord record;
  record.problem = context.subject.key();
  record.platform = context.platform;
  record.platform.template_signature = context.subject.signature(code);
  record.code = code;
  record.ceiling_gbs = context.ceiling_gbs;
  record.predicted = context.predicted;
  record.session = context.session;
  return record;
}

}  // namespace

double kernel_rate(const Subject& subject, const Timing& timing) {
  if (!(timing.median_ms > 0)) return 0;
  return subject.work() / timing.median_ms / 1e6;
}

double score(const TrialRecord& trial) {
  if (trial.outcome != Outcome::ok || !is_sharp(trial)) return std::numeric_limits<double>::infinity();
  return trial.timing.median_ms;
}

TrialRecord failed_trial(const TrialContext& context, const CompileResult& compiled) {
  TrialRecord record = common(context, compiled.code);
  record.outcome = compiled.outcome;
  record.message = compiled.message;
  return record;
}

TrialRecord device_trial(const TrialContext& context, const std::string& code, const CompiledKernel& kernel,
                         const DeviceResult& result) {
  TrialRecord record = common(context, code);
  record.outcome = result.outcome;
  record.message = result.outcome == Outcome::ok ? "" : result.message;
  record.registers = kernel.resources.registers;
  record.spill_bytes = kernel.resources.spill_bytes;
  record.machine_code = machine_code(kernel.cubin);
  record.shared_bytes = static_cast<std::int64_t>(context.subject.shared_bytes(code)) + kernel.resources.static_shared;
  record.occupancy = result.occupancy;
  if (result.outcome != Outcome::ok) return record;

  record.sharpness = result.sharpness;
  record.sharpness_note = result.sharpness_note;
  record.raced = result.raced;
  if (result.raced) record.objective = context.objective;
  record.sm_clock_mhz = result.clocks.sm_clock_mhz;
  record.memory_clock_mhz = result.clocks.memory_clock_mhz;
  record.throttle = result.clocks.throttle;
  record.timing = result.timing;
  const double seconds = result.timing.median_ms / 1e3;
  record.rate = kernel_rate(context.subject, result.timing);
  if (result.sustained_ms > 0) {
    record.sustained_rate = record.rate * result.timing.median_ms / result.sustained_ms;
    record.watts = result.watts;
    record.nanojoules = result.watts / record.sustained_rate;
  }
  const double rate_gbs = context.subject.least_bytes() / seconds / 1e9;
  record.share = context.ceiling_gbs > 0 ? rate_gbs / context.ceiling_gbs : 0;
  return record;
}

}  // namespace stencil_tune
