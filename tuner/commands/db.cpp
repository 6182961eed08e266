// stencil-tune db path | check | prune | remove ID... | merge FILE | export [FILE] | import FILE
// Winners as text go both ways here; trials in other tuners' formats in db_trials.cpp.
#include "db/check.hpp"
#include "db/exchange.hpp"
#include "db/location.hpp"
#include "db/merge.hpp"
#include "db/prune.hpp"
#include "db/winner_store.hpp"
#include "generator/printable.hpp"
#include "generator/suggest.hpp"
#include "runtime/files/output_file.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/db_trials.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/print_fitted.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <vector>

namespace stencil_tune {
namespace {

constexpr const char* kUsage =
    "stencil-tune db path | check | prune | remove ID... | merge FILE | export [FILE] | import FILE [--format NAME]";

int path(const po::variables_map& values) {
  const DatabaseLocation location = locate_database(values["db"].as<std::string>());
  fmt::print("{}\n", printable(location.path.string()));
  return 0;
}

int check(const po::variables_map& values) {
  const CheckResult result = check_database(locate_database(values["db"].as<std::string>()).path);
  print_fitted("{}: schema {}, {}, {}, {} ({} stale)\n", printable(result.path.string()), result.schema_version,
               bytes_text(static_cast<double>(result.bytes)), counted(result.trials, "trial"),
               counted(result.winners, "winner"), result.stale);
  for (const std::string& row : result.cannot_run) print_fitted("  {}\n", row);
  for (const std::string& problem : result.problems) print_fitted("  {}\n", printable_lines(problem));
  print_fitted("{}\n", result.ok()
                           ? "all is well"
                           : "damaged: single rows are not used, and `stencil-tune db prune` takes them out; a file "
                             "that is damaged beyond them the next tune moves aside");
  return result.ok() ? 0 : 1;
}

int prune(const po::variables_map& values) {
  Database database = open_database_for(values, Access::write);
  const PruneResult result = prune_database(database);
  if (result.nothing()) {
    print_fitted("every row is of use; nothing was taken out\n");
    return 0;
  }
  for (const auto& [objection, count] : result.unusable)
    print_fitted("{} taken out: {}\n", counted(count, "trial"), objection);
  if (result.damaged > 0) print_fitted("{} taken out: damaged\n", counted(result.damaged, "trial"));
  print_fitted("{} taken out or chosen anew; the database as it was: {}\n", counted(result.winners, "winner"),
               printable(result.copy.string()));
  return 0;
}

std::int64_t id_from(const std::string& text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc{} && end == text.data() + text.size()) return id;
  throw Error(ErrorCode::invalid_argument, fmt::format("db remove '{}': give ids of `stencil-tune list`", text));
}

int remove(const po::variables_map& values, const std::vector<std::string>& words) {
  std::vector<std::int64_t> ids;
  for (const std::string& word : words) ids.push_back(id_from(word));
  if (ids.empty()) throw Error(ErrorCode::invalid_argument, fmt::format("db remove: which winner? usage: {}", kUsage));
  Database database = open_database_for(values, Access::write);
  WinnerStore winners(database);
  for (const std::int64_t id : ids) {
    const auto removed = winners.remove(id);
    if (!removed) throw NoWinner(fmt::format("no winner '{}': give an id of `stencil-tune list`", id));
    const TrialRecord& trial = removed->winner.trial;
    const ProblemKey& problem = trial.problem;
    const std::string text = fmt::format(
        "removed {}: {}, {}, {}, boundary {}, {} on {}: {}, and all {} of this problem", id, problem.stencil_name,
        name(problem.type), to_string(problem.extents), to_string(problem.boundaries, problem.extents.rank),
        counted(problem.steps, "step"), trial.platform.gpu, trial.code, counted(removed->trials, "trial"));
    print_fitted("{}\n", printable(text));
  }
  return 0;
}

int merge(const po::variables_map& values, const std::string& other) {
  Database database = open_database_for(values, Access::write);
  const MergeResult result = merge_database(database, other);
  print_fitted("{} added, {} here already, {} left out, {} changed\n", counted(result.added, "trial"),
               result.duplicates, counted(result.damaged, "damaged row"), counted(result.winners_changed, "winner"));
  for (const auto& [reason, count] : result.refused)
    print_fitted("left out, {}: {}\n", counted(count, "trial"), printable(reason));
  return 0;
}

int export_to(const po::variables_map& values, const std::string& file) {
  Database database = open_database_for(values, Access::read);
  const auto winners = WinnerStore(database).list();
  const std::string text = format_winners(winners);
  if (file.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  write_output_file(file, text);
  print_fitted("{} written to {}\n", counted(winners.size(), "winner"), printable(file));
  return 0;
}

/// The model's name as a file's: letters and digits, the rest dashes.
std::string file_name_of(const std::string& gpu) {
  std::string name;
  for (const char c : gpu) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || (!name.empty() && name.back() != '-')) name += plain ? c : '-';
  }
  return name + ".json";
}

/// A file for each GPU model, which `db import` reads on machines that have it.
int export_by_gpu(const po::variables_map& values, const std::vector<std::string>& words) {
  if (words.size() != 2) {
    throw Error(ErrorCode::invalid_argument,
                "db export --by-gpu: into which folder? it gets a file for each GPU model");
  }
  const std::string& folder = words[1];
  Database database = open_database_for(values, Access::read);
  std::map<std::string, std::vector<WinnerRecord>> of_gpu;
  for (WinnerRecord& winner : WinnerStore(database).list()) {
    of_gpu[winner.trial.platform.gpu].push_back(std::move(winner));
  }
  std::filesystem::create_directories(folder);
  for (const auto& [gpu, winners] : of_gpu) {
    const std::filesystem::path file = std::filesystem::path(folder) / file_name_of(gpu);
    write_output_file(file, format_winners(winners));
    print_fitted("{} of {} written to {}\n", counted(winners.size(), "winner"), printable(gpu),
                 printable(file.string()));
  }
  if (of_gpu.empty()) print_fitted("nothing tuned yet: no file written\n");
  return 0;
}

int import_from(const po::variables_map& values, const std::string& file) {
  const std::string text = read_winners_file(file);
  Database database = open_database_for(values, Access::write);
  const ImportResult result = import_winners(database, text);
  print_fitted("{} added, {} here already\n", counted(result.merged.added, "winner"), result.merged.duplicates);
  if (!result.stale.empty()) {
    print_fitted("{} of them are stale: the next tune times them again before they are trusted\n", result.stale.size());
  }
  for (const std::string& candidate : result.cannot_run) print_fitted("left out, it cannot run: {}\n", candidate);
  return 0;
}

}  // namespace

int run_db(const Arguments& arguments) {
  CommandLine line(
      kUsage,
      "path: where the database is; check: every page, row and checksum, changing nothing;\n"
      "prune: take out rows that check calls damaged or unable to run, and keep a copy of the file;\n"
      "remove: take out winners, by their ids of `stencil-tune list`, with all trials of their problems: the "
      "next tune begins anew;\n"
      "merge: take in another database; export, import: winners as text, or with --format the trials of one "
      "problem as another tuner keeps them.\n"
      "formats:\n" +
          known_formats(),
      "  stencil-tune db path\n  stencil-tune db check\n  stencil-tune db prune\n"
      "  stencil-tune db remove 17\n"
      "  stencil-tune db merge other.db\n"
      "  stencil-tune db export winners.json\n  stencil-tune db import winners.json\n"
      "  stencil-tune db export bundles --by-gpu\n"
      "  stencil-tune db export cache.json --format kernel-tuner --winner 17\n"
      "  stencil-tune db import cache.json --format kernel-tuner\n");
  line.positional("words", -1);
  add_trials_options(line);
  line.group("bundles").add_options()("by-gpu", "export winners to a folder, a file for each GPU model");
  add_database_option(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const auto words =
      values->count("words") > 0 ? (*values)["words"].as<std::vector<std::string>>() : std::vector<std::string>{};
  if (words.empty()) throw Error(ErrorCode::invalid_argument, fmt::format("db what? usage: {}", kUsage));
  const std::string& verb = words[0];
  if (values->count("by-gpu") > 0) {
    if (verb == "export" && !exchanges_trials(*values)) return export_by_gpu(*values, words);
    throw Error(ErrorCode::invalid_argument, "--by-gpu goes with `db export`, and not with --format");
  }
  if (verb == "remove") return remove(*values, {words.begin() + 1, words.end()});
  if (words.size() > 2) throw Error(ErrorCode::invalid_argument, fmt::format("too many words; usage: {}", kUsage));
  const std::string file = words.size() > 1 ? words[1] : "";
  if (verb == "path" && file.empty()) return path(*values);
  if (verb == "check" && file.empty()) return check(*values);
  if (verb == "prune" && file.empty()) return prune(*values);
  if (verb == "export") return exchanges_trials(*values) ? export_trials(*values, file) : export_to(*values, file);
  if (verb != "merge" && verb != "import") {
    throw Error(
        ErrorCode::unknown_name,
        fmt::format("db {}: not known{}; usage: {}", fmt::join(words, " "),
                    did_you_mean(verb, {"path", "check", "prune", "remove", "merge", "export", "import"}), kUsage));
  }
  if (file.empty()) throw Error(ErrorCode::invalid_argument, fmt::format("db {}: which file? usage: {}", verb, kUsage));
  if (verb == "merge") return merge(*values, file);
  return exchanges_trials(*values) ? import_trials(*values, file) : import_from(*values, file);
}

}  // namespace stencil_tune
