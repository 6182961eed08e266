#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/exchange/json_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kVersion = "1.0";
constexpr const char* kObjective = "time";
constexpr std::size_t kKept = 5;  // configurations of a table, as its own tuner keeps by default

[[noreturn]] void reject(const std::string& name, std::size_t line, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}, line {}: no wisdom of Kernel Launcher: {}", name, line, why));
}

/// "sm_90" of 90
std::string architecture_of(const nlohmann::json& environment) {
  const auto at = environment.find("compute_capability");
  return at != environment.end() && at->is_number_integer() ? fmt::format("sm_{}", at->get<std::int64_t>()) : "";
}

int compute_capability(std::string_view architecture) {
  int number = 0;
  if (architecture.starts_with("sm_")) architecture.remove_prefix(3);
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  return number;
}

/// The table without trials that a line belongs to.
TrialTable heading_of(const TrialTable& header, const nlohmann::json& record) {
  TrialTable table = header;
  const auto environment = record.value("environment", nlohmann::json::object());
  if (environment.is_object()) {
    table.gpu = text_or_empty(environment, "device_name");
    table.architecture = architecture_of(environment);
  }
  table.size = whole_numbers(record.value("problem_size", nlohmann::json()));
  table.origin = record.value("stencil_tune", nlohmann::json());
  return table;
}

bool have_one_heading(const TrialTable& a, const TrialTable& b) {
  return a.gpu == b.gpu && a.size == b.size && a.origin == b.origin;
}

/// Nothing of a line's but its configuration and time.
TableTrial trial_of(const nlohmann::json& record, std::size_t parameters, const std::string& name, std::size_t line) {
  const auto config = record.find("config");
  if (config == record.end() || !config->is_array() || config->size() != parameters) {
    reject(name, line, fmt::format("\"config\" is no array of {} values", parameters));
  }
  TableTrial trial;
  for (const auto& value : *config) {
    if (!is_plain(value)) reject(name, line, "\"config\" holds what is no plain value");
    trial.values.push_back(value_text(value));
  }
  const double ms = time_or_zero(record, kObjective);
  if (ms == 0) reject(name, line, "there is no time");
  trial.timing = {ms, ms, ms, 0};
  trial.rate = time_or_zero(record, "GStencil/s");
  const auto environment = record.value("environment", nlohmann::json::object());
  if (environment.is_object()) trial.when = text_or_empty(environment, "date");
  return trial;
}

TrialTable read_header(const std::string& name, const std::string& line) {
  const auto header = parse_json(line);
  if (!header.is_object()) reject(name, 1, "it is no JSON object");
  if (text_or_empty(header, "version") != kVersion) reject(name, 1, fmt::format("its version is not {}", kVersion));
  if (const std::string objective = text_or_empty(header, "objective"); objective != kObjective) {
    reject(name, 1, fmt::format("its objective is \"{}\"; known is \"time\"", printable(objective)));
  }
  TrialTable table;
  table.kernel = text_or_empty(header, "key");
  const auto parameters = header.value("tunable_parameters", nlohmann::json());
  if (!parameters.is_array()) reject(name, 1, "\"tunable_parameters\" is no array");
  for (const auto& parameter : parameters) {
    if (!parameter.is_string()) reject(name, 1, "\"tunable_parameters\" holds what is no name");
    table.parameters.push_back(parameter.get<std::string>());
  }
  return table;
}

Json record_of(const TrialTable& table, const TableTrial& trial) {
  Json config = Json::array();
  for (const std::string& value : trial.values) config.push_back(Json(value_of(value)));
  Json record{{"config", config}, {"problem_size", table.size}, {kObjective, trial.timing.median_ms}};
  record["environment"] = {
      {"date", trial.when}, {"device_name", table.gpu}, {"compute_capability", compute_capability(table.architecture)}};
  if (trial.rate > 0) record["GStencil/s"] = trial.rate;
  if (!table.origin.is_null()) record["stencil_tune"] = table.origin;
  return record;
}

std::vector<TableTrial> fastest_of(const TrialTable& table) {
  std::vector<TableTrial> trials = table.trials;
  std::erase_if(trials, [](const TableTrial& trial) { return trial.outcome != Outcome::ok; });
  std::stable_sort(trials.begin(), trials.end(),
                   [](const TableTrial& a, const TableTrial& b) { return a.timing.median_ms < b.timing.median_ms; });
  if (trials.size() > kKept) trials.resize(kKept);
  return trials;
}

}  // namespace

std::vector<TrialTable> read_wisdom(const std::string& name, std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);
  const TrialTable header = read_header(name, line);
  std::vector<TrialTable> tables;
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == '#' || line.starts_with("//")) continue;
    const auto record = parse_json(line);
    if (!record.is_object()) reject(name, number, "it is no JSON object");
    const TrialTable heading = heading_of(header, record);
    auto table = std::find_if(tables.begin(), tables.end(),
                              [&](const TrialTable& each) { return have_one_heading(each, heading); });
    if (table == tables.end()) table = tables.insert(tables.end(), heading);
    table->trials.push_back(trial_of(record, header.parameters.size(), name, number));
  }
  return tables;
}

std::string wisdom(std::span<const TrialTable> tables) {
  const TrialTable& first = tables.front();
  for (const TrialTable& table : tables) {
    if (table.kernel == first.kernel && table.parameters == first.parameters) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("Kernel Launcher keeps a file for each kernel: {} and {} do not go into one",
                            printable(first.kernel), printable(table.kernel)));
  }
  const auto line = [](const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n'; };
  std::string text = line({{"version", kVersion},
                           {"objective", kObjective},
                           {"tunable_parameters", first.parameters},
                           {"key", first.kernel}});
  for (const TrialTable& table : tables) {
    for (const TableTrial& trial : fastest_of(table)) text += line(record_of(table, trial));
  }
  return text;
}

}  // namespace stencil_tune
