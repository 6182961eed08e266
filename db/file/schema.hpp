// What a stencil-tune database looks like inside, version by version.
#pragma once

#include <cstdint>
#include <string>

struct sqlite3;

namespace stencil_tune {

/// Bytes 68..71 of the file's header (big-endian). "ST", then two bytes no text file has there.
inline constexpr std::uint32_t kApplicationId = 0x5354EC11;

/// PRAGMA user_version of databases this program writes; bytes 60..63 of the header.
inline constexpr int kSchemaVersion = 1;

/// Brings the database from its user_version to kSchemaVersion, all migrations in one transaction. A new, empty
/// file starts at version 0. Harmless when another process has just done it.
void migrate(sqlite3* connection);

/// Every table and index, name and definition: equal for equal schemas.
std::string schema_text(sqlite3* connection);

/// What schema_text gives for an undamaged database of the version.
std::string expected_schema_text(int version);

}  // namespace stencil_tune
