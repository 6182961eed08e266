// A session put together: strategy, workers, what is tried first and what the winner is compared with. Both subjects go
// through it, a stencil's problem and a kernel of the user's own.
#pragma once

#include "generator/user_kernel/user_kernel.hpp"
#include "runtime/model/model.hpp"
#include "tuner/search/search.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/target.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

inline const std::atomic<bool> kNeverStopped{false};

struct TuningSettings {
  SessionOptions session;
  std::uint64_t seed = 1;
  int jobs = 0;                                    ///< compilers at once; 0: one per usable core
  bool is_exhaustive = false;                      ///< every legal candidate of a stencil, in place of a search
  bool every_stage = false;                        ///< each is tuned, also where whole steps beat what these can reach
  int beside = 1;                                  ///< grids that run at once while a stencil's candidate is timed
  std::vector<std::string> candidates{};           ///< codes and names of the textbook: these alone; empty: search
  const std::atomic<bool>* stop = &kNeverStopped;  ///< set by a signal handler: sessions end in good order
};

struct TuningOutcome {
  SessionResult result;
  PlatformKey platform;
  std::string check_note;  ///< predictions: how far the finalists were checked
};

/// Tunes or predicts until the settings say stop.
/// Throws Error: missing_library where NVRTC is not there, what StencilSearch and run_session throw.
TuningOutcome tune_stencil(const Problem& problem, const Target& target, const TuningSettings& settings,
                           Database& database, SessionObserver& observer);

/// Tunes on a GPU until the settings say stop. `search`: of the kernel's configurations. Throws as tune_stencil does.
TuningOutcome tune_user_kernel(const UserKernel& kernel, SearchStrategy<std::string>& search, const Target& target,
                               const TuningSettings& settings, Database& database, SessionObserver& observer);

/// How a session searches a stencil's candidates, and which it tries first. Problem and settings must outlive it.
struct StencilSearch {
  /// database: null where there is none yet. Throws as asked_candidates and make_listed do.
  StencilSearch(const Problem& problem, const Target& target, const TuningSettings& settings, Database* database,
                Thinking thinking = {});
  StencilSearch(const StencilSearch&) = delete;
  StencilSearch& operator=(const StencilSearch&) = delete;

  Limits limits;  ///< the target's, without fused steps where it could not verify them
  Space space;
  PerformanceModel model;
  std::vector<Tuning> asked;          ///< settings.candidates
  std::vector<WinnerRecord> winners;  ///< of every stencil: the database's, the site's, those that ship
  std::optional<Tuning> untuned;      ///< what the library would run if nobody tuned
  std::optional<Tuning> drawn;        ///< a candidate that fuses steps, where none of these winners' does
  std::vector<Tuning> warm_starts;    ///< those that fuse steps first; none where candidates are asked for
  std::unique_ptr<Strategy> strategy;
};

/// A candidate by its code, or by the name that one of the textbook's kernels has in the reports ("pmpp-tiled").
/// Throws Error(malformed_code); Error(illegal_candidate) where the textbook has no such kernel for the problem.
Tuning candidate_from(const std::string& text, const Problem& problem, const Limits& limits);

/// settings.candidates. Throws as candidate_from does.
std::vector<Tuning> asked_candidates(const TuningSettings& settings, const Problem& problem, const Limits& limits);

/// Where the trials of this target belong. Opens NVRTC: throws Error(missing_library).
PlatformKey platform_of(const Target& target);

/// What compile workers are started with, and device workers but for their device.
WorkerOptions worker_options(const Target& target, const TuningSettings& settings);

/// Tidies up what sessions that were killed left behind.
void remove_leftovers();

/// Why the target's GPU cannot verify kernels of several steps on this problem, so that none is proposed; nothing where
/// it can, or where none is asked for.
std::optional<std::string> obstacle_to_fusing(const Problem& problem, const Target& target);

/// Where candidates are not compared in all cells: in which.
std::optional<std::string> note_of_checks(const Problem& problem, const Target& target);

}  // namespace stencil_tune
