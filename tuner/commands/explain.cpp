// stencil-tune explain CODE --dims 512
#include "generator/candidates/explain.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/options/target.hpp"
#include "tuner/commands/options/understood.hpp"
#include "tuner/commands/user_kernel/kernel_verbs.hpp"
#include "tuner/session/assembly.hpp"
#include "tuner/terminal/print_fitted.hpp"

#include <fmt/format.h>

#include <cmath>

namespace stencil_tune {
namespace {

std::string prediction_text(const PerformanceModel& model, const Tuning& tuning) {
  const Prediction p = model.predict(tuning);
  if (!std::isfinite(p.time_ms)) return "model: does not fit an SM\n";
  return fmt::format(
      "model for {} ({}; registers guessed: ~{}): ~{:.1f} GStencil/s, ~{:.0f} % of copy, bound by {}\n"
      "  alone each would take, ms: DRAM ~{:.3f} (~{:.2f} GB), L2 ~{:.3f}, L1 ~{:.3f}, shared memory ~{:.3f}, "
      "instructions ~{:.3f}, latency ~{:.3f}\n",
      model.device().name, describe_calibration(model.device(), model.calibration()), p.registers, p.gstencils,
      100 * p.share, p.bound, p.dram_ms, p.dram_bytes / 1e9, p.l2_ms, p.l1_ms, p.shared_ms, p.issue_ms, p.latency_ms);
}

}  // namespace

int run_explain(const Arguments& arguments) {
  if (begins_with_kernel(arguments)) return explain_user_kernel(arguments);
  CommandLine line("stencil-tune explain CODE --dims N [options]",
                   "Why a candidate is legal, or which constraint forbids it; its tile, halo, traffic and intensity by "
                   "the textbook's formulas, and what the performance model expects.\n",
                   "  stencil-tune explain streaming.bx32.by4.rx4.v4.cz4.regs --dims 512\n"
                   "  stencil-tune explain tiled.bx8.by8.bz8.cin --dims 512 --order 4\n"
                   "  stencil-tune explain pmpp-tiled --dims 512       the textbook's kernels have names\n");
  line.positional("code", 1);
  add_problem_options(line);
  add_prediction_options(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  if (values->count("code") == 0) {
    throw Error(ErrorCode::invalid_argument, "explain which candidate? Give its code, such as direct.bx32.by8");
  }
  const Problem problem = problem_from(*values);
  say_what_was_understood(*values, problem.stencil);
  const Target target = choose_target(*values);
  const Tuning tuning =
      candidate_from((*values)["code"].as<std::vector<std::string>>().front(), problem, target.limits);
  print_fitted("{}", explain(problem, target.limits, tuning));
  if (updated_box(problem).cells() > 0 && is_legal({problem, tuning}, target.limits)) {
    print_fitted("{}", prediction_text(PerformanceModel(problem, target.limits, target.model), tuning));
  }
  return 0;
}

}  // namespace stencil_tune
