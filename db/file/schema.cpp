#include "db/file/schema.hpp"

#include "db/file/statement.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <memory>

namespace stencil_tune {
namespace {

// Number n takes a database from version n to n + 1. A migration that was released never changes again. A row's
// `checksum` is XXH3 over all its other columns but ids: a migration that changes columns computes it anew. `kind`,
// `type`, `outcome`, `objective` and the boundaries hold the names the enums print; times are ms, rates are in `unit`,
// the ceiling in GB/s.
constexpr std::array<const char*, kSchemaVersion> kMigrations{
    R"sql(
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
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
  stencil_name TEXT NOT NULL,
  form TEXT NOT NULL,
  unit TEXT NOT NULL,
  gpu TEXT NOT NULL,
  architecture TEXT NOT NULL,
  driver TEXT NOT NULL,
  model TEXT NOT NULL,
  nvrtc TEXT NOT NULL,
  template_signature TEXT NOT NULL,
  machine_code TEXT NOT NULL,
  code TEXT NOT NULL,
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  median_ms REAL NOT NULL,
  low_ms REAL NOT NULL,
  high_ms REAL NOT NULL,
  samples INTEGER NOT NULL,
  rate REAL NOT NULL,
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
  sharpness REAL NOT NULL,
  sharpness_note TEXT NOT NULL,
  plan TEXT NOT NULL,
  objective TEXT NOT NULL,
  sustained_rate REAL NOT NULL,
  watts REAL NOT NULL,
  nanojoules REAL NOT NULL,
  sm_clock_mhz INTEGER NOT NULL,
  memory_clock_mhz INTEGER NOT NULL,
  throttle TEXT NOT NULL,
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
  sizes TEXT NOT NULL,
  gpu TEXT NOT NULL,
  objective TEXT NOT NULL,
  trial_id INTEGER NOT NULL REFERENCES trials (id),
  naive_rate REAL NOT NULL,
  trials_seen INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (stencil_key, stage, type, boundary_x, boundary_y, boundary_z, rank, nx, ny, nz, pitch, steps, sizes, gpu,
               objective)
) STRICT;
)sql",
};

constexpr std::string_view kMigrating = "bring its schema up to date";

void apply_migrations(sqlite3* connection, int from, int to) {
  for (int version = from; version < to; ++version) {
    execute(connection, kMigrations[static_cast<std::size_t>(version)], kMigrating);
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
