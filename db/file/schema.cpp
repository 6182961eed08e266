#include "db/file/schema.hpp"

#include "db/file/statement.hpp"
#include "db/rows/carried_checksums.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <memory>

namespace stencil_tune {
namespace {

// Number n takes a database from version n to n + 1. A migration that was released never changes again. Columns of
// `trials` are only ever appended: carry_checksums relies on it.
// `type`, `outcome`, `kind` and the boundaries hold the names the enums print; times are ms, rates are in `unit` and
// GB/s; `checksum` is XXH3 over all other columns but ids.
constexpr std::array<const char*, kSchemaVersion> kMigrations{
    R"sql(
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  stencil_key TEXT NOT NULL,
  stage INTEGER NOT NULL,
  type TEXT NOT NULL,
  boundary_x TEXT NOT NULL,
  boundary_y TEXT NOT NULL,
  boundary_z TEXT NOT NULL,
  rank INTEGER NOT NULL,
  nx INTEGER NOT NULL,
  ny INTEGER NOT NULL,
  nz INTEGER NOT NULL,
  pitch INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  stencil_name TEXT NOT NULL,
  gpu TEXT NOT NULL,
  architecture TEXT NOT NULL,
  driver TEXT NOT NULL,
  nvrtc TEXT NOT NULL,
  template_signature TEXT NOT NULL,
  code TEXT NOT NULL,
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  median_ms REAL NOT NULL,
  low_ms REAL NOT NULL,
  high_ms REAL NOT NULL,
  samples INTEGER NOT NULL,
  gstencils REAL NOT NULL,
  ceiling_gbs REAL NOT NULL,
  share REAL NOT NULL,
  registers INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL,
  shared_bytes INTEGER NOT NULL,
  occupancy REAL NOT NULL,
  predicted INTEGER NOT NULL,
  raced INTEGER NOT NULL,
  session TEXT NOT NULL,
  created_at TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

CREATE INDEX trials_by_problem ON trials (stencil_key, gpu, nx, ny, nz, type);
CREATE INDEX trials_by_session ON trials (session);

CREATE TABLE winners (
  stencil_key TEXT NOT NULL,
  stage INTEGER NOT NULL,
  type TEXT NOT NULL,
  boundary_x TEXT NOT NULL,
  boundary_y TEXT NOT NULL,
  boundary_z TEXT NOT NULL,
  rank INTEGER NOT NULL,
  nx INTEGER NOT NULL,
  ny INTEGER NOT NULL,
  nz INTEGER NOT NULL,
  pitch INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  gpu TEXT NOT NULL,
  trial_id INTEGER NOT NULL REFERENCES trials (id),
  naive_gstencils REAL NOT NULL,
  trials_seen INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (stencil_key, stage, type, boundary_x, boundary_y, boundary_z, rank, nx, ny, nz, pitch, steps, gpu)
) STRICT;
)sql",
    R"sql(
ALTER TABLE trials ADD COLUMN sharpness REAL NOT NULL DEFAULT -1;
ALTER TABLE trials ADD COLUMN sharpness_note TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN plan TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN objective TEXT NOT NULL DEFAULT 'burst';
ALTER TABLE trials ADD COLUMN sustained_gstencils REAL NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN watts REAL NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN nanojoules REAL NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN sm_clock_mhz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN memory_clock_mhz INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN throttle TEXT NOT NULL DEFAULT '';
)sql",
    R"sql(
ALTER TABLE winners RENAME TO winners_of_problems;
CREATE TABLE winners (
  stencil_key TEXT NOT NULL,
  stage INTEGER NOT NULL,
  type TEXT NOT NULL,
  boundary_x TEXT NOT NULL,
  boundary_y TEXT NOT NULL,
  boundary_z TEXT NOT NULL,
  rank INTEGER NOT NULL,
  nx INTEGER NOT NULL,
  ny INTEGER NOT NULL,
  nz INTEGER NOT NULL,
  pitch INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  gpu TEXT NOT NULL,
  objective TEXT NOT NULL,
  trial_id INTEGER NOT NULL REFERENCES trials (id),
  naive_gstencils REAL NOT NULL,
  trials_seen INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (stencil_key, stage, type, boundary_x, boundary_y, boundary_z, rank, nx, ny, nz, pitch, steps, gpu,
               objective)
) STRICT;
INSERT INTO winners (rowid, stencil_key, stage, type, boundary_x, boundary_y, boundary_z, rank, nx, ny, nz, pitch, steps,
                     gpu, objective, trial_id, naive_gstencils, trials_seen, checksum)
  SELECT old.rowid, old.stencil_key, old.stage, old.type, old.boundary_x, old.boundary_y, old.boundary_z, old.rank,
         old.nx, old.ny, old.nz, old.pitch, old.steps, old.gpu, coalesce(trials.objective, 'burst'), old.trial_id,
         old.naive_gstencils, old.trials_seen, old.checksum
  FROM winners_of_problems AS old LEFT JOIN trials ON trials.id = old.trial_id;
DROP TABLE winners_of_problems;
)sql",
    R"sql(
ALTER TABLE trials ADD COLUMN kind TEXT NOT NULL DEFAULT 'stencil';
ALTER TABLE trials ADD COLUMN sizes TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN unit TEXT NOT NULL DEFAULT 'GStencil/s';

ALTER TABLE winners RENAME TO winners_of_stencils;
CREATE TABLE winners (
  stencil_key TEXT NOT NULL,
  stage INTEGER NOT NULL,
  type TEXT NOT NULL,
  boundary_x TEXT NOT NULL,
  boundary_y TEXT NOT NULL,
  boundary_z TEXT NOT NULL,
  rank INTEGER NOT NULL,
  nx INTEGER NOT NULL,
  ny INTEGER NOT NULL,
  nz INTEGER NOT NULL,
  pitch INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  sizes TEXT NOT NULL,
  gpu TEXT NOT NULL,
  objective TEXT NOT NULL,
  trial_id INTEGER NOT NULL REFERENCES trials (id),
  naive_gstencils REAL NOT NULL,
  trials_seen INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (stencil_key, stage, type, boundary_x, boundary_y, boundary_z, rank, nx, ny, nz, pitch, steps, sizes, gpu,
               objective)
) STRICT;
INSERT INTO winners (rowid, stencil_key, stage, type, boundary_x, boundary_y, boundary_z, rank, nx, ny, nz, pitch, steps,
                     sizes, gpu, objective, trial_id, naive_gstencils, trials_seen, checksum)
  SELECT rowid, stencil_key, stage, type, boundary_x, boundary_y, boundary_z, rank, nx, ny, nz, pitch, steps, '', gpu,
         objective, trial_id, naive_gstencils, trials_seen, checksum
  FROM winners_of_stencils;
DROP TABLE winners_of_stencils;
)sql",
};

constexpr std::string_view kMigrating = "bring its schema up to date";

void apply_migrations(sqlite3* connection, int from, int to) {
  for (int version = from; version < to; ++version) {
    const std::size_t columns_before = count_checksummed_columns(connection);
    execute(connection, kMigrations[static_cast<std::size_t>(version)], kMigrating);
    carry_checksums(connection, columns_before);
  }
}

}  // namespace

void migrate(sqlite3* connection) {
  Transaction transaction(connection, kMigrating);
  const auto version = static_cast<int>(query_integer(connection, "PRAGMA user_version", kMigrating));
  if (version >= kSchemaVersion) return;  // another process was here between our look and our lock
  apply_migrations(connection, version, kSchemaVersion);
  execute(connection, fmt::format("PRAGMA application_id = {}", kApplicationId), kMigrating);
  execute(connection, fmt::format("PRAGMA user_version = {}", kSchemaVersion), kMigrating);
  transaction.commit();
}

std::string schema_text(sqlite3* connection) {
  Statement rows(connection, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name",
                 "read its schema");
  std::string text;
  while (rows.step()) {
    for (int column = 0; column < 4; ++column) text += rows.text() + '\n';
  }
  return text;
}

std::string expected_schema_text(int version) {
  sqlite3* raw = nullptr;
  sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> memory(raw, sqlite3_close);
  apply_migrations(memory.get(), 0, version);
  return schema_text(memory.get());
}

}  // namespace stencil_tune
