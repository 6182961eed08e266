#include "tuner/commands/winner/winner_lookup.hpp"

#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/lookup/same_machine_code.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "runtime/model/device_model.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/session/say.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

std::vector<WinnerRecord> known_winners(Database* database, const ProblemKey& key,
                                        const std::optional<std::string>& gpu) {
  WinnerQuery query;
  query.stencil_key = key.stencil_key;
  query.stage = key.stage;
  query.type = key.type;
  query.boundaries = key.boundaries;
  query.gpu = gpu;
  return winners_of_all_layers(database, query);
}

struct FoundWinner {
  std::optional<WinnerRecord> winner;
  std::string passed_over;  ///< a line each, after a line break
};

/// "s" of those that ship, "site" of the site's, nothing of what was tuned here.
std::string_view layer_of(const TrialRecord& winner) {
  return winner.session == kPretunedSession ? "s" : winner.session == kSiteSession ? "site" : "";
}

/// Equals come layer after layer: one of the first layer, on the GPU that is meant if it has any.
const WinnerRecord& of_the_gpu_meant(const std::vector<WinnerRecord>& equals) {
  const auto layer_end = std::find_if(equals.begin(), equals.end(), [&](const WinnerRecord& winner) {
    return layer_of(winner.trial) != layer_of(equals.front().trial);
  });
  if (layer_end - equals.begin() == 1) return equals.front();
  const std::string gpu = gpu_meant();
  const auto meant = std::find_if(equals.begin(), layer_end,
                                  [&](const WinnerRecord& winner) { return winner.trial.platform.gpu == gpu; });
  return meant != layer_end ? *meant : equals.front();
}

/// A measured one before a predicted one, then a fresh one before a stale one, then the one by the nearest objective,
/// then what was tuned here, then the site's.
FoundWinner find_winner(Database* database, const Problem& problem, const std::optional<std::string>& gpu,
                        Objective objective) {
  const ProblemKey key = problem_key(problem);
  const auto rank = [&](const WinnerRecord& winner) {
    return std::tuple(winner.trial.predicted, is_stale(winner.trial), objective_distance(winner.trial, objective));
  };
  FoundWinner found;
  std::vector<WinnerRecord> best;
  for (WinnerRecord& winner : known_winners(database, key, gpu)) {
    if (winner.trial.problem != key || (gpu && winner.trial.platform.gpu != *gpu)) continue;
    if (is_stale(winner.trial)) renew_signature(winner.trial, problem, [] { return open_cached_nvrtc(); });
    if (const auto objection = objection_to(winner.trial, problem)) {
      found.passed_over += fmt::format("\npassed over, it cannot run: {}", *objection);
    } else if (best.empty() || rank(winner) <= rank(best.front())) {
      if (!best.empty() && rank(winner) < rank(best.front())) best.clear();
      best.push_back(winner);
    }
  }
  if (!best.empty()) found.winner = gpu ? best.front() : of_the_gpu_meant(best);
  return found;
}

}  // namespace

std::string gpu_meant() {
  try {
    if (const auto devices = list_devices(); !devices.empty()) return devices.front().name;
  } catch (const Error&) {  // a winner can be shown without a driver
  }
  return std::string(default_model().gpu);
}

WinnerRecord winner_of_problem(Database* database, const Problem& problem, const std::optional<std::string>& gpu,
                               Objective objective) {
  FoundWinner found = find_winner(database, problem, gpu, objective);
  if (!found.winner) {
    throw NoWinner(
        fmt::format("no winner for this problem{} yet: `stencil-tune list` shows what there is, "
                    "`stencil-tune tune` with the same options finds one{}",
                    gpu ? " on '" + *gpu + "'" : "", found.passed_over));
  }
  if (!found.passed_over.empty()) say(stderr, found.passed_over.substr(1) + "\n");
  return *std::move(found.winner);
}

std::optional<WinnerRecord> measured_winner(Database& database, const Problem& problem, const std::string& gpu) {
  FoundWinner found = find_winner(&database, problem, gpu, Objective::time);
  return found.winner && !found.winner->trial.predicted ? std::move(found.winner) : std::nullopt;
}

std::optional<WinnerRecord> measured_elsewhere(const Problem& problem, const std::string& gpu) {
  FoundWinner found = find_winner(nullptr, problem, gpu, Objective::time);
  return found.winner && !found.winner->trial.predicted ? std::move(found.winner) : std::nullopt;
}

std::string winner_id(const TrialRecord& winner) { return fmt::format("{}{}", layer_of(winner), winner.id); }

std::optional<Choice> kernel_of_one_sweep(Database& database, Problem problem, const PlatformKey& platform,
                                          const Limits& limits) {
  problem.steps = 1;
  const ProblemKey key = problem_key(problem);
  const auto winners = known_winners(&database, key, platform.gpu);
  const LookupTarget target{
      .gpu = platform.gpu, .architecture = platform.architecture, .driver = platform.driver, .limits = limits};
  Choice choice = choose(problem, target, winners);
  if (choice.evidence.match == Match::default_candidate) return std::nullopt;
  return choice;
}

}  // namespace stencil_tune
