// Which trial wins: a function of the set of trials alone, so that the order in which processes store them, merge
// databases or are interrupted does not matter.
#pragma once

#include "db/records.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Whether the trial's check would have noticed a wrong kernel, as far as is known: what has no sharpness (-1:
/// trials of schema 1, kernels of the user's own) passes.
bool is_sharp(const TrialRecord& trial);

/// Whether the trial is evidence for a winner: raced, or predicted where nothing was measured, and checked sharply. A
/// trial outside a race was timed alone, under other conditions than its rivals.
bool may_win(const TrialRecord& trial);

/// Whether which of both is faster says anything: they ran on the same data, or were predicted by the same model.
/// Kernels of the user's own may be tuned with captured data, whose hash is their signature.
bool are_comparable(const TrialRecord& a, const TrialRecord& b);

/// Whether nothing that is only predicted may win beside it, by any objective.
bool outdoes_predictions(const TrialRecord& trial);

/// How good a trial is by the objective, the more the better: "burst" is its rate in bursts, "time" its rate under
/// continuous load, "energy" updates a nanojoule. 0: not known.
double merit(const TrialRecord& trial, Objective objective);

/// How far the objective that the trial raced by is from the one asked for: 0 the same; among the others time
/// stands before burst, and burst before energy. Sweeps and predictions race in bursts, which are what time asks of
/// them.
int objective_distance(const TrialRecord& trial, Objective asked);

/// Whether `a` is better than `b` by the objective; where neither has its figure, by the rate under load, then in
/// bursts.
bool is_better(const TrialRecord& a, const TrialRecord& b, Objective objective);

/// The best by the objective: the trial that speaks for each code, then the best of those. All trials are of one
/// problem on one GPU model.
///   * a trial that may not win is out, and a code that does not parse (stored_code.hpp);
///   * measured, by any objective, before predicted, then fresh before stale ones: a lower class wins only when it is
///   alone;
///   * trials of races by another objective are out: what ran only in bursts cannot be compared with what ran under
///   load;
///   * a code whose result was ever wrong (same templates) is out;
///   * trials that cannot be compared with those of the latest race are out;
///   * a code's latest raced trial speaks for it, because the race timed all finalists under the same conditions;
///   * among codes the better one by the objective wins, and among equals the trial stored first.
/// Nothing when none is left.
std::optional<TrialRecord> choose_winner(std::span<const TrialRecord> trials, Objective objective);

/// Every code that has an ok and sharp trial of the best class, the fastest in bursts first, those that were never
/// raced by their best trial: what a next session starts from.
std::vector<TrialRecord> ranked_codes(std::span<const TrialRecord> trials);

}  // namespace stencil_tune
