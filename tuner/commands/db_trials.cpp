#include "tuner/commands/db_trials.hpp"

#include "db/trial_store.hpp"
#include "db/winner_choice.hpp"
#include "generator/printable.hpp"
#include "runtime/files/output_file.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/exchange/import_tables.hpp"
#include "tuner/exchange/stencil_tables.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/print_fitted.hpp"

#include <fmt/format.h>

#include <vector>

namespace stencil_tune {
namespace {

WinnerRecord measured_winner_named(Database& database, const std::string& id) {
  for (const WinnerRecord& winner : WinnerStore(database).list()) {
    if (winner_id(winner.trial) != id) continue;
    if (!winner.trial.predicted) return winner;
    throw NoWinner(fmt::format("winner {} is predicted: only trials that were measured are exchanged", id));
  }
  throw NoWinner(fmt::format("no measured winner '{}': give an id of `stencil-tune list`", printable(id)));
}

std::vector<WinnerRecord> named_winners(const po::variables_map& values, Database& database) {
  if (values.count("winner") > 0) {
    std::vector<WinnerRecord> named;
    for (const std::string& id : split_list(values["winner"].as<std::string>())) {
      named.push_back(measured_winner_named(database, id));
    }
    return named;
  }
  auto winners = WinnerStore(database).list({.predicted = false});
  if (winners.size() == 1) return winners;
  if (winners.empty()) throw NoWinner("nothing was measured yet: tune on a GPU first");
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} were tuned here: say whose trials with --winner ID, an id of `stencil-tune list`",
                          counted(winners.size(), "problem")));
}

const ExchangeFormat& format_from(const po::variables_map& values) {
  return exchange_format(values["format"].as<std::string>());
}

}  // namespace

std::string known_formats() {
  std::string text;
  for (const ExchangeFormat& format : exchange_formats()) {
    text += fmt::format("  {:<16}{}\n", format.name, format.meaning);
  }
  return text;
}

void add_trials_options(CommandLine& line) {
  line.group("trials").add_options()("format", po::value<std::string>()->value_name("NAME"),
                                     "as another tuner keeps them")(
      "winner", po::value<std::string>()->value_name("ID"),
      "of which problem: that of this winner; several, joined by commas, for kernel-launcher");
}

bool exchanges_trials(const po::variables_map& values) {
  const bool has_format = values.count("format") > 0;
  if (has_format || values.count("winner") == 0) return has_format;
  throw Error(ErrorCode::invalid_argument, "--winner goes with --format, which says how its trials are kept");
}

int export_trials(const po::variables_map& values, const std::string& file) {
  const ExchangeFormat& format = format_from(values);
  Database database = open_database_for(values, Access::read);
  const auto winners = named_winners(values, database);
  if (winners.size() > 1 && !format.several_tables) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a file of {} holds the trials of one problem: give one --winner", format.name));
  }
  std::vector<TrialTable> tables;
  std::size_t count = 0;
  for (const WinnerRecord& winner : winners) {
    const TrialRecord& trial = winner.trial;
    tables.push_back(stencil_table(
        TrialStore(database).known(trial.problem, trial.platform.gpu, std::nullopt,
                                   [&](const TrialRecord& each) { return are_comparable(each, trial); })));
    count += tables.back().trials.size();
  }
  const std::string text = format.write(tables);
  if (file.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  write_output_file(file, text);
  print_fitted("{} of {} written to {}\n", counted(count, "trial"), printable(tables.front().kernel), printable(file));
  return 0;
}

int import_trials(const po::variables_map& values, const std::string& file) {
  const ExchangeFormat& format = format_from(values);
  const TablesOfText read = read_tables(table_name(file), read_text(file));
  if (read.format == nullptr) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is not {}", printable(file), format.meaning));
  }
  if (read.format->name != format.name) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is {}: import it with --format {}", printable(file),
                                                         read.format->meaning, read.format->name));
  }
  Database database = open_database_for(values, Access::write);
  std::optional<TrialRecord> like;
  if (values.count("winner") > 0) {
    like = measured_winner_named(database, values["winner"].as<std::string>()).trial;
  }
  const MergeResult result = import_tables(database, read.tables, like);
  print_fitted("{} added, {} here already; the next tune begins with the best of them\n",
               counted(result.added, "trial"), result.duplicates);
  for (const auto& [reason, count] : result.refused) {
    print_fitted("left out, {}: {}\n", counted(count, "trial"), printable(reason));
  }
  return 0;
}

}  // namespace stencil_tune
