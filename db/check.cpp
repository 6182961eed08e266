#include "db/check.hpp"

#include "db/file/file_header.hpp"
#include "db/file/statement.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/rows/winner_rows.hpp"
#include "db/stored_code.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <map>

namespace stencil_tune {
namespace {

constexpr std::string_view kChecking = "check it";

void check_pages(Database& database, CheckResult& result) {
  Statement rows(database.handle(), "PRAGMA integrity_check", kChecking);
  while (rows.step()) {
    const std::string answer = rows.text();
    if (answer != "ok") result.problems.push_back(answer);
  }
}

void check_winners(Database& database, CheckResult& result) {
  for (const WinnerRecord& winner : select_winners(database, "TRUE", [](Statement&) {})) {
    result.stale += is_stale(winner.trial) ? 1 : 0;
    if (const auto objection = objection_to(winner.trial)) {
      result.cannot_run.push_back(fmt::format("winner {} cannot run: {}", winner.trial.id, *objection));
    }
  }
}

/// A line a code, however many trials it has.
void check_codes(const std::vector<TrialRecord>& trials, CheckResult& result) {
  std::map<std::string, int> unreadable;
  for (const TrialRecord& trial : trials) {
    if (!is_readable(trial)) ++unreadable[trial.code];
  }
  for (const auto& [code, count] : unreadable) {
    TrialRecord any;
    any.code = code;
    result.cannot_run.push_back(
        fmt::format("{} trial{} cannot run: {}", count, count == 1 ? "" : "s", *objection_to(any)));
  }
}

void check_rows(Database& database, CheckResult& result) {
  result.trials = static_cast<int>(query_integer(database.handle(), "SELECT count(*) FROM trials", kChecking));
  result.winners = static_cast<int>(query_integer(database.handle(), "SELECT count(*) FROM winners", kChecking));
  check_codes(select_trials(database, "TRUE", [](Statement&) {}), result);
  check_winners(database, result);
  for (const auto& [table, id] : database.damaged_rows()) {
    result.problems.push_back(
        fmt::format("row {} of {} is damaged: its checksum or its values are wrong; it is not used", id, table));
  }
}

}  // namespace

CheckResult check_database(const std::filesystem::path& path) {
  CheckResult result;
  result.path = path;
  OpenOptions options;
  options.access = Access::read;
  try {
    Database database = Database::open(path, options);
    result.path = database.path();
    std::error_code error;
    result.bytes = static_cast<std::int64_t>(std::filesystem::file_size(database.path(), error));
    result.schema_version = inspect_file(database.path()).version;  // an older one was opened as a copy of today's
    check_pages(database, result);
    check_rows(database, result);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::database_corrupt) throw;
    result.problems.emplace_back(error.what());
  }
  return result;
}

}  // namespace stencil_tune
