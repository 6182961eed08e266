#include "tuner/replay/recorded_trials.hpp"

#include "generator/printable.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>

namespace stencil_tune {
namespace {

/// The columns of a problem, then those of a trial; false where one is missing.
bool parse_line(const std::string& line, std::string& problem, RecordedTrial& trial) {
  std::istringstream words(line);
  problem.clear();
  for (int column = 0; column < 6; ++column) {
    std::string word;
    words >> word;
    problem += (column > 0 ? " " : "") + word;
  }
  words >> trial.gstencils >> trial.registers >> trial.spill_bytes >> trial.code;
  return words && trial.gstencils > 0;
}

/// "yee3d:1" names stage 1; "yee3d" names stage 0.
int stage_of(std::string_view stencil) {
  const std::size_t colon = stencil.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::string_view number = stencil.substr(colon + 1);
  int stage = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), stage);
  if (error != std::errc{} || end != number.data() + number.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' names no stage of a stencil", printable(stencil)));
  }
  return stage;
}

}  // namespace

Problem parse_recorded_problem(const std::string& name) {
  std::istringstream words(name);
  std::string stencil, type, dims, boundary;
  std::int64_t pitch = 0;
  int steps = 0;
  words >> stencil >> type >> dims >> pitch >> boundary >> steps;
  const Extents extents = parse_extents(dims, 1);
  return make_problem(find_stencil(stencil.substr(0, stencil.find(':'))), parse_element_type(type),
                      parse_boundaries(boundary, extents.rank), extents, pitch, steps, stage_of(stencil));
}

RecordedTrials read_recorded_trials(const std::string& path) { return parse_recorded_trials(path, read_text(path)); }

RecordedTrials parse_recorded_trials(const std::string& name, const std::string& text) {
  RecordedTrials recorded;
  std::map<std::string, std::size_t> place_of;
  std::istringstream lines(text);
  std::string line, problem;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with(kRecordedGpu)) {
      recorded.gpu = line.substr(kRecordedGpu.size());
    } else if (line.starts_with('#')) {
      if (line != kRecordedColumns) recorded.origin = line.substr(std::min<std::size_t>(2, line.size()));
    } else {
      RecordedTrial trial;
      if (!parse_line(line, problem, trial)) {
        throw Error(ErrorCode::file_io, fmt::format("{}, line {}: no trial: {}", name, number, printable(line)));
      }
      const auto [place, is_new] = place_of.try_emplace(problem, recorded.problems.size());
      if (is_new) recorded.problems.push_back({problem, {}});
      recorded.problems[place->second].trials.push_back(std::move(trial));
    }
  }
  if (recorded.gpu.empty()) {
    throw Error(ErrorCode::file_io, fmt::format("{}: no recorded trials: no line says '{}'", name, kRecordedGpu));
  }
  return recorded;
}

MeasuredProblem parse_recorded(const RecordedProblem& recorded) {
  MeasuredProblem measured{parse_recorded_problem(recorded.name), {}, 0};
  for (const RecordedTrial& trial : recorded.trials) {
    try {
      measured.candidates.push_back({parse_code(trial.code), trial.gstencils, trial.registers, trial.spill_bytes});
    } catch (const Error&) {
      ++measured.passed_over;
    }
  }
  return measured;
}

std::vector<MeasuredProblem> parse_recorded(const RecordedTrials& recorded) {
  std::vector<MeasuredProblem> all;
  for (const RecordedProblem& problem : recorded.problems) {
    MeasuredProblem measured = parse_recorded(problem);
    if (!measured.candidates.empty()) all.push_back(std::move(measured));
  }
  return all;
}

}  // namespace stencil_tune
