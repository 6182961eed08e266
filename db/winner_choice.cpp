#include "db/winner_choice.hpp"

#include "db/stored_code.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace stencil_tune {
namespace {

/// Lower is better.
int evidence_class(const TrialRecord& trial) { return (trial.predicted ? 2 : 0) + (is_stale(trial) ? 1 : 0); }

bool is_later(const TrialRecord& a, const TrialRecord& b) {
  return std::tie(a.created_at, a.id) > std::tie(b.created_at, b.id);
}

/// Whether `a` speaks for a code rather than `b`.
bool speaks_before(const TrialRecord& a, const TrialRecord& b, Objective objective) {
  if (a.raced != b.raced) return a.raced;
  if (!a.raced) return a.rate > b.rate;
  const bool known = merit(a, objective) > 0;
  return known != (merit(b, objective) > 0) ? known : is_later(a, b);
}

bool wins_over(const TrialRecord& a, const TrialRecord& b, Objective objective) {
  if (is_better(a, b, objective) || is_better(b, a, objective)) return is_better(a, b, objective);
  return is_later(b, a);
}

/// The trials that count in the best class that there is, without codes that were ever wrong.
template <class Counts>
std::vector<const TrialRecord*> best_evidence(std::span<const TrialRecord> trials, const Counts& counts) {
  using CodeOfTemplates = std::pair<std::string_view, std::string_view>;
  std::set<CodeOfTemplates> wrong;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome == Outcome::wrong_result) wrong.emplace(trial.code, trial.platform.template_signature);
  }
  int best_class = 4;
  std::vector<const TrialRecord*> best;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome != Outcome::ok || !counts(trial) || !is_readable(trial)) continue;
    if (wrong.contains({trial.code, trial.platform.template_signature})) continue;
    const int trial_class = evidence_class(trial);
    if (trial_class > best_class) continue;
    if (trial_class < best_class) best.clear();
    best_class = trial_class;
    best.push_back(&trial);
  }
  return best;
}

std::vector<TrialRecord> rank(const std::vector<const TrialRecord*>& trials, Objective objective) {
  std::map<std::string_view, const TrialRecord*> speakers;
  for (const TrialRecord* trial : trials) {
    const TrialRecord*& speaker = speakers[trial->code];
    if (speaker == nullptr || speaks_before(*trial, *speaker, objective)) speaker = trial;
  }
  std::vector<TrialRecord> ranking;
  for (const auto& [code, speaker] : speakers) ranking.push_back(*speaker);
  std::sort(ranking.begin(), ranking.end(),
            [&](const TrialRecord& a, const TrialRecord& b) { return wins_over(a, b, objective); });
  return ranking;
}

}  // namespace

bool is_sharp(const TrialRecord& trial) { return trial.sharpness < 0 || trial.sharpness >= kSharp; }

bool may_win(const TrialRecord& trial) { return (trial.raced || trial.predicted) && is_sharp(trial); }

bool are_comparable(const TrialRecord& a, const TrialRecord& b) {
  if (a.predicted && b.predicted) return a.platform.model == b.platform.model;
  return a.problem.kind != SubjectKind::kernel || a.platform.template_signature == b.platform.template_signature;
}

bool outdoes_predictions(const TrialRecord& trial) {
  return trial.outcome == Outcome::ok && !trial.predicted && may_win(trial) && is_readable(trial);
}

double merit(const TrialRecord& trial, Objective objective) {
  if (objective == Objective::time) return trial.sustained_rate;
  if (objective == Objective::energy) return trial.nanojoules > 0 ? 1 / trial.nanojoules : 0;
  return trial.rate;
}

int objective_distance(const TrialRecord& trial, Objective asked) {
  if (trial.objective == asked) return 0;
  if (asked == Objective::time && (trial.problem.steps == 1 || trial.predicted) && trial.objective == Objective::burst)
    return 0;
  const auto* const place = std::find(kObjectives.begin(), kObjectives.end(), trial.objective);
  return 1 + static_cast<int>(place - kObjectives.begin());
}

bool is_better(const TrialRecord& a, const TrialRecord& b, Objective objective) {
  const auto rank = [&](const TrialRecord& trial) {
    const double sustained = objective == Objective::burst ? 0 : trial.sustained_rate;
    return std::tuple(merit(trial, objective), sustained, trial.rate);
  };
  return rank(a) > rank(b);
}

std::vector<TrialRecord> ranked_codes(std::span<const TrialRecord> trials) {
  return rank(best_evidence(trials, is_sharp), Objective::burst);
}

std::optional<TrialRecord> choose_winner(std::span<const TrialRecord> trials, Objective objective) {
  const bool measured = std::any_of(trials.begin(), trials.end(), outdoes_predictions);
  const auto contends = [&](const TrialRecord& trial) {
    return trial.objective == objective && may_win(trial) && !(measured && trial.predicted);
  };
  const TrialRecord* latest = nullptr;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome != Outcome::ok || !contends(trial)) continue;
    if (latest == nullptr || is_later(trial, *latest)) latest = &trial;
  }
  const auto evidence = best_evidence(
      trials, [&](const TrialRecord& trial) { return contends(trial) && are_comparable(trial, *latest); });
  if (evidence.empty()) return std::nullopt;
  return std::move(rank(evidence, objective).front());
}

}  // namespace stencil_tune
