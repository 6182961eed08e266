#include "db/trial_store.hpp"
#include "db/winner_choice.hpp"
#include "generator/candidates/family.hpp"
#include "generator/printable.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/stencil_tables.hpp"
#include "tuner/replay/formats.hpp"
#include "tuner/session/trials/trial_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

std::string space_name(const TrialRecord& trial) {
  const ProblemKey& problem = trial.problem;
  if (problem.kind == SubjectKind::kernel) {
    return printable(fmt::format("{} {} {}", problem.stencil_name, problem.sizes, trial.platform.gpu));
  }
  return printable(fmt::format("{} {} {} {} steps {} {}", problem.stencil_name, name(problem.type),
                               to_string(problem.extents), to_string(problem.boundaries, problem.extents.rank),
                               problem.steps, trial.platform.gpu));
}

/// Throws Error(malformed_code).
std::map<std::string, std::string> values_of_configuration(const std::string& code) {
  const auto settings = configuration_settings(code);
  if (!settings) throw Error(ErrorCode::malformed_code, fmt::format("'{}' is no configuration", printable(code)));
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : *settings) values.emplace(name, std::to_string(value));
  return values;
}

/// Throws Error(malformed_code).
std::map<std::string, std::string> values_of(SubjectKind kind, const std::string& code) {
  return kind == SubjectKind::kernel ? values_of_configuration(code)
                                     : parameter_values(with_used_values_alone(parse_code(code)));
}

}  // namespace

std::vector<RecordedSpace> read_database_spaces(const std::string& path) {
  Database database = Database::open(path, {.access = Access::read});
  struct Recorded {
    std::string name;
    ProblemKey problem;
    std::string gpu;
    std::map<std::string, ConfigurationRecord> by_code;  // the last trial of each
  };
  std::vector<Recorded> problems;
  for (const TrialRecord& trial : TrialStore(database).find({.predicted = false})) {
    auto at = std::find_if(problems.begin(), problems.end(), [&](const Recorded& each) {
      return each.problem == trial.problem && each.gpu == trial.platform.gpu;
    });
    if (at == problems.end()) {
      problems.push_back({space_name(trial), trial.problem, trial.platform.gpu, {}});
      at = problems.end() - 1;
    }
    const double time = score(trial);
    at->by_code[trial.code] = {time > 0 ? time : ConfigurationRecord{}.time_ms, kCostOfATrial};
  }
  std::vector<RecordedSpace> spaces;
  for (const Recorded& problem : problems) {
    std::map<std::map<std::string, std::string>, ConfigurationRecord> rows;  // codes may differ in what is not used
    for (const auto& [code, evaluation] : problem.by_code) {
      try {
        rows[values_of(problem.problem.kind, code)] = evaluation;
      } catch (const Error&) {
        continue;  // a code of another version
      }
    }
    const auto works = [](const auto& row) { return !row.second.failed(); };
    if (rows.size() < kFewestOfAProblem || std::count_if(rows.begin(), rows.end(), works) < 2) continue;
    SpaceBuilder builder(problem.name);
    for (const auto& [values, evaluation] : rows) builder.add(values, evaluation);
    spaces.push_back(builder.build());
  }
  if (spaces.empty()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no problem has {} measured candidates to search among",
                                                         printable(path), kFewestOfAProblem));
  }
  return spaces;
}

}  // namespace stencil_tune
