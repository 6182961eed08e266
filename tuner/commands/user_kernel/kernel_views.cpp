#include "tuner/commands/user_kernel/kernel_views.hpp"

#include "db/winner_choice.hpp"
#include "generator/printable.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/user_kernel/user_kernel_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

std::string launch_text(const LaunchGeometry& launch) {
  const auto& [grid, block, shared_bytes, cluster, together] = launch;
  return fmt::format("block ({}, {}, {}), grid ({}, {}, {}), {} bytes of dynamic shared memory", block[0], block[1],
                     block[2], grid[0], grid[1], grid[2], shared_bytes);
}

}  // namespace

std::string explain_configuration(const UserKernel& kernel, const std::string& code) {
  const ParameterValues values = parse_configuration(kernel, code);
  const std::string title = fmt::format("{} of {} with {}:\n  ", code, kernel.name, sizes_text(kernel));
  if (const auto broken = broken_rule(kernel, values)) {
    return title + fmt::format("not legal: it breaks '{}': {}\n", broken->rule, broken->message);
  }
  return title + "legal\n  " + launch_text(launch_of(kernel, values)) + "\n";
}

WinnerRecord winner_of_kernel(const UserKernel& kernel, const std::optional<std::string>& gpu, Objective objective,
                              Database& database) {
  const ProblemKey key = user_kernel_problem_key(kernel);
  auto winners = WinnerStore(database).list({.kind = SubjectKind::kernel, .stencil_key = key.stencil_key});
  std::erase_if(winners, [&](const WinnerRecord& winner) {
    return !(winner.trial.problem == key) || (gpu && winner.trial.platform.gpu != *gpu);
  });
  if (winners.empty()) {
    throw NoWinner(
        fmt::format("nothing was tuned of {} with {}{} yet, or its source has changed since: tune it first, "
                    "stencil-tune kernel FILE.cu",
                    kernel.name, sizes_text(kernel), gpu ? " on " + *gpu : ""));
  }
  return *std::min_element(winners.begin(), winners.end(), [&](const WinnerRecord& a, const WinnerRecord& b) {
    return objective_distance(a.trial, objective) < objective_distance(b.trial, objective);
  });
}

std::vector<std::string> provenance_of(const UserKernel& kernel, const TrialRecord& winner) {
  return {fmt::format("{}, configuration {}: {} with {} on {}, {}.", kernel.name, winner.code, rates_text(winner),
                      sizes_text(kernel), printable(winner.platform.gpu), printable(winner.created_at)),
          fmt::format("Its launch for these sizes: {}.",
                      launch_text(launch_of(kernel, parse_configuration(kernel, winner.code))))};
}

}  // namespace stencil_tune
