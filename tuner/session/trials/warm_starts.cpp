#include "tuner/session/trials/warm_starts.hpp"

#include "generator/candidates/families/families.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stencil_tune {
namespace {

bool is_periodic(const ProblemKey& key) {
  return std::find(key.boundaries.begin(), key.boundaries.end(), Boundary::periodic) != key.boundaries.end();
}

/// The winner's candidate, or one like it whose rows come another way; on grids that are periodic where the winner's is
/// not, both, since tiles at an edge copy their rows otherwise there and either may be the faster. Nothing where it is
/// predicted, of another element type or rank, or illegal for the problem.
std::vector<Tuning> candidates_of(const Problem& problem, const ProblemKey& wanted, const Limits& limits,
                                  const TrialRecord& winner) {
  const ProblemKey& key = winner.problem;
  if (winner.predicted || key.type != wanted.type || key.extents.rank != wanted.extents.rank) return {};
  std::vector<Tuning> candidates;
  try {
    const Tuning tuning = parse_code(winner.code);
    const std::size_t most = is_periodic(wanted) && !is_periodic(key) ? 2 : 1;
    if (is_legal({problem, tuning}, limits)) candidates.push_back(tuning);
    for (const Tuning& other : with_other_copies(tuning)) {
      if (candidates.size() < most && is_legal({problem, other}, limits)) candidates.push_back(other);
    }
  } catch (const Error&) {
    // a code of another version
  }
  return candidates;
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

/// The same of one step, in a loop that is not unrolled: compiled several times as fast.
Tuning quick_form(Tuning tuning) {
  tuning.steps = 1;
  tuning.unroll = 1;
  return tuning;
}

}  // namespace

std::vector<Tuning> warm_starts(const Problem& problem, const Limits& limits, std::string_view gpu,
                                std::span<const WinnerRecord> winners, const CostModel& model,
                                const std::optional<Tuning>& untuned) {
  const ProblemKey wanted = problem_key(problem);
  Ordered<std::tuple<bool, bool, bool, bool, double>> own;
  Ordered<double> others;
  for (const WinnerRecord& winner : winners) {
    const ProblemKey& key = winner.trial.problem;
    for (const Tuning& tuning : candidates_of(problem, wanted, limits, winner.trial)) {
      const bool is_own = key.stencil_key == wanted.stencil_key;
      if (!is_own && key.form != wanted.form) {
        others.emplace_back(model.cost(tuning), tuning);
      } else if (key.stage == wanted.stage) {
        own.emplace_back(std::tuple(!is_own, winner.trial.platform.gpu != gpu, (key.steps > 1) != (wanted.steps > 1),
                                    key.boundaries != wanted.boundaries, log_distance(key.extents, wanted.extents)),
                         tuning);
      }
    }
  }
  std::vector<Tuning> result;
  if (untuned) result.push_back(*untuned);
  append_first(kMostWarmStarts, std::move(own), result);
  append_first(kMostWarmStartsOfOthers, std::move(others), result);
  if (problem.stage == kWholeStep && !result.empty()) {
    const Tuning quick = quick_form(result.front());
    if (quick != result.front() && is_legal({problem, quick}, limits)) result.insert(result.begin(), quick);
  }
  return result;
}

}  // namespace stencil_tune
