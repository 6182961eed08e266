#include "bench/fit/write_trials.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <map>
#include <memory>

namespace stencil_tune {
namespace {

struct Close {
  void operator()(gzFile file) const noexcept { gzclose(file); }
};
using CompressedFile = std::unique_ptr<gzFile_s, Close>;

std::string problem_name(const ProblemKey& key) {
  const std::string stage = key.stage != 0 ? fmt::format(":{}", key.stage) : "";
  return fmt::format("{}{} {} {} {} {} {}", key.stencil_name, stage, name(key.type), to_string(key.extents), key.pitch,
                     to_string(key.boundaries, key.extents.rank), key.steps);
}

/// Whether the name alone leads back to the problem: not where its stencil is a file of somebody's.
bool is_found_by_name(const ProblemKey& key) {
  try {
    return problem_key(parse_recorded_problem(problem_name(key))) == key;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

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
    if (trial.rate <= known.gstencils) continue;
    known = {trial.code, trial.rate, trial.registers, trial.spill_bytes};
  }
  for (const auto& [problem, by_code] : best) {
    RecordedProblem& added = recorded.problems.emplace_back(RecordedProblem{problem, {}});
    for (const auto& [code, trial] : by_code) added.trials.push_back(trial);
  }
  return recorded;
}

void write_recorded_trials(const std::string& path, const RecordedTrials& recorded) {
  std::string text = fmt::format("{}{}\n# {}\n{}\n", kRecordedGpu, recorded.gpu, recorded.origin, kRecordedColumns);
  for (const RecordedProblem& problem : recorded.problems) {
    for (const RecordedTrial& trial : problem.trials) {
      text += fmt::format("{} {:.6g} {} {} {}\n", problem.name, trial.gstencils, trial.registers, trial.spill_bytes,
                          trial.code);
    }
  }
  CompressedFile file(gzopen(path.c_str(), "wb9"));
  if (!file) throw Error(ErrorCode::file_io, fmt::format("cannot open {} to write recorded trials", path));
  const bool written = gzwrite(file.get(), text.data(), static_cast<unsigned>(text.size())) > 0;
  if (gzclose(file.release()) != Z_OK || !written) {
    throw Error(ErrorCode::file_io, fmt::format("cannot write recorded trials to {}", path));
  }
}

}  // namespace stencil_tune
