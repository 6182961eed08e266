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

/// Whether `a` speaks for a code rather than `b`.
bool speaks_before(const TrialRecord& a, const TrialRecord& b) {
  if (a.raced != b.raced) return a.raced;
  if (a.raced) return std::tie(a.created_at, a.id) > std::tie(b.created_at, b.id);
  return a.gstencils > b.gstencils;
}

bool wins_over(const TrialRecord& a, const TrialRecord& b) {
  if (a.gstencils != b.gstencils) return a.gstencils > b.gstencils;
  return std::tie(a.created_at, a.id) < std::tie(b.created_at, b.id);
}

template <class Counts>
std::vector<TrialRecord> rank(std::span<const TrialRecord> trials, const Counts& counts) {
  using CodeOfTemplates = std::pair<std::string_view, std::string_view>;
  std::set<CodeOfTemplates> wrong;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome == Outcome::wrong_result) wrong.emplace(trial.code, trial.platform.template_signature);
  }
  int best_class = 4;
  std::map<std::string_view, const TrialRecord*> speakers;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome != Outcome::ok || !counts(trial) || !is_readable(trial)) continue;
    if (wrong.contains({trial.code, trial.platform.template_signature})) continue;
    const int trial_class = evidence_class(trial);
    if (trial_class > best_class) continue;
    if (trial_class < best_class) speakers.clear();
    best_class = trial_class;
    const TrialRecord*& speaker = speakers[trial.code];
    if (!speaker || speaks_before(trial, *speaker)) speaker = &trial;
  }
  std::vector<TrialRecord> ranking;
  for (const auto& [code, speaker] : speakers) ranking.push_back(*speaker);
  std::sort(ranking.begin(), ranking.end(), wins_over);
  return ranking;
}

}  // namespace

bool is_sharp(const TrialRecord& trial) { return trial.sharpness < 0 || trial.sharpness >= kSharp; }

bool may_win(const TrialRecord& trial) { return (trial.raced || trial.predicted) && is_sharp(trial); }

std::vector<TrialRecord> ranked_codes(std::span<const TrialRecord> trials) { return rank(trials, is_sharp); }

std::optional<TrialRecord> choose_winner(std::span<const TrialRecord> trials) {
  auto ranking = rank(trials, may_win);
  if (ranking.empty()) return std::nullopt;
  return std::move(ranking.front());
}

}  // namespace stencil_tune
