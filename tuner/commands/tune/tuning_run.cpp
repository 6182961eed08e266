#include "tuner/commands/tune/tuning_run.hpp"

#include "db/stored_code.hpp"
#include "db/winner_store.hpp"
#include "generator/candidates/textbook/textbook.hpp"
#include "generator/suggest.hpp"
#include "runtime/compile/binary_cache.hpp"
#include "runtime/files/scratch_folder.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/program/interrupt.hpp"
#include "tuner/executor/host_check.hpp"
#include "tuner/session/json_progress.hpp"
#include "tuner/session/predict.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/serial_observer.hpp"
#include "tuner/session/stencil_parts.hpp"
#include "tuner/session/trials/time_budget.hpp"
#include "tuner/session/trials/warm_starts.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/verify/field_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kQuickS = 15;
constexpr double kStandardS = 60;
constexpr double kPredictionS = 30;  // two cores compile some 200 candidates in that time
constexpr double kChecksBeyondBudgetS = 20;
constexpr std::chrono::seconds kLongestCheck{60};  // for one kernel on the CPU
constexpr int kQuickPredictions = 40;
constexpr int kPredictions = 120;

Effort parse_effort(const std::string& text) {
  if (text == "quick") return Effort::quick;
  if (text == "standard") return Effort::standard;
  if (text == "exhaustive") return Effort::exhaustive;
  throw Error(ErrorCode::unknown_name, fmt::format("unknown effort '{}'{}: quick, standard or exhaustive", text,
                                                   did_you_mean(text, {"quick", "standard", "exhaustive"})));
}

// What the effort stands for where nothing more exact was said.
void apply_effort(TuningSettings& settings) {
  SessionOptions& session = settings.session;
  switch (settings.effort) {
    case Effort::quick:
      session.budget_s = kQuickS;
      if (session.predicted) session.max_trials = kQuickPredictions;
      break;
    case Effort::standard:
      session.budget_s = session.predicted ? kPredictionS : kStandardS;
      if (session.predicted) session.max_trials = kPredictions;
      break;
    case Effort::exhaustive:
      session.budget_s = std::numeric_limits<double>::infinity();
      break;
  }
}

int at_least_1(const po::variables_map& values, const std::string& option) {
  const int value = values[option].as<int>();
  if (value < 1) throw Error(ErrorCode::invalid_argument, fmt::format("--{} {}: must be at least 1", option, value));
  return value;
}

std::uint64_t seed_from(std::int64_t value) {
  if (value < 0) throw Error(ErrorCode::invalid_argument, fmt::format("--seed {}: must be 0 or more", value));
  return static_cast<std::uint64_t>(value);
}

/// Throws where one is neither a code nor a name of the textbook.
std::vector<std::string> parse_candidates(std::string_view text) {
  std::vector<std::string> candidates = split_list(text);
  for (const std::string& each : candidates) {
    if (!is_baseline(each)) parse_code(each);
  }
  return candidates;
}

/// Adds those whose code does not parse; that others are illegal for this problem is nothing to tell.
void add_unreadable(std::span<const WinnerRecord> winners, std::vector<std::string>& passed_over) {
  for (const WinnerRecord& winner : winners) {
    if (is_readable(winner.trial)) continue;
    std::string objection = objection_to(winner.trial).value_or(winner.trial.code);
    if (std::find(passed_over.begin(), passed_over.end(), objection) == passed_over.end()) {
      passed_over.push_back(std::move(objection));
    }
  }
}

/// What stands in the final table beside the winner: the candidates that were asked for, and the textbook's kernels.
std::vector<Baseline> beside_the_winner(const Problem& problem, const Limits& limits,
                                        const std::vector<Tuning>& candidates) {
  std::vector<Baseline> all;
  for (const Tuning& tuning : candidates) all.push_back({fmt::format("candidate {}", all.size() + 1), tuning, ""});
  const auto textbook = textbook_baselines(problem, limits);
  all.insert(all.end(), textbook.begin(), textbook.end());
  return all;
}

/// When checks on the CPU end at the latest, in a session that begins now.
Patience::Clock::time_point last_moment(double budget_s) {
  if (!std::isfinite(budget_s)) return Patience::Clock::time_point::max();
  const std::chrono::duration<double> left{budget_s + deadline_within(budget_s, kChecksBeyondBudgetS)};
  return Patience::Clock::now() + std::chrono::duration_cast<Patience::Clock::duration>(left);
}

}  // namespace

void remove_leftovers() {
  ScratchFolder::remove_abandoned();
  try {
    if (const auto folder = default_cache_folder(); !folder.empty()) BinaryCache(folder).trim();
  } catch (const Error&) {
    // There is no cache to tidy up.
  }
}

constexpr const char* kHowLong = "how long and how hard";

void add_session_options(CommandLine& line) {
  line.group(kHowLong).add_options()("budget", po::value<std::string>()->value_name("TIME"),
                                     "stop after this time, such as 60s, 5m, 1h30m (default 60s; 30s where it "
                                     "predicts)")(
      "effort", po::value<std::string>()->value_name("quick|standard|exhaustive"),
      "quick: 15 s; standard: 60 s; exhaustive: every legal candidate, no time limit")(
      "objective", po::value<std::string>()->value_name("time|burst|energy"),
      "what wins. time (default): the rate, of runs under continuous load; burst: the rate after a rest; energy: the "
      "least energy an update")(
      "max-trials", po::value<int>()->value_name("N"),
      "search with this many new trials at most, from 1 on; a run adds those of the steps that its finalists leave "
      "over, one for each of the six at most")("seed", po::value<std::int64_t>()->value_name("N"),
                                               "of the search and the input data, from 0 on (default 1)")(
      "jobs,j", po::value<int>()->value_name("N"), "compilers at once (default: one per core it may use)");
}

void add_tuning_options(CommandLine& line) {
  add_session_options(line);
  line.group(kHowLong).add_options()("candidates", po::value<std::string>()->value_name("CODE[,CODE...]"),
                                     "no search: these and the textbook's kernels, which may be named: pmpp-tiled");
}

void add_quiet_option(po::options_description_easy_init output) {
  output("quiet,q", "no progress and no remarks on standard error");
}

void add_progress_option(po::options_description_easy_init output) {
  output("progress", po::value<std::string>()->value_name("text|json"),
         "json: for programs, an object a line on standard error and nothing else there");
}

bool has_json_progress(const po::variables_map& values) {
  if (values.count("progress") == 0) return false;
  const auto& form = values["progress"].as<std::string>();
  if (form == "json" || form == "text") return form == "json";
  throw Error(ErrorCode::unknown_name,
              fmt::format("unknown progress '{}'{}: text or json", form, did_you_mean(form, {"text", "json"})));
}

bool is_quiet(const po::variables_map& values) { return values.count("quiet") > 0 || has_json_progress(values); }

std::unique_ptr<SessionObserver> make_progress(const po::variables_map& values, bool predicted,
                                               const std::string& gpu) {
  if (has_json_progress(values)) return std::make_unique<JsonProgress>(stderr, predicted, gpu);
  if (is_quiet(values)) return std::make_unique<SilentProgress>();
  return std::make_unique<ConsoleProgress>(stderr, predicted, gpu);
}

TuningSettings tuning_settings(const po::variables_map& values, bool predicted) {
  TuningSettings settings;
  settings.session.predicted = predicted;
  if (values.count("effort") > 0) settings.effort = parse_effort(values["effort"].as<std::string>());
  apply_effort(settings);
  settings.session.objective = requested_objective(values);
  if (values.count("budget") > 0) settings.session.budget_s = parse_duration(values["budget"].as<std::string>());
  if (values.count("max-trials") > 0) settings.session.max_trials = at_least_1(values, "max-trials");
  if (values.count("jobs") > 0) settings.jobs = at_least_1(values, "jobs");
  if (values.count("candidates") > 0 && settings.effort == Effort::exhaustive) {
    throw Error(ErrorCode::invalid_argument,
                "--candidates and --effort exhaustive exclude each other: these alone, or every legal candidate");
  }
  if (values.count("candidates") > 0) settings.candidates = parse_candidates(values["candidates"].as<std::string>());
  if (values.count("seed") > 0) settings.seed = seed_from(values["seed"].as<std::int64_t>());
  return settings;
}

PlatformKey platform_of(const Target& target) {
  PlatformKey platform;
  platform.gpu = target.gpu();
  platform.architecture = target.architecture;
  if (target.device) {
    platform.driver = target.device->driver;
  } else {
    platform.model = *target.predicting_model();
  }
  const auto compiler = open_nvrtc();
  compiler->require_architecture(target.architecture);
  platform.nvrtc = compiler->version();
  return platform;
}

WorkerOptions worker_options(const Target& target, const TuningSettings& settings) {
  WorkerOptions workers;
  workers.architecture = target.architecture;
  workers.seed = settings.seed;
  workers.compile_width = settings.jobs;
  workers.compile_deadline_s = compile_deadline_s(settings.session.budget_s, workers.compile_deadline_s);
  workers.run_deadline_s = deadline_within(settings.session.budget_s, workers.run_deadline_s);
  if (target.device) workers.device = target.device->uuid;
  return workers;
}

std::vector<std::unique_ptr<DeviceWorker>> start_device_workers(const Subject& subject, const Target& target,
                                                                const WorkerOptions& options, const WorkerTies& ties) {
  std::vector<std::unique_ptr<DeviceWorker>> workers;
  workers.push_back(start_device_worker(subject, options, ties));
  for (const DeviceFacts& device : target.more_devices) {
    WorkerOptions of_device = options;
    of_device.device = device.uuid;
    workers.push_back(start_device_worker(subject, of_device, ties));
  }
  return workers;
}

std::vector<DeviceWorker*> more_of(const std::vector<std::unique_ptr<DeviceWorker>>& workers) {
  std::vector<DeviceWorker*> more;
  for (std::size_t i = 1; i < workers.size(); ++i) more.push_back(workers[i].get());
  return more;
}

std::optional<std::string> obstacle_to_fusing(const Problem& problem, const Target& target) {
  const bool fuses = problem.steps > 1 || problem.stage == kWholeStep;
  if (!fuses || !target.device || !problem.step.obstacle.empty()) return std::nullopt;
  return obstacle_to_fused_checks(problem, target.device->memory_bytes);
}

Limits limits_of(const Problem& problem, const Target& target) {
  Limits limits = target.limits;
  if (obstacle_to_fusing(problem, target)) limits.most_fused_steps = 1;
  return limits;
}

std::vector<Tuning> candidates_for(const TuningSettings& settings, const Problem& problem, const Limits& limits) {
  std::vector<Tuning> candidates;
  for (const std::string& each : settings.candidates) candidates.push_back(candidate_from(each, problem, limits));
  return candidates;
}

std::unique_ptr<Strategy> make_strategy(const TuningSettings& settings, const Space& space, const CostModel& model) {
  if (!settings.candidates.empty()) {
    return make_listed(space, candidates_for(settings, space.problem(), space.limits()));
  }
  if (settings.effort == Effort::exhaustive) return make_exhaustive(space);
  return make_local(space, model, settings.seed);
}

std::vector<WinnerRecord> all_winners(Database* database) {
  return winners_of_all_layers(database, {.kind = SubjectKind::stencil, .count_trials = false});
}

TuningOutcome run_tuning(const Problem& problem, const Target& target, const TuningSettings& settings,
                         Database& database, SessionObserver& observer) {
  SerialObserver told(observer);
  const InterruptGuard interrupts;
  remove_leftovers();
  const Limits limits = limits_of(problem, target);
  const Space space(problem, limits);
  const PerformanceModel model(problem, limits, target.model);
  const auto strategy = by_code(make_strategy(settings, space, model));

  const WorkerOptions workers = worker_options(target, settings);
  TuningOutcome outcome;
  outcome.platform = platform_of(target);
  const WorkerTies ties{.stop = &InterruptGuard::requested(),
                        .tell = [&told](const std::string& what) { told.waiting(what); }};
  const StencilSubject subject(problem);
  const auto compilers = start_compile_workers(subject, workers, ties);

  std::vector<std::unique_ptr<DeviceWorker>> devices;
  const PredictedDevice* prediction = nullptr;
  if (target.device) {
    devices = start_device_workers(subject, target, workers, ties);
  } else {
    const auto checker = [last = last_moment(settings.session.budget_s)](const Problem& small,
                                                                         std::span<const Tuning> tunings) {
      const auto deadline = std::min(last, Patience::Clock::now() + kLongestCheck);
      return check_on_host(small, tunings, {deadline, &InterruptGuard::requested()});
    };
    auto predicted = std::make_unique<PredictedDevice>(problem, target.limits, target.model, checker);
    prediction = predicted.get();
    devices.push_back(std::move(predicted));
  }

  const auto winners = settings.candidates.empty() ? all_winners(&database) : std::vector<WinnerRecord>();
  const SteadyClock clock;
  outcome.result = run_session(
      {subject, outcome.platform, *strategy, *compilers, *devices.front(), database, clock, told,
       InterruptGuard::requested(),
       named_candidates(beside_the_winner(problem, target.limits, candidates_for(settings, problem, target.limits))),
       codes(warm_starts(problem, limits, target.gpu(), winners, model)), more_of(devices)},
      settings.session);
  add_unreadable(winners, outcome.result.passed_over);
  if (prediction) outcome.check_note = prediction->check_note(outcome.result.winner ? outcome.result.winner->code : "");
  return outcome;
}

}  // namespace stencil_tune
