#include "tuner/session/trials/warm_starts.hpp"

#include "generator/candidates/families/families.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace stencil_tune {
namespace {

/// The winner's candidate, or one like it whose rows come another way; nothing where it is predicted, of another
/// element type or rank, or illegal for the problem.
std::optional<Tuning> candidate_of(const Problem& problem, const ProblemKey& wanted, const Limits& limits,
                                   const TrialRecord& winner) {
  const ProblemKey& key = winner.problem;
  if (winner.predicted || key.type != wanted.type || key.extents.rank != wanted.extents.rank) return {};
  try {
    const Tuning tuning = parse_code(winner.code);
    if (is_legal({problem, tuning}, limits)) return tuning;
    for (const Tuning& other : with_other_copies(tuning)) {
      if (is_legal({problem, other}, limits)) return other;
    }
  } catch (const Error&) {
    // a code of another version
  }
  return {};
}

/// Candidates with their sort keys, the least first.
template <typename Order>
using Ordered = std::vector<std::pair<Order, Tuning>>;

template <typename Order>
void append_first(std::size_t most, Ordered<Order> candidates, std::vector<Tuning>& result) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::size_t end = result.size() + most;
  for (const auto& [order, tuning] : candidates) {
    if (result.size() == end) break;
    if (std::find(result.begin(), result.end(), tuning) == result.end()) result.push_back(tuning);
  }
}

}  // namespace

std::vector<Tuning> warm_starts(const Problem& problem, const Limits& limits, std::string_view gpu,
                                std::span<const WinnerRecord> winners, const CostModel& model) {
  const ProblemKey wanted = problem_key(problem);
  Ordered<std::tuple<bool, bool, bool, double>> own;
  Ordered<double> others;
  for (const WinnerRecord& winner : winners) {
    const auto tuning = candidate_of(problem, wanted, limits, winner.trial);
    if (!tuning) continue;
    const ProblemKey& key = winner.trial.problem;
    if (key.stencil_key != wanted.stencil_key) {
      others.emplace_back(model.cost(*tuning), *tuning);
    } else if (key.stage == wanted.stage) {
      own.emplace_back(std::tuple(winner.trial.platform.gpu != gpu, (key.steps > 1) != (wanted.steps > 1),
                                  key.boundaries != wanted.boundaries, log_distance(key.extents, wanted.extents)),
                       *tuning);
    }
  }
  std::vector<Tuning> result;
  append_first(kMostWarmStarts, std::move(own), result);
  append_first(kMostWarmStartsOfOthers, std::move(others), result);
  return result;
}

}  // namespace stencil_tune
