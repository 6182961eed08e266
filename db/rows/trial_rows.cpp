#include "db/rows/trial_rows.hpp"

#include "db/rows/checksum.hpp"
#include "db/rows/fields.hpp"
#include "db/rows/validate.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <type_traits>

namespace stencil_tune {
namespace {

/// Reads the columns of a row into a record's fields, one after the other.
class FieldReader {
 public:
  explicit FieldReader(Statement& row) : row_(row) {}

  template <typename Value>
  void operator()(std::string_view, Value& value) {
    if constexpr (kIsNamed<Value>) {
      parse_name(row_.text(), value);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = row_.text();
    } else if constexpr (std::is_same_v<Value, double>) {
      value = row_.real();
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = row_.integer() != 0;
    } else {
      value = static_cast<Value>(row_.integer());
    }
  }

 private:
  Statement& row_;
};

bool is_valid(const TrialRecord& trial) {
  try {
    validate(trial);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

ProblemKey normalised(ProblemKey problem) {
  if (problem.pitch == 0) problem.pitch = problem.extents.n[0];
  for (int axis = std::max(problem.extents.rank, 0); axis < kMaxRank; ++axis) {
    problem.boundaries[static_cast<std::size_t>(axis)] = Boundary::hold;
  }
  return problem;
}

std::int64_t checksum_of(const TrialRecord& trial) {
  Checksum checksum;
  visit_trial(trial, as_columns([&](std::string_view, auto value) { checksum.add(value); }));
  return checksum.value();
}

std::string trial_columns(std::string_view table) {
  std::string columns = fmt::format("{}.id", table);
  const TrialRecord any;
  visit_trial(any, [&](std::string_view column, const auto&) { columns += fmt::format(", {}.{}", table, column); });
  return columns + fmt::format(", {}.checksum", table);
}

std::optional<TrialRecord> read_trial(Database& database, Statement& row) {
  TrialRecord trial;
  trial.id = row.integer();
  try {
    visit_trial(trial, FieldReader(row));
  } catch (const Error&) {
    // A name that no enumeration has: no checksum of ours goes with it.
    database.add_damaged_row("trials", trial.id);
    return std::nullopt;
  }
  if (row.integer() != checksum_of(trial) || !is_valid(trial)) {
    database.add_damaged_row("trials", trial.id);
    return std::nullopt;
  }
  return trial;
}

std::int64_t insert_trial_row(Database& database, const TrialRecord& trial) {
  std::string columns;
  std::string parameters;
  visit_trial(trial, [&](std::string_view column, const auto&) {
    columns += fmt::format("{}, ", column);
    parameters += "?, ";
  });
  Statement insert(database.handle(), fmt::format("INSERT INTO trials ({}checksum) VALUES ({}?)", columns, parameters),
                   "store a trial");
  visit_trial(trial, as_columns([&](std::string_view, auto value) { insert.bind(value); }));
  insert.bind(checksum_of(trial));
  insert.step();
  return sqlite3_last_insert_rowid(database.handle());
}

std::string problem_condition(std::string_view table) {
  std::string condition;
  const ProblemKey any;
  visit_problem_identity(any, [&](std::string_view column, const auto&) {
    condition += fmt::format("{}{}.{} = ?", condition.empty() ? "" : " AND ", table, column);
  });
  return condition;
}

void bind_problem(Statement& statement, const ProblemKey& problem) {
  const ProblemKey key = normalised(problem);
  visit_problem_identity(key, as_columns([&](std::string_view, auto value) { statement.bind(value); }));
}

}  // namespace stencil_tune
