#include "tuner/tips.hpp"

#include "runtime/lookup.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/trial_record.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace stencil_tune {
namespace {

struct Tip {
  Tuning tuning;
  std::tuple<bool, bool, bool, double> distance;
};

std::optional<Tip> tip_of(const Problem& problem, const ProblemKey& wanted, const Limits& limits, std::string_view gpu,
                          const TrialRecord& winner) {
  const ProblemKey& key = winner.problem;
  if (winner.predicted || key.stencil_key != wanted.stencil_key || key.stage != wanted.stage ||
      key.type != wanted.type || key.extents.rank != wanted.extents.rank) {
    return {};
  }
  try {
    const Tuning tuning = parse_code(winner.code);
    if (!is_legal(problem, limits, tuning)) return {};
    return Tip{tuning,
               {winner.platform.gpu != gpu, (key.steps > 1) != (wanted.steps > 1), key.boundaries != wanted.boundaries,
                log_distance(key.extents, wanted.extents)}};
  } catch (const Error&) {
    return {};  // a code of another version
  }
}

}  // namespace

std::vector<Tuning> tips(const Problem& problem, const Limits& limits, std::string_view gpu,
                         std::span<const WinnerRecord> winners) {
  const ProblemKey wanted = problem_key(problem);
  std::vector<Tip> found;
  for (const WinnerRecord& winner : winners) {
    if (auto tip = tip_of(problem, wanted, limits, gpu, winner.trial)) found.push_back(*tip);
  }
  std::stable_sort(found.begin(), found.end(), [](const Tip& a, const Tip& b) { return a.distance < b.distance; });
  std::vector<Tuning> result;
  for (const Tip& tip : found) {
    if (result.size() == kMostTips) break;
    if (std::find(result.begin(), result.end(), tip.tuning) == result.end()) result.push_back(tip.tuning);
  }
  return result;
}

}  // namespace stencil_tune
