#include "tuner/session/session.hpp"

#include "db/trial_store.hpp"
#include "db/winner_choice.hpp"
#include "db/winner_store.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/session/run_plan.hpp"
#include "tuner/session/trials/candidate_queue.hpp"
#include "tuner/session/trials/contenders.hpp"
#include "tuner/session/trials/kept_binaries.hpp"
#include "tuner/session/trials/seen_trials.hpp"
#include "tuner/session/trials/time_budget.hpp"
#include "tuner/session/trials/trial_record.hpp"
#include "tuner/workers/device_team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kMostBeyondBudget = 20;  // trials of a session that has found nothing yet
constexpr double kDropFactor = 1.5;
constexpr double kRaceCapMs = 150;  // a trial's in a race of few, whose finalists are timed again
constexpr std::size_t kIncumbents = 3;
constexpr int kAwaited = 3;  // kernels that fuse steps: winners that ship come first, then the model's optima
constexpr double kChoosingAtOnceS = 1, kChoosingShare = 0.3;  // the share is that of the budget
constexpr std::chrono::milliseconds kPollInterval{100};

/// Rates of runs are those of hours, so that they are always measured under load too.
bool races_under_load(const Subject& subject, const SessionOptions& options) {
  const bool is_run = subject.steps() > 1 && !options.bursts_alone;
  return !options.predicted && !options.race_against && (is_run || options.objective == Objective::energy);
}

std::string session_name(const SessionOptions& options) {
  return options.race_against ? fmt::format("{}{:g} s at {}", kRaceSession, options.budget_s, utc_now()) : utc_now();
}

std::vector<DeviceWorker*> workers_of(const SessionParts& parts) {
  std::vector<DeviceWorker*> all{&parts.device};
  all.insert(all.end(), parts.more_devices.begin(), parts.more_devices.end());
  return all;
}

class Session {
 public:
  Session(const SessionParts& parts, const SessionOptions& options)
      : parts_(parts),
        options_(options),
        trials_(parts.database),
        winners_(parts.database),
        context_{parts.subject,
                 parts.platform,
                 0,
                 options.predicted,
                 session_name(options),
                 race_objective(options.objective, parts.subject.steps(), options.predicted)},
        devices_(workers_of(parts), parts.clock, [this](const std::string& what) { parts_.observer.waiting(what); }),
        contenders_(parts.subject, static_cast<std::size_t>(options.finalists),
                    races_under_load(parts.subject, options)),
        queue_(parts.strategy, parts.compilers, options.max_trials, devices_.size()),
        seen_(parts.subject),
        time_(parts.clock,
              {.budget_s = options.budget_s,
               .most_s = latest_end_s(options),
               .spent_s = options.spent_s,
               .is_run = parts.subject.steps() > 1 && !options.predicted && !options.race_against,
               .least_load_s = races_under_load(parts.subject, options) ? load_race_s(options.race, 1) : 0}) {}

  SessionResult run() {
    look_through_earlier_trials();
    recall_known_trials();
    queue_first_candidates();
    submit_ahead();  // compiling goes on while the device makes ready
    result_.choosing_seconds = time_.elapsed_s() - options_.spent_s;
    result_.stopped = make_ready() ? search() : parts_.stop ? StopReason::interrupted : StopReason::budget;
    if (result_.stopped != StopReason::interrupted && result_.was_ready && !lacks_rival_) race();
    return conclude();
  }

 private:
  // ---- before the search

  void look_through_earlier_trials() {
    for (const TrialRecord& trial : trials_.find({.problem = context_key(), .gpu = parts_.platform.gpu})) {
      if (deserves_another_try(trial.outcome)) tried_again_.insert(trial.code);
      if (trial.outcome != Outcome::ok || cannot_run_.contains(trial.code)) continue;
      auto objection = parts_.subject.objection_to(trial);
      if (!objection) continue;
      cannot_run_.insert(trial.code);
      result_.passed_over.push_back(std::move(*objection));
    }
  }

  // Stale trials are not among them, nor those of other data, nor what another model predicted.
  void recall_known_trials() {
    const auto model = options_.predicted ? std::optional<std::string_view>(parts_.platform.model) : std::nullopt;
    auto known = trials_.known(context_key(), parts_.platform.gpu, model, [&](const TrialRecord& trial) {
      return trial.platform.template_signature == parts_.subject.signature(trial.code);
    });
    std::erase_if(known, [&](const TrialRecord& trial) { return cannot_run_.contains(trial.code); });
    result_.known = static_cast<int>(known.size());
    for (const TrialRecord& trial : known) {
      parts_.strategy.report(trial.code, score(trial));
      seen_.add(trial);
    }
    // The incumbents: they are compiled anew, because the race needs their binaries.
    const auto ranking = ranked_codes(known);
    if (!ranking.empty()) best_ = ranking.front();
    if (std::any_of(ranking.begin(), ranking.end(), [&](const TrialRecord& trial) { return fuses(trial.code); })) {
      left_to_await_ = 0;
    }
    for (std::size_t i = 0; i < ranking.size() && i < kIncumbents; ++i) {
      queue_.add_incumbent(ranking[i].code);
    }
    const auto winner = choose_winner(known, context_.objective);
    if (!winner || winner->sustained_rate <= 0) return;
    won_before_ = winner->code;
    if (std::none_of(ranking.begin(),
                     ranking.begin() + static_cast<std::ptrdiff_t>(std::min(kIncumbents, ranking.size())),
                     [&](const TrialRecord& trial) { return trial.code == won_before_; })) {
      queue_.add_incumbent(won_before_);
    }
  }

  void queue_first_candidates() {
    std::vector<std::string> warm_starts = parts_.warm_starts;
    std::erase_if(warm_starts, [&](const std::string& candidate) { return seen_.contains(candidate); });
    // One compiler alone would keep the session without a result for as long as a kernel that fuses steps takes it.
    const auto plain = std::find_if(warm_starts.begin(), warm_starts.end(),
                                    [&](const std::string& candidate) { return !fuses(candidate); });
    if (parts_.compilers.width() == 1 && plain != warm_starts.end()) std::rotate(warm_starts.begin(), plain, plain + 1);
    for (const std::string& candidate : warm_starts) {
      if (options_.race_against == candidate) {
        queue_.add_before_all(candidate);
        lacks_rival_ = true;
      }
      queue_.add_warm_start(candidate);
    }
    for (const NamedCandidate& baseline : parts_.baselines) {
      if (baseline.code) queue_.add_baseline(*baseline.code, seen_.contains(*baseline.code));
    }
  }

  /// False where a stop or the session's end came first.
  bool make_ready() {
    const double before = parts_.clock.seconds();
    try {
      result_.device = devices_.start();
      result_.was_ready = true;
    } catch (const Error& error) {
      if (!parts_.stop && error.code() != ErrorCode::timeout) throw;
    }
    result_.ready_seconds = parts_.clock.seconds() - before;
    if (!result_.was_ready) return false;
    if (options_.race_against) time_.begin();
    context_.ceiling_gbs = result_.device.ceiling_gbs;
    parts_.observer.started(result_.device, progress(Progress::Phase::searching));
    return true;
  }

  // ---- the search

  StopReason search() {
    const StopReason reason = search_on();
    finish_running();
    return reason;
  }

  StopReason search_on() {
    for (;;) {
      if (parts_.stop) return StopReason::interrupted;
      const auto& longer = options_.longer;
      if (longer && best_ && longer->where(*best_)) time_.lengthen(longer->budget_s, longer->most_s);
      const bool goes_on = !time_.search_is_over() || nothing_yet();
      if (!goes_on && !awaits_compilers()) return StopReason::budget;
      if (options_.max_trials > 0 && result_.trials >= options_.max_trials) return StopReason::max_trials;
      if (goes_on) submit_ahead();
      if (queue_.is_exhausted() && devices_.running() == 0) return StopReason::exhausted;
      if (goes_on) relaunch();
      step();
    }
  }

  /// Where compilers keep devices waiting, these launch kernels that they had before in other ways.
  void relaunch() {
    while (may_relaunch()) {
      const auto relaunch =
          parts_.strategy.propose_relaunch([&](const std::string& code) { return binaries_.contains(code); });
      if (!relaunch) return;
      if (queue_.comes_first(relaunch->candidate)) continue;
      CompileResult compiled{relaunch->candidate, Outcome::ok, {}, binaries_.at(relaunch->compiled)};
      handle(compiled);
    }
  }

  bool may_relaunch() {
    const bool may_try_more = options_.max_trials <= 0 || result_.trials + devices_.running() < options_.max_trials;
    return may_try_more && !options_.predicted && devices_.has_free() && !queue_.has_compiled();
  }

  /// What is compiled goes to a device that is free; what a device is done with is concluded from. Waits a moment where
  /// there is neither. Returns the candidate that was compiled.
  std::optional<std::string> step() {
    std::optional<std::string> taken;
    const bool has_free = devices_.has_free();
    if (has_free) {
      if (auto compiled = queue_.next_compiled()) {
        taken = compiled->code;
        handle(*compiled);
      }
    }
    const bool concluded = take_done(has_free ? std::chrono::milliseconds{0} : kPollInterval);
    if (!taken && !concluded) parts_.observer.idle(progress(Progress::Phase::searching));
    return taken;
  }

  void finish_running() {
    while (devices_.running() > 0) {
      if (!take_done(kPollInterval)) parts_.observer.idle(progress(Progress::Phase::searching));
    }
  }

  bool take_done(std::chrono::milliseconds wait) {
    auto done = devices_.poll(wait);
    if (!done) return false;
    result_.device_seconds += done->seconds;
    conclude_from(*done);
    return true;
  }

  /// Nobody waits long for a strategy while compilers or devices have work.
  void submit_ahead() {
    const double begun_s = time_.elapsed_s();
    const double most_s = result_.was_ready ? kChoosingAtOnceS : kChoosingShare * options_.budget_s;
    const auto goes_on = [&] {
      const bool can_wait = queue_.outstanding() == 0 || time_.elapsed_s() < begun_s + most_s;
      return can_wait && (!time_.search_is_over() || nothing_yet());
    };
    for (const std::string& candidate : queue_.submit_ahead(goes_on)) {
      if (options_.race_against == candidate) awaits_rival_ = true;
      if (left_to_await_ > 0 && fuses(candidate) && awaited_.insert(candidate).second) --left_to_await_;
    }
  }

  /// All stages of a step, or several steps in one launch.
  bool fuses(const std::string& candidate) const {
    return parts_.subject.sweeps(candidate) > 1 || context_key().stage == kWholeStep;
  }

  /// What fuses steps is the fastest in most runs, and takes compilers longer than all else: without it a short search
  /// would end with what is compiled soonest.
  bool awaits_compilers() const {
    if (awaits_rival_) return true;  // it is to be compiled before anything can run
    return !options_.predicted && !awaited_.empty() && time_.may_wait_for_compilers();
  }

  bool nothing_yet() const { return !best_ && result_.trials < kMostBeyondBudget && !time_.race_has_to_begin(); }

  void handle(CompileResult& compiled) {
    const std::string& candidate = compiled.code;
    if (options_.race_against == candidate) awaits_rival_ = false;
    if (deserves_another_try(compiled.outcome) && tried_again_.insert(candidate).second) {
      if (!queue_.is_incumbent(candidate)) note_failure(failed_trial(context_, compiled));
      queue_.submit(candidate);
      return;
    }
    if (queue_.take_incumbent(candidate)) {
      if (compiled.outcome == Outcome::ok) {
        contenders_.add(candidate, std::move(compiled.kernel), seen_.median_ms(candidate), candidate == won_before_);
      }
      return;
    }
    if (compiled.outcome != Outcome::ok) {
      finish(failed_trial(context_, compiled), false);
      return;
    }
    MeasurePlan plan;
    plan.drop_factor = kDropFactor;
    if (options_.race_against) plan.cap_ms = kRaceCapMs;
    // Baselines stand in the final table: they are timed to the end however slow they are.
    if (!queue_.is_baseline(candidate) && best_) plan.best_ms = best_->timing.median_ms;
    devices_.submit(std::move(compiled), plan);
  }

  void conclude_from(DeviceTeam::Done& done) {
    const std::string& candidate = done.compiled.code;
    const DeviceResult& timed = done.result;
    if (was_stopped(timed)) return;
    TrialRecord trial = device_trial(context_, candidate, done.compiled.kernel, timed);
    if (deserves_another_try(timed.outcome) && tried_again_.insert(candidate).second) {
      note_failure(std::move(trial));
      queue_.submit(candidate);
    } else {
      const bool contends =
          timed.outcome == Outcome::ok && !timed.dropped && is_sharp(trial) && !remainders_.contains(candidate);
      finish(std::move(trial), timed.dropped);
      if (contends && fuses(candidate)) binaries_.add(candidate, done.compiled.kernel, timed.timing.median_ms);
      if (contends) contenders_.add(candidate, std::move(done.compiled.kernel), timed.timing.median_ms);
    }
    if (devices_.size() > 0) return;
    throw Error(ErrorCode::device_lost,
                "the GPU was lost for candidate after candidate; all trials are kept, run the same command again when "
                "it is back (last: " +
                    timed.message + ")");
  }

  /// Stores the trial of a candidate that is tried again; no more is concluded from it.
  void note_failure(TrialRecord trial) {
    trial.id = store(trial);
    ++result_.failures[trial.outcome];
    seen_.add(trial);
  }

  void finish(TrialRecord trial, bool dropped) {
    const bool ok = trial.outcome == Outcome::ok;
    const bool is_known_of = !deserves_another_try(trial.outcome) && trial.outcome != Outcome::timeout;
    if (options_.race_against == trial.code && is_known_of) lacks_rival_ = false;
    trial.id = store(trial);
    awaited_.erase(trial.code);
    ++result_.trials;
    if (!ok) ++result_.failures[trial.outcome];
    parts_.strategy.report(trial.code, score(trial));
    if (ok && !dropped && is_sharp(trial) && (!best_ || trial.rate > best_->rate)) best_ = trial;
    seen_.add(trial);
    parts_.observer.finished_trial(trial, progress(Progress::Phase::searching));
  }

  // ---- the race

  // The finalists' rates are those of whole runs: what their fused steps leave over is timed as well. What compilers
  // began before the search was over may still come first of them meanwhile.
  void time_remainders(const RacePlan& plan) {
    std::set<std::string> wanted;
    while (!parts_.stop && time_.elapsed_s() < time_.whole_s() && !time_.race_has_to_begin()) {
      for (const std::string& finalist : contenders_.finalists(most_under_load(plan))) {
        const std::string remainder = missing_remainder(finalist);
        if (remainder.empty() || !remainders_.insert(remainder).second) continue;
        wanted.insert(remainder);
        queue_.submit(remainder);
      }
      if (wanted.empty()) break;
      if (const auto taken = step()) wanted.erase(*taken);
    }
    finish_running();
    // What cannot be rated as a run gives way to fused steps that can.
    const auto can_be_rated = [&](const std::string& candidate) { return missing_remainder(candidate).empty(); };
    if (contenders_.any([&](const std::string& candidate) { return fuses(candidate) && can_be_rated(candidate); })) {
      contenders_.keep(can_be_rated);
    }
  }

  /// The kernel of the steps that the candidate's fused ones leave over, as long as it has not been tried. Single steps
  /// need one where nothing is known that makes them.
  std::string missing_remainder(const std::string& candidate) const {
    if (options_.predicted || options_.race_against) return {};
    const RunPlan plan = plan_of(candidate);
    if (plan.remainder && !seen_.contains(plan.remainder->code)) return plan.remainder->code;
    const bool needs_single = !plan.single.empty() && !seen_.contains(plan.single) && seen_.single_steps_rate() <= 0;
    return needs_single ? plan.single : std::string();
  }

  RunPlan plan_of(const std::string& candidate) const {
    return parts_.subject.plan(candidate, result_.device.device.limits);
  }

  void race() {
    RacePlan plan = options_.race;  // Remainders may take of the time under load.
    time_remainders(plan);
    const auto [finalists, under_load] = contenders_.take(most_under_load(plan));
    if (finalists.empty() || parts_.stop) return;
    plan.under_load = under_load;
    parts_.observer.idle(progress(Progress::Phase::racing));
    const double before = parts_.clock.seconds();
    const auto timed = devices_.race(finalists, plan);
    result_.device_seconds += parts_.clock.seconds() - before;
    for (std::size_t i = 0; i < timed.size() && i < finalists.size(); ++i) {
      if (was_stopped(timed[i])) continue;
      record_raced(finalists[i].first, finalists[i].second, timed[i]);
    }
    std::sort(result_.finalists.begin(), result_.finalists.end(),
              [&](const TrialRecord& a, const TrialRecord& b) { return is_better(a, b, context_.objective); });
  }

  /// As many as there is time for. Two take 6 s, and say what the load does to the fastest where a budget is shorter.
  int most_under_load(const RacePlan& plan) const {
    constexpr int kFewest = 2, kMost = 64;
    int most = 1;
    while (most < kMost && load_race_s(plan, most + 1) <= time_.load_race_s(most < kFewest)) ++most;
    return most;
  }

  void record_raced(const std::string& candidate, const CompiledKernel& kernel, const DeviceResult& timed) {
    TrialRecord trial = device_trial(context_, candidate, kernel, timed);
    const bool ok = trial.outcome == Outcome::ok;
    if (trial.raced) {
      const RunPlan plan = plan_of(candidate);
      rate_whole_run(trial, plan, seen_.rates_beside(plan, trial));
    }
    if (!options_.predicted || !ok) trial.id = store(trial);  // a model says nothing new
    if (!ok) {
      ++result_.failures[trial.outcome];
    } else if (trial.raced || options_.predicted) {
      result_.finalists.push_back(trial);
    }
    seen_.add(trial);
  }

  // ---- afterwards

  SessionResult conclude() {
    if (const auto winner =
            winners_.settle(context_key(), parts_.platform.gpu,
                            race_objective(options_.objective, parts_.subject.steps(), options_.predicted),
                            naive_rate(), cannot_run_)) {
      if (winner->trial.predicted == options_.predicted) result_.winner = winner->trial;
    }
    result_.best = best_;
    result_.trials_of_devices = devices_.trials();
    result_.baselines = seen_.baseline_results(parts_.baselines);
    result_.unfinished = queue_.outstanding();
    result_.seconds = time_.elapsed_s();
    return std::move(result_);
  }

  bool was_stopped(const DeviceResult& timed) const { return parts_.stop && timed.outcome == Outcome::worker_killed; }
  ProblemKey context_key() const { return parts_.subject.key(); }

  double naive_rate() const { return seen_.naive_rate(parts_.baselines); }
  std::int64_t store(const TrialRecord& trial) { return trials_.insert(trial, naive_rate()).id; }

  Progress progress(Progress::Phase phase) const {
    Progress p;
    p.phase = phase;
    p.elapsed_s = time_.elapsed_s();
    p.budget_s = time_.whole_s();
    p.trials = result_.trials;
    p.compiling = queue_.outstanding();
    p.max_trials = options_.max_trials;
    for (const auto& [outcome, count] : result_.failures) p.failed += count;
    p.known = result_.known;
    p.ceiling_gbs = context_.ceiling_gbs;
    p.best = best_;
    return p;
  }

  const SessionParts& parts_;
  const SessionOptions& options_;
  TrialStore trials_;
  WinnerStore winners_;
  TrialContext context_;
  DeviceTeam devices_;
  Contenders contenders_;
  CandidateQueue queue_;
  SeenTrials seen_;
  TimeBudget time_;
  SessionResult result_;
  std::optional<TrialRecord> best_;   // the best one timed to the end, in this and earlier sessions
  std::string won_before_;            // code of a winner that raced under load
  KeptBinaries binaries_;             // kernels of fused steps that were timed to the end in this session
  std::set<std::string> cannot_run_;  // codes of stored trials that cannot run
  std::set<std::string> remainders_;  // what finalists leave over, timed for the rate of a run alone
  bool awaits_rival_ = false;         // SessionOptions::race_against is being compiled
  bool lacks_rival_ = false;          // nobody knows how fast it is
  int left_to_await_ = kAwaited;
  std::set<std::string> awaited_;      // codes: the search does not end before them
  std::set<std::string> tried_again_;  // codes that failed in a way that deserves another try, and had it
};

}  // namespace

double latest_end_s(const SessionOptions& options) {
  return options.most_s.value_or(options.budget_s + grace_s(options.budget_s));
}

Objective race_objective(Objective asked, int steps, bool predicted) {
  const bool is_burst = asked == Objective::time && steps == 1;
  return is_burst || predicted ? Objective::burst : asked;
}

SessionResult run_session(const SessionParts& parts, const SessionOptions& options) {
  return Session(parts, options).run();
}

}  // namespace stencil_tune
