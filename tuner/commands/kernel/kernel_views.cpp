#include "tuner/commands/kernel/kernel_views.hpp"

#include "generator/printable.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/own_kernel/own_kernel_subject.hpp"
#include "tuner/session/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

std::string launch_text(const LaunchGeometry& launch) {
  const auto& [grid, block, shared_bytes, cluster] = launch;
  return fmt::format("block ({}, {}, {}), grid ({}, {}, {}), {} bytes of dynamic shared memory", block[0], block[1],
                     block[2], grid[0], grid[1], grid[2], shared_bytes);
}

}  // namespace

std::string explain_configuration(const OwnKernel& kernel, const std::string& code) {
  const ParameterValues values = parse_configuration(kernel, code);
  const std::string title = fmt::format("{} of {} with {}:\n  ", code, kernel.name, sizes_text(kernel));
  if (const auto broken = broken_rule(kernel, values)) {
    return title + fmt::format("not legal: it breaks '{}': {}\n", broken->rule, broken->message);
  }
  return title + "legal\n  " + launch_text(launch_of(kernel, values)) + "\n";
}

WinnerRecord winner_of_kernel(const OwnKernel& kernel, const std::string& gpu, Database& database) {
  const ProblemKey key = own_problem_key(kernel);
  auto winners = WinnerStore(database).list({.kind = SubjectKind::kernel, .stencil_key = key.stencil_key});
  std::erase_if(winners, [&](const WinnerRecord& winner) { return !(winner.trial.problem == key); });
  if (winners.empty()) {
    throw NoWinner(
        fmt::format("nothing was tuned of {} with {} yet, or its source has changed since: run the command "
                    "without --output first",
                    kernel.name, sizes_text(kernel)));
  }
  const auto rank = [&](const WinnerRecord& winner) {
    return std::pair{winner.trial.platform.gpu != gpu, winner.trial.objective != name(Objective::burst)};
  };
  return *std::min_element(winners.begin(), winners.end(),
                           [&](const WinnerRecord& a, const WinnerRecord& b) { return rank(a) < rank(b); });
}

std::string exported_kernel(const OwnKernel& kernel, const TrialRecord& winner) {
  const ParameterValues values = parse_configuration(kernel, winner.code);
  return fmt::format("// {}, configuration {}: {} with {} on {}, {}.\n// Its launch for these sizes: {}.\n{}",
                     kernel.name, winner.code, rates_text(winner), sizes_text(kernel), printable(winner.platform.gpu),
                     printable(winner.created_at), launch_text(launch_of(kernel, values)),
                     own_source(kernel, values).text);
}

}  // namespace stencil_tune
