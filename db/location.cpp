#include "db/location.hpp"

#include "stencil_tune/error.hpp"

#include <cstdlib>
#include <system_error>

namespace stencil_tune {
namespace {

/// An empty variable counts as unset.
std::string_view environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace

DatabaseLocation locate_database(std::string_view option) {
  if (!option.empty()) return {std::filesystem::path(option), "--db", false};
  if (const auto named = environment("STENCIL_TUNE_DB"); !named.empty()) {
    return {std::filesystem::path(named), "STENCIL_TUNE_DB", false};
  }
  const auto file = std::filesystem::path("stencil-tune") / "stencil-tune.db";
  // The XDG specification says that a relative path there is to be ignored.
  if (const std::filesystem::path data = environment("XDG_DATA_HOME"); data.is_absolute()) {
    return {data / file, "XDG_DATA_HOME", true};
  }
  if (const auto home = environment("HOME"); !home.empty()) {
    return {std::filesystem::path(home) / ".local" / "share" / file, "HOME", true};
  }
  throw Error(ErrorCode::invalid_argument,
              "no place for the database: neither --db, STENCIL_TUNE_DB, XDG_DATA_HOME nor HOME is set; name one with "
              "--db FILE");
}

bool is_missing(const DatabaseLocation& location) {
  std::error_code failure;
  return std::filesystem::status(location.path, failure).type() == std::filesystem::file_type::not_found;
}

Database open_database(std::string_view option, OpenOptions options) {
  const DatabaseLocation location = locate_database(option);
  options.create_folder = location.by_default;
  return Database::open(location.path, options);
}

}  // namespace stencil_tune
