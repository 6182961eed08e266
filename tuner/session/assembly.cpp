#include "tuner/session/assembly.hpp"

#include "db/stored_code.hpp"
#include "db/winner_store.hpp"
#include "generator/candidates/textbook/textbook.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "runtime/compile/binary_cache.hpp"
#include "runtime/files/scratch_folder.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/executor/host_check.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/predict.hpp"
#include "tuner/session/serial_observer.hpp"
#include "tuner/session/stencil_parts.hpp"
#include "tuner/session/trials/time_budget.hpp"
#include "tuner/session/trials/warm_starts.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/user_kernel/user_kernel_subject.hpp"
#include "tuner/verify/field_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace stencil_tune {
namespace {

/// What a subject brings to its session.
struct SubjectParts {
  const Subject& subject;
  SearchStrategy<std::string>& search;
  std::vector<NamedCandidate> baselines;
  std::vector<std::string> warm_starts;
  double begun_s;                 ///< by the clock
  DeviceWorker* model = nullptr;  ///< in place of the target's GPUs
  std::string untuned{};          ///< what the library runs where nobody tuned; "": nothing
};

TuningOutcome run_assembled(const SubjectParts& parts, const Target& target, const TuningSettings& settings,
                            Database& database, SerialObserver& told) {
  remove_leftovers();
  TuningOutcome outcome;
  outcome.platform = platform_of(target);
  const WorkerTies ties{.stop = settings.stop, .tell = [&told](const std::string& what) { told.waiting(what); }};
  WorkerOptions options = worker_options(target, settings);
  const auto compilers = start_compile_workers(parts.subject, options, ties);
  std::vector<std::unique_ptr<DeviceWorker>> workers;
  const auto start_worker = [&](const DeviceFacts& gpu) {
    options.device = gpu.uuid;
    workers.push_back(start_device_worker(parts.subject, options, ties));
    return workers.back().get();
  };
  DeviceWorker* const first = parts.model != nullptr ? parts.model : start_worker(target.device.value());
  std::vector<DeviceWorker*> more;
  for (const DeviceFacts& gpu : target.more_devices) more.push_back(start_worker(gpu));
  const SteadyClock clock;
  SessionOptions session = settings.session;
  if (session.race_against) session.race_against = parts.untuned;
  if (!session.race_against) session.spent_s = clock.seconds() - parts.begun_s;
  outcome.result = run_session({parts.subject, outcome.platform, parts.search, *compilers, *first, database, clock,
                                told, *settings.stop, parts.baselines, parts.warm_starts, more},
                               session);
  return outcome;
}

// ---- a stencil's problem

Limits limits_of(const Problem& problem, const Target& target) {
  Limits limits = target.limits;
  if (obstacle_to_fusing(problem, target)) limits.most_fused_steps = 1;
  return limits;
}

std::unique_ptr<Strategy> make_strategy(const TuningSettings& settings, const StencilSearch& search,
                                        Thinking thinking) {
  if (!search.asked.empty()) return make_listed(search.space, search.asked);
  if (settings.is_exhaustive) return make_exhaustive(search.space, std::move(thinking));
  return make_local(search.space, search.model, settings.seed, std::move(thinking));
}

/// A kernel that fuses steps, to compile while the strategy still looks around: by the model the best of a few, with
/// one row a thread, the fewest steps and nothing unrolled where that is legal. Nothing where none is found.
std::optional<Tuning> first_to_fuse(const Problem& problem, const Space& space, const CostModel& model) {
  constexpr int kDraws = 50;  // in a family: a tenth of a second where few candidates are legal
  std::mt19937_64 random(1);
  std::optional<Tuning> best;
  double least = std::numeric_limits<double>::infinity();
  for (const Family* family : families()) {
    if (!family->fuses_steps || !family->serves(problem)) continue;
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto tuning = space.sample(*family, random);
      const double cost = tuning ? model.cost(*tuning) : least;
      if (cost < least) best = tuning, least = cost;
    }
  }
  if (!best) return best;
  for (const int rows : {1, best->register_y}) {
    for (int steps = 1; steps <= best->steps; ++steps) {
      Tuning quick = *best;
      quick.register_y = rows;
      quick.steps = steps;
      quick.unroll = 1;
      if (space.legal(quick)) return quick;
    }
  }
  return best;
}

/// For a race, which has time for few: `untuned` first, then those of which the model expects nearly the most.
void keep_best(const CostModel& model, const Tuning& untuned, std::vector<Tuning>& warm_starts) {
  constexpr double kWorthRacing = 1.3;  // times the least cost: the model misses most kernels by less
  std::vector<std::pair<double, Tuning>> by_cost;
  for (const Tuning& tuning : warm_starts) by_cost.emplace_back(model.cost(tuning), tuning);
  std::stable_sort(by_cost.begin(), by_cost.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  warm_starts = {untuned};
  for (const auto& [cost, tuning] : by_cost) {
    if (cost <= kWorthRacing * by_cost.front().first && tuning != untuned) warm_starts.push_back(tuning);
  }
}

/// What stands in the final table beside the winner: the candidates that were asked for, and the textbook's kernels,
/// for which a race has no time.
std::vector<Baseline> beside_the_winner(const Problem& problem, const Limits& limits, const std::vector<Tuning>& asked,
                                        bool is_race) {
  std::vector<Baseline> all;
  for (const Tuning& tuning : asked) all.push_back({fmt::format("candidate {}", all.size() + 1), tuning, ""});
  if (is_race) return all;
  const auto textbook = textbook_baselines(problem, limits);
  all.insert(all.end(), textbook.begin(), textbook.end());
  return all;
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

/// Checks on the CPU until a session that begins now has to end; one that goes on then has become longer.
HostChecker host_checker(const TuningSettings& settings) {
  static constexpr std::chrono::seconds kLongest{60};  // for one kernel
  using Clock = Patience::Clock;
  const auto after = [begun = Clock::now()](double seconds) {
    if (!std::isfinite(seconds)) return Clock::time_point::max();
    return begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const auto end = after(latest_end_s(settings.session));
  const auto longer_end = settings.session.longer ? after(settings.session.longer->most_s) : end;
  return [end, longer_end, stop = settings.stop](const Problem& small, std::span<const Tuning> tunings) {
    const auto now = Clock::now();
    return check_on_host(small, tunings, {std::min(now < end ? end : longer_end, now + kLongest), stop});
  };
}

// ---- a kernel of the user's own

/// Winners of kernels of this name, of other sizes and of earlier sources too, that are legal here: those of the same
/// GPU model first.
std::vector<std::string> configurations_that_won(const UserKernelSubject& subject, const std::string& gpu,
                                                 Database& database) {
  auto winners = WinnerStore(database).list({.kind = SubjectKind::kernel, .count_trials = false});
  std::erase_if(winners, [&](const WinnerRecord& winner) {
    return winner.trial.problem.stencil_name != subject.kernel().name || subject.objection_to(winner.trial);
  });
  std::stable_partition(winners.begin(), winners.end(),
                        [&](const WinnerRecord& winner) { return winner.trial.platform.gpu == gpu; });
  std::vector<std::string> codes;
  for (const WinnerRecord& winner : winners) {
    if (codes.size() < kMostWarmStarts) codes.push_back(winner.trial.code);
  }
  return codes;
}

/// What the search begins with and is compared with: the definition's default, else the first of all.
NamedCandidate baseline_of(const UserKernel& kernel) {
  const DefaultConfiguration begin = default_configuration(kernel);
  if (!begin.objection.empty()) return {"default", std::nullopt, begin.objection};
  return {begin.is_defined ? "default" : "first", configuration_code(kernel, begin.values), ""};
}

/// What the library would run if nobody tuned.
std::optional<Tuning> untuned_candidate(const Problem& problem, const Target& target, const Limits& limits,
                                        std::span<const WinnerRecord> winners) {
  const LookupTarget here{
      .gpu = target.gpu(), .architecture = target.architecture, .driver = {}, .limits = limits, .device = target.model};
  auto choice = choose_winner(problem, here, winners);
  if (!choice) choice = predict_choice(problem, here, winners);
  return choice ? std::optional(choice->tuning) : std::nullopt;
}

}  // namespace

StencilSearch::StencilSearch(const Problem& problem, const Target& target, const TuningSettings& settings,
                             Database* database, Thinking thinking)
    : limits(limits_of(problem, target)),
      space(problem, limits),
      model(problem, limits, target.model),
      asked(asked_candidates(settings, problem, target.limits)) {
  if (asked.empty()) {
    winners = winners_of_all_layers(database, {.kind = SubjectKind::stencil, .count_trials = false});
    untuned = untuned_candidate(problem, target, limits, winners);
    warm_starts = stencil_tune::warm_starts(problem, limits, target.gpu(), winners, model, untuned);
    const auto fuses = [](const Tuning& tuning) { return tuning.family->fuses_steps; };
    if (std::none_of(warm_starts.begin(), warm_starts.end(), fuses)) drawn = first_to_fuse(problem, space, model);
    if (drawn) warm_starts.push_back(*drawn);
    std::stable_partition(warm_starts.begin(), warm_starts.end(), fuses);
    if (settings.session.race_against && untuned) keep_best(model, *untuned, warm_starts);
  }
  strategy = make_strategy(settings, *this, std::move(thinking));
}

TuningOutcome tune_stencil(const Problem& problem, const Target& target, const TuningSettings& settings,
                           Database& database, SessionObserver& observer) {
  constexpr double kChoosingShare = 0.15;  // share of the budget for the choice of the first candidates
  constexpr double kLongestChoiceS = 3;
  const SteadyClock clock;
  const double begun_s = clock.seconds();
  const HostChecker checker = host_checker(settings);
  SerialObserver told(observer);
  StencilSearch search(problem, target, settings, &database,
                       Thinking(clock, std::min(kChoosingShare * settings.session.budget_s, kLongestChoiceS),
                                [&told] { told.waiting("choosing the first candidates"); }));
  const StencilSubject subject(problem, settings.beside);
  const auto strategy = by_code(std::move(search.strategy));
  std::optional<PredictedDevice> model;
  if (target.predicted()) model.emplace(problem, target.limits, target.model, checker);
  TuningOutcome outcome = run_assembled(
      {subject, *strategy,
       named_candidates(
           beside_the_winner(problem, target.limits, search.asked, settings.session.race_against.has_value())),
       codes(search.warm_starts), begun_s, model ? &*model : nullptr, search.untuned ? code(*search.untuned) : ""},
      target, settings, database, told);
  add_unreadable(search.winners, outcome.result.passed_over);
  if (model) outcome.check_note = model->check_note(outcome.result.winner ? outcome.result.winner->code : "");
  return outcome;
}

TuningOutcome tune_user_kernel(const UserKernel& kernel, SearchStrategy<std::string>& search, const Target& target,
                               const TuningSettings& settings, Database& database, SessionObserver& observer) {
  const double begun_s = SteadyClock().seconds();
  SerialObserver told(observer);
  const UserKernelSubject subject(kernel);
  return run_assembled(
      {subject, search, {baseline_of(kernel)}, configurations_that_won(subject, target.gpu(), database), begun_s},
      target, settings, database, told);
}

Tuning candidate_from(const std::string& text, const Problem& problem, const Limits& limits) {
  for (const Baseline& baseline : textbook_baselines(problem, limits)) {
    if (baseline.name != text) continue;
    if (baseline.tuning) return *baseline.tuning;
    throw Error(ErrorCode::illegal_candidate, fmt::format("{}: {}: {}", describe(problem), text, baseline.reason));
  }
  return parse_code(text);
}

std::vector<Tuning> asked_candidates(const TuningSettings& settings, const Problem& problem, const Limits& limits) {
  std::vector<Tuning> candidates;
  for (const std::string& each : settings.candidates) candidates.push_back(candidate_from(each, problem, limits));
  return candidates;
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
  if (settings.session.race_against) {  // its budget begins later, and what would run untuned may take its time
    workers.start_deadline_s = 30;      // another session may have the GPU for longer
    return workers;
  }
  workers.compile_deadline_s = compile_deadline_s(settings.session.budget_s, workers.compile_deadline_s);
  workers.run_deadline_s = deadline_within(settings.session.budget_s, workers.run_deadline_s);
  workers.start_deadline_s = std::min(workers.start_deadline_s, latest_end_s(settings.session));
  return workers;
}

void remove_leftovers() {
  ScratchFolder::remove_abandoned();
  try {
    if (const auto folder = default_cache_folder(); !folder.empty()) BinaryCache(folder).trim();
  } catch (const Error&) {
    // There is no cache to tidy up.
  }
}

std::optional<std::string> obstacle_to_fusing(const Problem& problem, const Target& target) {
  const bool fuses = problem.steps > 1 || problem.stage == kWholeStep;
  if (!fuses || !target.device || !problem.step.obstacle.empty()) return std::nullopt;
  return obstacle_to_fused_checks(problem, target.device->memory_bytes);
}

std::optional<std::string> note_of_checks(const Problem& problem, const Target& target) {
  if (!target.device || target.predicted()) return std::nullopt;
  const std::size_t fields = field_set_bytes(problem), memory = target.device->memory_bytes;
  if (fields >= memory || !checks_in_slabs(problem, memory - fields)) return std::nullopt;
  return "the grid is large: candidates were compared at its ends, in two slabs between them and on small grids; "
         "the fastest in all cells";
}

}  // namespace stencil_tune
