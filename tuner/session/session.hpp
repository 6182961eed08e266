// The tuning loop: propose, compile ahead, verify and time, remember, race the finalists.
#pragma once

#include "db/database.hpp"
#include "db/records.hpp"
#include "tuner/measure/clock.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/workers/worker.hpp"

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// What a race can rank candidates by for so many steps: sweeps race in bursts, and predictions know nothing else.
Objective race_objective(Objective asked, int steps, bool predicted);

/// What a session may take in place of its budget, once the best that it has is worth it.
struct LongerSession {
  std::function<bool(const TrialRecord& best)> where;
  double budget_s;
  double most_s;
};

struct SessionOptions {
  double budget_s = 60;  ///< the whole session's, getting ready and race included; infinity: until the strategy has no
                         ///< more
  std::optional<double> most_s;  ///< when it ends at the latest; empty: the budget and grace_s() of it
  double spent_s = 0;            ///< what of the budget was spent before the session
  std::optional<LongerSession> longer{};
  /// A race of few: the budget is the device's, it begins when that is ready, and the session ends with it, but not
  /// before this candidate was timed, which would run untuned: where the machine kept it from that, nothing wins.
  /// Nothing races under load, and no remainders are timed.
  /// "": none would; empty: no such race.
  std::optional<std::string> race_against{};
  int max_trials = 0;  ///< new trials of the search; 0: no limit. A run adds those of its finalists' remainders
  int finalists = 6;
  RacePlan race{};  ///< but for how many race under load, which follows from the subject, the objective and the budget
  Objective objective = Objective::time;
  bool bursts_alone = false;  ///< finalists of a run race in bursts alone, which leaves more time to the search
  bool predicted = false;     ///< the device worker is a model: trials are stored as predicted
};

/// When a session that does not become longer ends at the latest, since its beginning.
double latest_end_s(const SessionOptions& options);

enum class StopReason { budget, max_trials, exhausted, interrupted };

std::string_view name(StopReason reason) noexcept;

/// What a session is doing, for whoever watches.
struct Progress {
  enum class Phase { starting, searching, racing };
  Phase phase = Phase::starting;
  double elapsed_s = 0;
  double budget_s = 0;
  int trials = 0;     ///< finished in this session
  int compiling = 0;  ///< candidates with the compilers
  int max_trials = 0;
  int failed = 0;
  int known = 0;  ///< from earlier sessions
  double ceiling_gbs = 0;
  std::optional<TrialRecord> best;  ///< from this and earlier sessions
};

/// Told what happens, from the session's thread.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void started(const DeviceSession& device, const Progress& progress) = 0;
  virtual void finished_trial(const TrialRecord& trial, const Progress& progress) = 0;
  virtual void idle(const Progress& progress) = 0;    ///< several times a second while nothing happens
  virtual void waiting(const std::string& what) = 0;  ///< for something that may take long
};

/// A kernel to compare the winner with.
struct BaselineResult {
  std::string name;
  std::optional<TrialRecord> trial;  ///< empty when there is none
  std::string reason;                ///< then: why
};

struct SessionResult {
  DeviceSession device;
  StopReason stopped = StopReason::budget;
  int trials = 0;
  int known = 0;
  std::map<Outcome, int> failures;
  std::optional<TrialRecord> winner;  ///< the winner of a race, this session's or an earlier one's
  std::optional<TrialRecord> best;    ///< the fastest timed alone; may not win before it has raced
  std::vector<BaselineResult> baselines;
  std::vector<TrialRecord> finalists;    ///< as raced, best by the objective first; empty when there was no race
  std::vector<std::string> passed_over;  ///< known candidates that cannot run, "CODE: reason" (db/stored_code.hpp)
  double seconds = 0;
  double choosing_seconds = 0;         ///< the part of them that the first candidates' choice took
  double ready_seconds = 0;            ///< the part of them that making the device ready took
  bool was_ready = false;              ///< whether the device became ready
  int unfinished = 0;                  ///< candidates that were still being compiled at the end
  double device_seconds = 0;           ///< work of all device workers, added up
  std::vector<int> trials_of_devices;  ///< what each came to an end with, in the search
};

/// What is compared with the winner. `code` is empty where there is none, with the reason.
struct NamedCandidate {
  std::string name;
  std::optional<std::string> code;
  std::string reason;
};

/// Everything a session works with; all must outlive it.
struct SessionParts {
  const Subject& subject;
  PlatformKey platform;
  SearchStrategy<std::string>& strategy;
  CompileWorkers& compilers;
  DeviceWorker& device;
  Database& database;
  const Clock& clock;
  SessionObserver& observer;
  const std::atomic<bool>& stop;           ///< set by a signal handler: finish the trial at hand and end
  std::vector<NamedCandidate> baselines;   ///< what stands beside the winner whatever its rank
  std::vector<std::string> warm_starts{};  ///< candidates to try first, legal ones: see warm_starts.hpp
  std::vector<DeviceWorker*>
      more_devices{};  ///< on the same GPU model; they share the trials, and `device` races the finalists
};

/// Runs until the budget is spent, the trials are made, the strategy has no more, or `stop` is set. Ends with the best
/// that it has by SessionOptions::most_s, but for the step that is then at work; what is being compiled is left alone.
/// Known trials of the same subject and GPU that are not stale are told to the strategy and not repeated; the best of
/// them are compiled anew and race with the new finalists. Candidates that cannot run are passed over. One whose
/// compiler was killed or ran out of time is compiled once more, in this session or the next. Each finished trial is on
/// disk before the next one starts on its device. Several devices share the trials, and none waits for another; one
/// that is lost leaves the others going. A session that is stopped does not race: what it found races in the next one.
/// Throws what DeviceWorker::start and the database throw; trials made until then are kept.
SessionResult run_session(const SessionParts& parts, const SessionOptions& options);

}  // namespace stencil_tune
