#include "tuner/session/run_plan.hpp"

#include "generator/candidates/space.hpp"

#include <fmt/format.h>

namespace stencil_tune {
std::string plan_note(int steps, const TrialRecord& winner, const std::optional<TrialRecord>& single) {
  const int fused = sweeps_per_launch(parse_code(winner.code));
  if (fused == 1) return fmt::format("{} steps: {} launches; no kernel that fuses steps was faster", steps, steps);
  const int left = steps % fused;
  const int launches = steps / fused;
  std::string text =
      fmt::format("{} steps: {} launch{} of {} fused steps", steps, launches, launches == 1 ? "" : "es", fused);
  if (left == 0) return text + fmt::format(", {:.1f} GStencil/s", winner.gstencils);
  if (left > 1) return text + fmt::format(", {:.1f} GStencil/s, and 1 of {}", winner.gstencils, left);
  text += " and 1 single step";
  if (!single || single->gstencils <= 0) return text + " (single steps were not timed)";
  const double rate = steps / ((steps - left) / winner.gstencils + left / single->gstencils);
  return text + fmt::format(", {:.1f} GStencil/s with them counted", rate);
}

std::string gain_note(const Problem& problem, const Limits& limits, const DeviceModel& device,
                      const TrialRecord& winner) {
  constexpr int kSteps = 100;
  if (problem.steps > 1 || !advances_one_field(problem)) return {};
  Problem run = problem;
  run.steps = kSteps;
  std::optional<Tuning> fused;
  for (const Family* family : families()) {
    if (family->fuses_steps && !fused) fused = default_candidate(*family, run, limits);
  }
  if (!fused) return {};
  const PerformanceModel model(run, limits, device);
  const double gain = model.predict(*fused).gstencils / model.predict(parse_code(winner.code)).gstencils;
  if (!(gain > 1)) return fmt::format("`--steps {}` would gain nothing by the model", kSteps);
  return fmt::format("`--steps {}` would gain {:.1f} x by the model: kernels that fuse steps, such as {} in a launch",
                     kSteps, gain, fused->steps);
}

}  // namespace stencil_tune
