#include "tuner/commands/winner_lookup.hpp"

#include "stencil_tune/error.hpp"

namespace stencil_tune {
namespace {

bool same_grid(const ProblemKey& a, const ProblemKey& b) {
  return a.extents == b.extents && a.pitch == b.pitch && a.steps == b.steps;
}

}  // namespace

WinnerRecord winner_of_problem(Database& database, const ProblemKey& key, const std::optional<std::string>& gpu) {
  WinnerQuery query;
  query.stencil_key = key.stencil_key;
  query.stage = key.stage;
  query.type = key.type;
  query.boundaries = key.boundaries;
  query.gpu = gpu;
  const auto winners = WinnerStore(database).list(query);
  const WinnerRecord* found = nullptr;
  for (const WinnerRecord& winner : winners) {
    if (!same_grid(winner.trial.problem, key)) continue;
    if (!found || (found->trial.predicted && !winner.trial.predicted)) found = &winner;
  }
  if (found) return *found;
  throw Error(ErrorCode::unknown_name,
              "no winner for this problem yet: `stencil-tune list` shows what there is, "
              "`stencil-tune tune` with the same options finds one");
}

}  // namespace stencil_tune
