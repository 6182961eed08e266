#include "tuner/commands/database_option.hpp"

#include "db/location.hpp"
#include "tuner/session/say.hpp"

#include <filesystem>

namespace stencil_tune {

void add_database_option(CommandLine& line) {
  line.group("database")
      .add_options()("db", po::value<std::string>()->default_value("")->value_name("FILE"),
                     "default: STENCIL_TUNE_DB, else the XDG data folder");
}

Database open_database_for(const po::variables_map& values, Access access) {
  Database database = open_database(values["db"].as<std::string>(), access);
  const std::string message = database.report().message();
  if (!message.empty() && !database.report().moved_aside.empty()) say(stderr, message + "\n");
  return database;
}

std::optional<Database> read_database(const po::variables_map& values) {
  const DatabaseLocation location = locate_database(values["db"].as<std::string>());
  if (location.by_default && !std::filesystem::exists(location.path)) return std::nullopt;
  return open_database_for(values, Access::read);
}

}  // namespace stencil_tune
