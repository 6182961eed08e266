#include "bench/fit/recorded_trials.hpp"

#include "generator/definition/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::string_view kGpu = "# GPU: ";
constexpr std::string_view kColumns =
    "# stencil type dims pitch boundary steps GStencil/s registers spilled-bytes code";

struct Close {
  void operator()(gzFile file) const noexcept { gzclose(file); }
};
using CompressedFile = std::unique_ptr<gzFile_s, Close>;

CompressedFile open_compressed(const std::string& path, const char* mode) {
  CompressedFile file(gzopen(path.c_str(), mode));
  if (!file) throw Error(ErrorCode::file_io, fmt::format("cannot open recorded trials {}", path));
  return file;
}

bool read_line(gzFile file, std::string& line) {
  std::array<char, 512> buffer{};
  line.clear();
  while (gzgets(file, buffer.data(), static_cast<int>(buffer.size())) != nullptr) {
    line += buffer.data();
    if (line.ends_with('\n')) {
      line.pop_back();
      return true;
    }
  }
  return !line.empty();
}

/// The columns of a problem, then those of a trial; false where one is missing.
bool parse_line(const std::string& line, std::string& problem, RecordedTrial& trial) {
  std::istringstream words(line);
  problem.clear();
  for (int column = 0; column < 6; ++column) {
    std::string word;
    words >> word;
    problem += (column > 0 ? " " : "") + word;
  }
  return static_cast<bool>(words >> trial.gstencils >> trial.registers >> trial.spill_bytes >> trial.code);
}

Stencil find_stencil(const std::string& stencil) {
  const std::string definition = "corpus/" + stencil + ".toml";
  return std::filesystem::exists(definition) ? load_definition(definition) : find_builtin(stencil);
}

std::string problem_name(const ProblemKey& key) {
  const std::string stage = key.stage != 0 ? fmt::format(":{}", key.stage) : "";
  return fmt::format("{}{} {} {} {} {} {}", key.stencil_name, stage, name(key.type), to_string(key.extents), key.pitch,
                     to_string(key.boundaries, key.extents.rank), key.steps);
}

Problem parse_problem(const std::string& name) {
  std::istringstream words(name);
  std::string stencil, type, dims, boundary;
  std::int64_t pitch = 0;
  int steps = 0;
  words >> stencil >> type >> dims >> pitch >> boundary >> steps;
  const std::size_t colon = stencil.find(':');
  const int stage = colon == std::string::npos ? 0 : std::stoi(stencil.substr(colon + 1));
  const Extents extents = parse_extents(dims, 1);
  return make_problem(find_stencil(stencil.substr(0, colon)), parse_element_type(type),
                      parse_boundaries(boundary, extents.rank), extents, pitch, steps, stage);
}

/// Whether the name alone leads back to the problem: not where its stencil is a file of somebody's.
bool is_found_by_name(const ProblemKey& key) {
  try {
    return problem_key(parse_problem(problem_name(key))) == key;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

RecordedTrials read_recorded_trials(const std::string& path) {
  const CompressedFile file = open_compressed(path, "rb");
  RecordedTrials recorded;
  std::map<std::string, std::size_t> place_of;
  std::string line, problem;
  for (int number = 1; read_line(file.get(), line); ++number) {
    if (line.starts_with(kGpu)) {
      recorded.gpu = line.substr(kGpu.size());
    } else if (line.starts_with('#')) {
      if (line != kColumns) recorded.origin = line.substr(2);
    } else {
      RecordedTrial trial;
      if (!parse_line(line, problem, trial)) {
        throw Error(ErrorCode::file_io, fmt::format("{}, line {}: no trial: {}", path, number, line));
      }
      const auto [place, is_new] = place_of.try_emplace(problem, recorded.problems.size());
      if (is_new) recorded.problems.push_back({problem, {}});
      recorded.problems[place->second].trials.push_back(std::move(trial));
    }
  }
  if (recorded.gpu.empty()) {
    throw Error(ErrorCode::file_io, fmt::format("{}: no recorded trials: no line says '{}'", path, kGpu));
  }
  return recorded;
}

void write_recorded_trials(const std::string& path, const RecordedTrials& recorded) {
  std::string text = fmt::format("{}{}\n# {}\n{}\n", kGpu, recorded.gpu, recorded.origin, kColumns);
  for (const RecordedProblem& problem : recorded.problems) {
    for (const RecordedTrial& trial : problem.trials) {
      text += fmt::format("{} {:.6g} {} {} {}\n", problem.name, trial.gstencils, trial.registers, trial.spill_bytes,
                          trial.code);
    }
  }
  CompressedFile file = open_compressed(path, "wb9");
  const bool written = gzwrite(file.get(), text.data(), static_cast<unsigned>(text.size())) > 0;
  if (gzclose(file.release()) != Z_OK || !written) {
    throw Error(ErrorCode::file_io, fmt::format("cannot write recorded trials to {}", path));
  }
}

RecordedTrials recorded_in(std::span<const TrialRecord> trials) {
  RecordedTrials recorded;
  std::map<std::string, std::map<std::string, RecordedTrial>> best;
  for (const TrialRecord& trial : trials) {
    if (trial.predicted || trial.outcome != Outcome::ok) continue;
    if (recorded.gpu.empty()) recorded.gpu = trial.platform.gpu;
    if (recorded.gpu != trial.platform.gpu) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("trials of {} and {}: record each GPU apart", recorded.gpu, trial.platform.gpu));
    }
    const std::string problem = problem_name(trial.problem);
    if (!best.contains(problem) && !is_found_by_name(trial.problem)) continue;
    recorded.origin = fmt::format("Driver {}, NVRTC {}, until {}", trial.platform.driver, trial.platform.nvrtc,
                                  trial.created_at.substr(0, 10));
    RecordedTrial& known = best[problem][trial.code];
    if (trial.gstencils <= known.gstencils) continue;
    known = {trial.code, trial.gstencils, trial.registers, trial.spill_bytes};
  }
  for (const auto& [problem, by_code] : best) {
    RecordedProblem& added = recorded.problems.emplace_back(RecordedProblem{problem, {}});
    for (const auto& [code, trial] : by_code) added.trials.push_back(trial);
  }
  return recorded;
}

MeasuredProblem parse_recorded(const RecordedProblem& recorded) {
  MeasuredProblem measured{parse_problem(recorded.name), {}, 0};
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
