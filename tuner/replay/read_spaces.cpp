#include "generator/input_file.hpp"
#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/replay/formats.hpp"
#include "tuner/replay/recorded_trials.hpp"

#include <fmt/format.h>

#include <string_view>

namespace stencil_tune {
namespace {

RecordedSpace space_of(const std::string& name, const TrialTable& table) {
  SpaceBuilder builder(name);
  for (const TableTrial& trial : table.trials) {
    std::map<std::string, std::string> values;
    for (std::size_t i = 0; i < table.parameters.size(); ++i) values.emplace(table.parameters[i], trial.values[i]);
    ConfigurationRecord evaluation{.cost_ms = trial.compile_ms + trial.benchmark_ms};
    if (trial.outcome == Outcome::ok) evaluation.time_ms = trial.timing.median_ms;
    builder.add(values, evaluation);
  }
  return builder.build();
}

}  // namespace

std::vector<RecordedSpace> read_spaces(const std::string& path) {
  constexpr std::string_view kDatabase = "SQLite format 3";
  if (read_input_file(path, kDatabase.size()).starts_with(kDatabase)) return read_database_spaces(path);
  const std::string text = read_text(path);
  if (text.starts_with(kRecordedGpu)) return parse_trials_spaces(path, text);
  const std::string name = table_name(path);
  std::vector<RecordedSpace> spaces;
  const TablesOfText read = read_tables(name, text);
  for (const TrialTable& table : read.tables) spaces.push_back(space_of(name, table));
  if (read.format != nullptr) return spaces;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is no recorded space: there is neither \"cache\" (Kernel Tuner) nor \"results\" (T4)",
                            printable(path)));
  }
  spaces.push_back(read_csv_space(name, text));
  return spaces;
}

}  // namespace stencil_tune
