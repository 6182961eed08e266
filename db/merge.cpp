#include "db/merge.hpp"

#include "db/file/statement.hpp"
#include "db/rows/fields.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/rows/validate.hpp"
#include "db/rows/winner_rows.hpp"
#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::string_view kMerging = "merge trials";

/// Every column's value, so that equal contents are found whatever their checksums.
std::string content_of(const TrialRecord& trial) {
  std::string content;
  visit_trial(trial, as_columns([&](std::string_view, auto value) { content += fmt::format("{}\x1f", value); }));
  return content;
}

/// Trials and winners to be merged into one database, in one transaction that the caller commits. Winners are chosen in
/// memory: the index of trials does not tell all problems apart, and a query for each would read those of the others.
class Merger {
 public:
  explicit Merger(Database& database) : database_(database) {
    for (TrialRecord& trial : select_trials(database_, "TRUE", [](Statement&) {})) {
      present_.insert(content_of(trial));
      remember(std::move(trial));
    }
  }

  void add(TrialRecord trial) {
    trial.problem = normalised(trial.problem);
    if (!present_.insert(content_of(trial)).second) {
      ++result_.duplicates;
      return;
    }
    trial.id = insert_trial_row(database_, trial);
    ++result_.added;
    touched_.try_emplace(problem_of(trial), trial);
    remember(std::move(trial));
  }

  /// Remembers what the other side knows of its winner.
  void note(const WinnerRecord& winner) {
    WinnerRecord known = winner;
    known.trial.problem = normalised(known.trial.problem);
    notes_.insert_or_assign(content_of(known.trial), WinnerNotes{winner.naive_rate, winner.trials_seen});
  }

  /// Chooses the winner of every problem that got a trial.
  MergeResult finish() {
    std::map<std::string, std::vector<WinnerRecord>> winners;
    for (WinnerRecord& winner : select_winners(
             database_, "TRUE", [](Statement&) {}, TrialsSeen::as_stored)) {
      winners[problem_of(winner.trial)].push_back(std::move(winner));
    }
    for (const auto& [key, trial] : touched_) choose(trial, trials_[key], winners[key]);
    return result_;
  }

 private:
  static std::string problem_of(const TrialRecord& trial) {
    std::string key = trial.platform.gpu;
    visit_problem_identity(trial.problem,
                           as_columns([&](std::string_view, auto value) { key += fmt::format("\x1f{}", value); }));
    return key;
  }

  void remember(TrialRecord trial) {
    if (trial.outcome != Outcome::ok && trial.outcome != Outcome::wrong_result) return;  // it decides no race
    std::vector<TrialRecord>& of_problem = trials_[problem_of(trial)];
    of_problem.push_back(std::move(trial));
  }

  /// Among all trials of the problem that `any` is of; `winners`: those that it has so far.
  void choose(const TrialRecord& any, const std::vector<TrialRecord>& trials,
              const std::vector<WinnerRecord>& winners) {
    for (const Objective each : kObjectives) {
      const auto found = std::find_if(winners.begin(), winners.end(),
                                      [&](const auto& winner) { return winner.trial.objective == each; });
      const auto before = found == winners.end() ? std::nullopt : std::optional(*found);
      const auto best = choose_winner(trials, each);
      if (best ? before && before->trial.id == best->id : !before) continue;
      const auto notes = best ? notes_.find(content_of(*best)) : notes_.end();
      replace_winner_row(database_, any.problem, any.platform.gpu, each, before, best,
                         notes == notes_.end() ? WinnerNotes{} : notes->second);
      if (best) ++result_.winners_changed;
    }
  }

  Database& database_;
  std::set<std::string> present_;
  std::map<std::string, std::vector<TrialRecord>> trials_;  ///< those that decide races, by problem
  std::map<std::string, TrialRecord> touched_;              ///< one trial of each problem
  std::map<std::string, WinnerNotes> notes_;
  MergeResult result_;
};

/// Empty where the trial may come in.
std::string reason_to_refuse(const TrialRecord& trial) {
  if (!is_readable(trial)) return *objection_to(trial);
  try {
    validate_foreign(trial);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

MergeResult merge_database(Database& database, const std::filesystem::path& other) {
  std::error_code error;
  if (std::filesystem::equivalent(database.path(), other, error)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("database {} cannot be merged into itself; name another file", other.string()));
  }
  OpenOptions options;
  options.access = Access::read;
  Database source = Database::open(other, options);
  const auto trials = select_trials(source, "TRUE", [](Statement&) {});
  const auto winners = select_winners(source, "TRUE", [](Statement&) {});

  Transaction transaction(database.handle(), kMerging);
  Merger merger(database);
  for (const WinnerRecord& winner : winners) merger.note(winner);
  std::map<std::string, int> refused;
  for (const TrialRecord& trial : trials) {
    if (const std::string reason = reason_to_refuse(trial); !reason.empty()) {
      ++refused[reason];
    } else {
      merger.add(trial);
    }
  }
  MergeResult result = merger.finish();
  result.refused = std::move(refused);
  result.damaged = static_cast<int>(source.damaged_rows().size());
  transaction.commit();
  return result;
}

MergeResult merge_winners(Database& database, std::span<const WinnerRecord> winners) {
  for (const WinnerRecord& winner : winners) validate(winner.trial);
  Transaction transaction(database.handle(), kMerging);
  Merger merger(database);
  for (const WinnerRecord& winner : winners) {
    merger.note(winner);
    merger.add(winner.trial);
  }
  const MergeResult result = merger.finish();
  transaction.commit();
  return result;
}

MergeResult merge_trials(Database& database, std::span<const TrialRecord> trials) {
  for (const TrialRecord& trial : trials) validate(trial);
  Transaction transaction(database.handle(), kMerging);
  Merger merger(database);
  for (const TrialRecord& trial : trials) merger.add(trial);
  const MergeResult result = merger.finish();
  transaction.commit();
  return result;
}

}  // namespace stencil_tune
