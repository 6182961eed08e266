// One session as `tune` and `bench` start it: strategy, workers, database and progress put together.
#pragma once

#include "tuner/commands/options/target.hpp"
#include "tuner/commands/program/command_line.hpp"
#include "tuner/search/search.hpp"
#include "tuner/session/session.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

enum class Effort { quick, standard, exhaustive };

struct TuningSettings {
  Effort effort = Effort::standard;
  SessionOptions session;
  std::uint64_t seed = 1;
  int jobs = 0;                           ///< compilers at once; 0: one per usable core
  std::vector<std::string> candidates{};  ///< codes and names of the textbook: these and no others; empty: search
};

struct TuningOutcome {
  SessionResult result;
  PlatformKey platform;
  std::string check_note;  ///< predictions: how far the finalists were checked
};

/// Options of every session: how long, what wins, seeds and compilers.
void add_session_options(CommandLine& line);

/// The same, and candidates of stencils.
void add_tuning_options(CommandLine& line);

/// --quiet: no progress and no remarks on standard error; results and errors remain.
void add_quiet_option(po::options_description_easy_init output);
bool is_quiet(const po::variables_map& values);

/// --progress: for people, or for programs, which then are told nothing else.
void add_progress_option(po::options_description_easy_init output);
bool has_json_progress(const po::variables_map& values);

/// Tells people on standard error how the session goes, or nobody with --quiet. `gpu`: names it where sessions run side
/// by side; empty: there is one.
std::unique_ptr<SessionObserver> make_progress(const po::variables_map& values, bool predicted,
                                               const std::string& gpu = "");

/// Throws Error(invalid_argument, unknown_name or malformed_code).
TuningSettings tuning_settings(const po::variables_map& values, bool predicted);

/// The candidates that the settings name. Throws Error(illegal_candidate) where the problem has no such kernel of the
/// textbook.
std::vector<Tuning> candidates_for(const TuningSettings& settings, const Problem& problem, const Limits& limits);

/// Where the trials of this target belong. Opens NVRTC: throws Error(missing_library).
PlatformKey platform_of(const Target& target);

/// What workers are started with.
WorkerOptions worker_options(const Target& target, const TuningSettings& settings);

/// A worker for each GPU of the target, the one that races first.
std::vector<std::unique_ptr<DeviceWorker>> start_device_workers(const Subject& subject, const Target& target,
                                                                const WorkerOptions& options, const WorkerTies& ties);

/// All but the first.
std::vector<DeviceWorker*> more_of(const std::vector<std::unique_ptr<DeviceWorker>>& workers);

/// Tidies up what sessions that were killed left behind.
void remove_leftovers();

/// Why the target's GPU cannot verify kernels of several steps on this problem, so that none is proposed; nothing where
/// it can, or where none is asked for.
std::optional<std::string> obstacle_to_fusing(const Problem& problem, const Target& target);

/// What the target allows, less what it could not verify on this problem.
Limits limits_of(const Problem& problem, const Target& target);

/// How the settings say to search; space and model must outlive it.
std::unique_ptr<Strategy> make_strategy(const TuningSettings& settings, const Space& space, const CostModel& model);

/// Winners of every stencil: those of the database (null: none), the site's, and those that ship.
std::vector<WinnerRecord> all_winners(Database* database);

/// Tunes or predicts until the settings say stop or Ctrl-C does.
TuningOutcome run_tuning(const Problem& problem, const Target& target, const TuningSettings& settings,
                         Database& database, SessionObserver& observer);

}  // namespace stencil_tune
