#include "tuner/exchange/import_tables.hpp"

#include "db/trial_store.hpp"
#include "tuner/exchange/stencil_tables.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

/// Formats know fewer kinds of failures than a database: of one that is known they say nothing new.
bool says_the_same(const TrialRecord& a, const TrialRecord& b) {
  const bool both_fail = a.outcome != Outcome::ok && b.outcome != Outcome::ok;
  const bool both_work = a.outcome == Outcome::ok && b.outcome == Outcome::ok;
  return a.code == b.code && (both_fail || (both_work && a.timing.median_ms == b.timing.median_ms));
}

}  // namespace

MergeResult import_tables(Database& database, std::span<const TrialTable> tables,
                          const std::optional<TrialRecord>& like) {
  std::vector<TrialRecord> added;
  MergeResult counted;
  for (const TrialTable& table : tables) {
    StencilTrials found = stencil_trials(table, like);
    for (const auto& [reason, count] : found.refused) counted.refused[reason] += count;
    if (found.trials.empty()) continue;
    const TrialRecord& first = found.trials.front();
    const auto present =
        TrialStore(database).find({.problem = first.problem, .gpu = first.platform.gpu, .predicted = false});
    for (TrialRecord& trial : found.trials) {
      const bool is_here = std::any_of(present.begin(), present.end(),
                                       [&](const TrialRecord& each) { return says_the_same(each, trial); });
      if (is_here) {
        ++counted.duplicates;
      } else {
        added.push_back(std::move(trial));
      }
    }
  }
  MergeResult result = merge_trials(database, added);
  result.duplicates += counted.duplicates;
  result.refused = std::move(counted.refused);
  return result;
}

}  // namespace stencil_tune
