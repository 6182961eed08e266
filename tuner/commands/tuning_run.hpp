// One session as `tune` and `bench` start it: strategy, workers, database and progress put together.
#pragma once

#include "tuner/commands/command_line.hpp"
#include "tuner/commands/target.hpp"
#include "tuner/session/session.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace stencil_tune {

enum class Effort { quick, standard, exhaustive };

struct TuningSettings {
  Effort effort = Effort::standard;
  SessionOptions session;
  std::uint64_t seed = 1;
  int jobs = 0;                      ///< compilers at once; 0: one per usable core
  std::vector<Tuning> candidates{};  ///< these and no others; empty: search
};

struct TuningOutcome {
  SessionResult result;
  PlatformKey platform;
  std::string check_note;  ///< predictions: how far the finalists were checked
};

void add_tuning_options(CommandLine& line);

/// Throws Error(invalid_argument or unknown_name).
TuningSettings tuning_settings(const po::variables_map& values, bool predicted);

/// Where the trials of this target belong. Opens NVRTC: throws Error(missing_library).
PlatformKey platform_of(const Target& target);

/// Why the target's GPU cannot verify kernels of several steps on this problem, so that none is proposed; nothing where
/// it can, or where none is asked for.
std::optional<std::string> obstacle_to_fusing(const Problem& problem, const Target& target);

/// Tunes or predicts until the settings say stop or Ctrl-C does.
TuningOutcome run_tuning(const Problem& problem, const Target& target, const TuningSettings& settings,
                         Database& database, SessionObserver& observer);

}  // namespace stencil_tune
