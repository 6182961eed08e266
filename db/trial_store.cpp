#include "db/trial_store.hpp"

#include "db/file/statement.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/rows/validate.hpp"
#include "db/rows/winner_rows.hpp"
#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <map>

namespace stencil_tune {

StoredTrial TrialStore::insert(TrialRecord trial, double naive_rate) {
  validate(trial);
  trial.problem = normalised(trial.problem);
  if (trial.created_at.empty()) trial.created_at = utc_now();
  Transaction transaction(database_.handle(), "store a trial");
  trial.id = insert_trial_row(database_, trial);
  const bool is_winner = update_winner_rows(database_, trial, naive_rate);
  transaction.commit();
  return {trial.id, is_winner};
}

std::vector<TrialRecord> TrialStore::find(const TrialQuery& query) const {
  std::string condition = "TRUE";
  const auto add = [&](bool set, std::string_view more) {
    if (set) condition += fmt::format(" AND {}", more);
  };
  add(query.problem.has_value(), problem_condition("trials"));
  add(query.gpu.has_value(), "gpu = ?");
  add(query.session.has_value(), "session = ?");
  add(query.predicted.has_value(), "predicted = ?");
  return select_trials(database_, condition, [&](Statement& rows) {
    if (query.problem) bind_problem(rows, *query.problem);
    if (query.gpu) rows.bind(*query.gpu);
    if (query.session) rows.bind(*query.session);
    if (query.predicted) rows.bind(*query.predicted);
  });
}

std::vector<TrialRecord> TrialStore::known(const ProblemKey& problem, std::string_view gpu,
                                           std::optional<std::string_view> model,
                                           const std::function<bool(const TrialRecord&)>& counts) const {
  auto trials = find({.problem = problem, .gpu = std::string(gpu), .predicted = model.has_value()});
  std::erase_if(trials, [&](const TrialRecord& trial) {
    if (model && trial.platform.model != *model) return true;
    return !is_readable(trial) || is_stale(trial) || (counts && !counts(trial));
  });
  std::map<std::string, TrialRecord> by_code;
  std::map<std::string, int> tries_in_vain;
  for (const TrialRecord& trial : trials) {
    if (deserves_another_try(trial.outcome)) ++tries_in_vain[trial.code];
    const auto [place, is_new] = by_code.try_emplace(trial.code, trial);
    const Outcome present = place->second.outcome;
    const bool is_final = present == Outcome::wrong_result && trial.outcome != Outcome::wrong_result;
    if (!is_new && !is_final) place->second = trial;  // trials come in order of id
  }
  for (const TrialRecord& speaker : ranked_codes(trials)) by_code[speaker.code] = speaker;
  std::vector<TrialRecord> known;
  for (auto& [code, trial] : by_code) {
    if (deserves_another_try(trial.outcome) && tries_in_vain[code] < 2) continue;
    known.push_back(std::move(trial));
  }
  return known;
}

std::string utc_now() {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto milliseconds = now.time_since_epoch().count() % 1000;
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), milliseconds);
}

}  // namespace stencil_tune
