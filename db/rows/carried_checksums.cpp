#include "db/rows/carried_checksums.hpp"

#include "db/file/statement.hpp"
#include "db/rows/checksum.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::string_view kCarrying = "carry its checksums over";

/// As the table itself says, not as records.hpp does: a migration never changes, the record does.
struct Column {
  std::string name;
  std::string type;
};

struct Carried {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// In the order of the table, which is that of the checksum.
std::vector<Column> checksummed_columns(sqlite3* connection) {
  Statement rows(connection,
                 "SELECT name, type FROM pragma_table_info('trials') WHERE name NOT IN ('id', 'checksum') ORDER BY cid",
                 kCarrying);
  std::vector<Column> columns;
  while (rows.step()) {
    std::string name = rows.text();
    columns.push_back({std::move(name), rows.text()});
  }
  return columns;
}

void add_next(Checksum& checksum, const Column& column, Statement& row) {
  if (column.type == "TEXT") {
    checksum.add(row.text());
  } else if (column.type == "REAL") {
    checksum.add(row.real());
  } else {
    checksum.add(row.integer());
  }
}

/// Of every trial that is whole, by id.
std::map<std::int64_t, Carried> carried_trials(sqlite3* connection, std::size_t columns_before) {
  const std::vector<Column> columns = checksummed_columns(connection);
  std::string select = "SELECT id, checksum";
  for (const Column& column : columns) select += ", " + column.name;
  Statement rows(connection, select + " FROM trials", kCarrying);
  std::map<std::int64_t, Carried> trials;
  while (rows.step()) {
    const std::int64_t id = rows.integer();
    const std::int64_t stored = rows.integer();
    Checksum checksum;
    std::size_t next = 0;
    while (next < columns_before) add_next(checksum, columns[next++], rows);
    if (checksum.value() != stored) continue;
    while (next < columns.size()) add_next(checksum, columns[next++], rows);
    trials[id] = {stored, checksum.value()};
  }
  return trials;
}

/// Of every winner that is whole, by row.
std::map<std::int64_t, Carried> carried_winners(sqlite3* connection, const std::map<std::int64_t, Carried>& trials) {
  Statement rows(connection, "SELECT rowid, trial_id, checksum, naive_gstencils, trials_seen FROM winners", kCarrying);
  std::map<std::int64_t, Carried> winners;
  while (rows.step()) {
    const std::int64_t row = rows.integer();
    const auto trial = trials.find(rows.integer());
    if (trial == trials.end()) continue;
    const std::int64_t stored = rows.integer();
    const double naive_gstencils = rows.real();
    const std::int64_t trials_seen = rows.integer();
    const auto checksum_over = [&](std::int64_t checksum_of_trial) {
      Checksum checksum;
      checksum.add(checksum_of_trial);
      checksum.add(naive_gstencils);
      checksum.add(trials_seen);
      return checksum.value();
    };
    if (checksum_over(trial->second.before) != stored) continue;
    winners[row] = {stored, checksum_over(trial->second.after)};
  }
  return winners;
}

void write_checksums(sqlite3* connection, std::string_view table, const std::map<std::int64_t, Carried>& rows) {
  for (const auto& [row, carried] : rows) {
    Statement update(connection, fmt::format("UPDATE {} SET checksum = ? WHERE rowid = ?", table), kCarrying);
    update.bind(carried.after).bind(row);
    update.step();
  }
}

}  // namespace

std::size_t count_checksummed_columns(sqlite3* connection) { return checksummed_columns(connection).size(); }

void carry_checksums(sqlite3* connection, std::size_t columns_before) {
  const auto trials = carried_trials(connection, columns_before);
  const auto winners = carried_winners(connection, trials);
  write_checksums(connection, "trials", trials);
  write_checksums(connection, "winners", winners);
}

}  // namespace stencil_tune
