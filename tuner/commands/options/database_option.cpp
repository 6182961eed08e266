#include "tuner/commands/options/database_option.hpp"

#include "db/location.hpp"
#include "generator/printable.hpp"
#include "tuner/commands/program/interrupt.hpp"
#include "tuner/session/say.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace stencil_tune {

namespace {

// Another process holds the lock for milliseconds, unless it was stopped or a backup reads a large file: what was
// measured meanwhile is worth some patience.
constexpr std::chrono::minutes kLongestWait{5};
constexpr int kSaidAfterS = 2;

/// Says once a wait what is waited for; a stop ends it.
bool keep_waiting(const std::filesystem::path& path, int seconds) {
  if (seconds == kSaidAfterS) {
    say(stderr, fmt::format("{}waiting: another process keeps the database {} locked\n",
                            isatty(STDERR_FILENO) ? "\n" : "", printable(path.string())));
  }
  return !InterruptGuard::requested();
}

}  // namespace

void add_database_option(CommandLine& line) {
  line.group("database")
      .add_options()("db", po::value<std::string>()->default_value("")->value_name("FILE"),
                     "default: STENCIL_TUNE_DB, else the XDG data folder");
}

Database open_database_for(const po::variables_map& values, Access access) {
  const OpenOptions options{.access = access, .busy_timeout = kLongestWait, .while_locked = keep_waiting};
  Database database = open_database(values["db"].as<std::string>(), options);
  const std::string message = database.report().message();
  if (!message.empty() && !database.report().moved_aside.empty()) say(stderr, printable_lines(message) + "\n");
  return database;
}

std::optional<Database> read_database(const po::variables_map& values) {
  const auto option = values["db"].as<std::string>();
  if (option.empty() && is_missing(locate_database(option))) return std::nullopt;
  return open_database_for(values, Access::read);
}

}  // namespace stencil_tune
