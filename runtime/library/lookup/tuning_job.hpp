// Tuning on a miss: what is handed to the installed `stencil-tune`.
#pragma once

#include "generator/stencil/problem.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace stencil_tune {

/// What a lookup did not find.
struct TuningJob {
  std::string device;             ///< UUID
  std::vector<Problem> problems;  ///< one a stage
};

struct TunerOptions {
  std::string program;               ///< a path, or a name to be found on the PATH
  double seconds = 0;                ///< for each problem
  bool is_race = false;              ///< so long the GPU times the best few; else a search takes so long
  std::filesystem::path database{};  ///< empty: the user's own
};

/// What was named, else STENCIL_TUNE_PROGRAM, else "stencil-tune".
std::string tuner_program(const std::string& named = {});

/// Arguments of `stencil-tune` that tune one problem of the job; `definition` is the file that defines its stencil.
std::vector<std::string> tuner_arguments(const TunerOptions& options, const TuningJob& job, const Problem& problem,
                                         const std::filesystem::path& definition);

/// Runs the program for each problem and waits for it.
/// Throws Error(file_io) when it cannot be started, Error(launch_failed) with its last words when it fails.
void run_tuner(const TunerOptions& options, const TuningJob& job);

}  // namespace stencil_tune
