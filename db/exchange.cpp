#include "db/exchange.hpp"

#include "db/rows/fields.hpp"
#include "db/rows/object_reader.hpp"
#include "db/rows/validate.hpp"
#include "db/stored_code.hpp"
#include "generator/input_file.hpp"
#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "stencil-tune winners";
constexpr int kVersion = 1;
constexpr int kDeepest = 3;  // file, list, winner, trial

Json to_json(const WinnerRecord& winner) {
  Json trial = Json::object();
  visit_trial(winner.trial, as_columns([&](std::string_view field, auto value) { trial[std::string(field)] = value; }));
  return {{"naive_rate", winner.naive_rate}, {"trials_seen", winner.trials_seen}, {"trial", trial}};
}

WinnerRecord winner_from_json(const Json& json, const std::string& where) {
  WinnerRecord winner;
  ObjectReader reader(json, where);
  reader("naive_rate", winner.naive_rate);
  reader("trials_seen", winner.trials_seen);
  ObjectReader trial(reader.take("trial"), where);
  reader.expect_no_more();
  visit_trial(winner.trial, trial);
  trial.expect_no_more();
  if (!std::isfinite(winner.naive_rate) || winner.naive_rate < 0) {
    reject_import(where + ": 'naive_rate' must be finite and not negative");
  }
  if (winner.trials_seen < 0) reject_import(where + ": 'trials_seen' must not be negative");
  if (winner.trial.outcome != Outcome::ok) reject_import(where + ": a winner's outcome must be ok");
  validate_foreign(winner.trial);
  return winner;
}

/// Called for every value as it is read, so that what goes deeper than a trial's fields never takes memory.
bool require_shallow(int depth, Json::parse_event_t event, Json&) {
  const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
  if (opens && depth > kDeepest) reject_import("it is nested more deeply than winners are");
  return true;
}

/// Without the exception's own name and number.
std::string_view reason(const Json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
  return end == std::string_view::npos ? text : text.substr(end + 2);
}

/// The error of one winner says which.
WinnerRecord winner_from_json(const Json& json, std::size_t index) {
  const std::string where = fmt::format("winner {}", index + 1);
  try {
    return winner_from_json(json, where);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with("import: ")) throw;
    reject_import(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace

std::string format_winners(std::span<const WinnerRecord> winners) {
  Json list = Json::array();
  for (const WinnerRecord& winner : winners) list.push_back(to_json(winner));
  const Json file{{"format", kFormat}, {"version", kVersion}, {"winners", std::move(list)}};
  // In plain ASCII, since it may go to a terminal. Names may hold bytes that are no UTF-8; they are for people, so a
  // replacement character will do.
  return file.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

std::string read_winners_file(const std::filesystem::path& path) {
  std::string text = read_input_file(path, kLongestWinners);
  if (text.size() > kLongestWinners) {
    reject_import(
        fmt::format("'{}' holds more than {} MiB: more than any winners take", path.string(), kLongestWinners >> 20));
  }
  return text;
}

std::vector<WinnerRecord> parse_winners(std::string_view text) {
  Json file;
  try {
    file = Json::parse(text, require_shallow);
  } catch (const Json::exception& error) {
    reject_import(fmt::format("the text is not valid JSON: {}", reason(error)));
  }
  std::string format;
  int version = 0;
  ObjectReader reader(file, "the text");
  reader("format", format);
  if (format != kFormat) reject_import(fmt::format("its format is '{}', not '{}'", format, kFormat));
  reader("version", version);
  if (version < 1 || version > kVersion) {
    reject_import(
        fmt::format("its version is {}, this program reads up to {}; use a newer stencil-tune", version, kVersion));
  }
  const Json& list = reader.take("winners");
  reader.expect_no_more();
  if (!list.is_array()) reject_import("'winners' must be a list");
  std::vector<WinnerRecord> winners;
  for (std::size_t i = 0; i < list.size(); ++i) winners.push_back(winner_from_json(list[i], i));
  return winners;
}

ImportResult import_winners(Database& database, std::string_view text) {
  ImportResult result;
  std::vector<WinnerRecord> winners;
  for (WinnerRecord& winner : parse_winners(text)) {
    if (auto objection = objection_to(winner.trial)) {
      result.cannot_run.push_back(std::move(*objection));
      continue;
    }
    if (is_stale(winner.trial)) result.stale.push_back(winner);
    winners.push_back(std::move(winner));
  }
  result.merged = merge_winners(database, winners);
  return result;
}

}  // namespace stencil_tune
