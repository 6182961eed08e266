// stencil-tune db path | check | merge FILE | export [FILE] | import FILE
#include "db/check.hpp"
#include "db/exchange.hpp"
#include "db/location.hpp"
#include "db/merge.hpp"
#include "db/winner_store.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/database_option.hpp"
#include "tuner/commands/output_file.hpp"
#include "tuner/session/report.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace stencil_tune {
namespace {

constexpr const char* kUsage = "stencil-tune db path | check | merge FILE | export [FILE] | import FILE";

int path(const po::variables_map& values) {
  const DatabaseLocation location = locate_database(values["db"].as<std::string>());
  fmt::print("{}\n", location.path.string());
  return 0;
}

int check(const po::variables_map& values) {
  const CheckResult result = check_database(locate_database(values["db"].as<std::string>()).path);
  fmt::print("{}: schema {}, {}, {} trials, {} winners ({} stale)\n", result.path.string(), result.schema_version,
             bytes_text(static_cast<double>(result.bytes)), result.trials, result.winners, result.stale);
  for (const std::string& row : result.cannot_run) fmt::print("  {}\n", row);
  for (const std::string& problem : result.problems) fmt::print("  {}\n", problem);
  fmt::print("{}\n", result.ok() ? "all is well" : "damaged: the next tune moves the file aside and starts a new one");
  return result.ok() ? 0 : 1;
}

int merge(const po::variables_map& values, const std::string& other) {
  Database database = open_database_for(values, Access::write);
  const MergeResult result = merge_database(database, other);
  fmt::print("{} trials added, {} were here already, {} damaged rows left out, {} winners changed\n", result.added,
             result.duplicates, result.damaged, result.winners_changed);
  return 0;
}

int export_to(const po::variables_map& values, const std::string& file) {
  Database database = open_database_for(values, Access::read);
  const auto winners = WinnerStore(database).list();
  const std::string text = format_winners(winners);
  if (file.empty()) {
    fmt::print("{}\n", text);
    return 0;
  }
  write_output_file(file, text + '\n');
  fmt::print("{} winners written to {}\n", winners.size(), file);
  return 0;
}

int import_from(const po::variables_map& values, const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(ErrorCode::file_io, fmt::format("cannot read '{}': {}", file, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Database database = open_database_for(values, Access::write);
  const ImportResult result = import_winners(database, text);
  fmt::print("{} winners added, {} were here already\n", result.merged.added, result.merged.duplicates);
  if (!result.stale.empty()) {
    fmt::print("{} of them are stale: the next tune times them again before they are trusted\n", result.stale.size());
  }
  for (const std::string& candidate : result.cannot_run) fmt::print("left out, it cannot run: {}\n", candidate);
  return 0;
}

}  // namespace

int run_db(const Arguments& arguments) {
  CommandLine line(kUsage,
                   "path: where the database is; check: every page, row and checksum, changing nothing;\n"
                   "merge: take in another database; export, import: winners as text.\n",
                   "  stencil-tune db path\n  stencil-tune db check\n  stencil-tune db merge other.db\n"
                   "  stencil-tune db export winners.json\n  stencil-tune db import winners.json\n");
  line.positional("words", 2);
  add_database_option(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const auto words =
      values->count("words") > 0 ? (*values)["words"].as<std::vector<std::string>>() : std::vector<std::string>{};
  if (words.empty()) throw Error(ErrorCode::invalid_argument, fmt::format("db what? usage: {}", kUsage));
  const std::string& verb = words[0];
  const std::string file = words.size() > 1 ? words[1] : "";
  if (verb == "path" && file.empty()) return path(*values);
  if (verb == "check" && file.empty()) return check(*values);
  if (verb == "export") return export_to(*values, file);
  if (verb != "merge" && verb != "import") {
    throw Error(ErrorCode::unknown_name,
                fmt::format("db {}: not known{}; usage: {}", fmt::join(words, " "),
                            did_you_mean(verb, {"path", "check", "merge", "export", "import"}), kUsage));
  }
  if (file.empty()) throw Error(ErrorCode::invalid_argument, fmt::format("db {}: which file? usage: {}", verb, kUsage));
  return verb == "merge" ? merge(*values, file) : import_from(*values, file);
}

}  // namespace stencil_tune
