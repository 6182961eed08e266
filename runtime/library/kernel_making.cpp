// From a request to the kernels of its plan.
#include "generator/candidates/family.hpp"
#include "generator/candidates/run_plan.hpp"
#include "generator/candidates/space.hpp"
#include "generator/points/tile_points.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "generator/stencil/measures.hpp"
#include "generator/stencil/passes.hpp"
#include "runtime/library/field_checks.hpp"
#include "runtime/library/launch/measuring.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/lookup/by_model.hpp"
#include "runtime/library/lookup/same_machine_code.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

Problem problem_of(const Request& request, int stage, int steps) {
  return with_slabs(
      make_problem(request.stencil, request.type, request.boundaries, request.extents, request.pitch, steps, stage),
      request.slabs);
}

/// In the evidence of fused steps: what runs those that are left.
void note_other_sweeps(Kernel::State& state) {
  if (state.plan.front().steps == 1) return;
  std::vector<std::string>& notes = state.plan.front().stages.front().evidence.notes;
  for (std::size_t i = 1; i < state.plan.size(); ++i) {
    const PlanPart& part = state.plan[i];
    const Evidence& evidence = part.stages.front().evidence;
    if (part.for_points) {
      notes.push_back(fmt::format("runs with points run {} (match: {})", evidence.code, name(evidence.match)));
    } else if (part.steps > 1) {
      notes.push_back(fmt::format("the {} steps left of the run are fused too", part.steps));
    } else if (part.stages.size() > 1) {
      return notes.push_back(part.shares_passes ? "single steps are made in passes that stages share"
                                                : "single steps are made stage by stage");
    } else {
      return notes.push_back(fmt::format("single steps run {} (match: {})", evidence.code, name(evidence.match)));
    }
  }
}

/// The worst match among the kernels that most of a long run goes through. Small zones do not count.
const Evidence& worst_of(const Kernel::State& state) {
  const std::vector<StageKernel>& main = state.main_stages();
  constexpr double kSmallZone = 0.02;  // share of the cells
  const double small = kSmallZone * static_cast<double>(state.step.extents.cells());
  const auto badness = [&](const StageKernel& stage) {
    const bool is_small = state.plan.front().in_zones() && static_cast<double>(stage.updated.cells()) < small;
    return is_small ? Match::exact : stage.evidence.match;
  };
  const auto worst = std::max_element(
      main.begin(), main.end(), [&](const StageKernel& a, const StageKernel& b) { return badness(a) < badness(b); });
  return worst->evidence;
}

/// The rate is that of all these kernels together, the share their mean over the time that each takes.
Evidence run_evidence_of(const Kernel::State& state) {
  Evidence run = worst_of(state);
  const std::vector<StageKernel>& main = state.main_stages();
  if (main.size() == 1) return run;
  double time = 0, ceilings = 0;
  for (const StageKernel& stage : main) {
    if (!(stage.evidence.gstencils > 0)) continue;
    const double taken = static_cast<double>(stage.updated.cells()) / stage.evidence.gstencils;
    time += taken;
    ceilings += stage.evidence.share * taken;
  }
  run.gstencils = state.known_rate();
  run.share = run.gstencils > 0 ? ceilings / time : 0;
  if (run.gstencils > 0 && !state.plan.front().in_zones()) {
    run.notes.insert(
        run.notes.begin(),
        fmt::format("a step takes {} kernels one after another, and the rate is that of all", main.size()));
  }
  return run;
}

/// For what `fused` leaves of the run.
std::optional<Choice> choose_remainder(const Problem& run, const Choice& fused, const Limits& limits) {
  const auto planned = plan_run(run, fused.tuning, limits).remainder;
  if (!planned) return std::nullopt;
  Choice remainder = fused;
  remainder.tuning = parse_code(planned->code);
  remainder.evidence.code = planned->code;
  return remainder;
}

/// The same kernel with half as many steps, and half of these: launches of one binary that is told how many it makes.
std::vector<Choice> with_fewer_steps(const Problem& run, const Choice& fused, const Limits& limits) {
  std::vector<Choice> choices;
  Tuning fewer = fused.tuning;
  while ((fewer.steps /= 2) > 1 && without_launch(fewer) == without_launch(fused.tuning)) {
    if (!is_legal({run, fewer}, limits)) break;
    Choice& choice = choices.emplace_back(fused);
    choice.tuning = fewer;
    choice.evidence.code = code(fewer);
  }
  return choices;
}

bool may_fuse_steps(const Problem& run, const Limits& limits) {
  const auto all = families();
  return std::any_of(all.begin(), all.end(), [&](const Family* family) {
    return family->fuses_steps && default_candidate(*family, run, limits).has_value();
  });
}

double trusted_rate(const Evidence& evidence) {
  return evidence.gstencils * (evidence.match == Match::predicted ? kTrusted : 1);
}

/// GStencil/s of a step that these make one after another: as they were timed, unless on a much larger grid, whose rate
/// a small one does not reach; then by the model.
double rate_on_grid(const std::vector<StageKernel>& stages, const LookupTarget& target) {
  constexpr std::int64_t kMuchLarger = 8;  // times the cells: twice as long on each axis
  double time = 0;
  for (const StageKernel& stage : stages) {
    const bool is_timed = stage.evidence.match < Match::predicted &&
                          stage.evidence.tuned_extents.cells() <= kMuchLarger * stage.problem.extents.cells();
    const double rate =
        is_timed ? stage.evidence.gstencils : kTrusted * expected_rate(stage.problem, target, stage.tuning);
    if (!(rate > 0)) return 0;
    time += 1 / rate;
  }
  return 1 / time;
}

// For the zones of a grid: with the caller's own as many as a process has hardware queues. Two streams of one queue
// wait for each other.
constexpr int kSideStreams = 7;

/// The first kernel of a pass in zones sees to the layers of all.
void hold_layers(const Problem& step, PlanPart& part) {
  if (!part.in_zones()) {
    for (StageKernel& stage : part.stages)
      stage.held = held_outputs(step, kernel_outputs(stage.problem, part.steps), stage.outputs);
    return;
  }
  auto zone = part.stages.begin();
  for (const std::size_t count : part.zones) {
    StageKernel& first = *zone;
    std::map<int, int> places;  // of what the pass stores
    for (const auto end = zone + static_cast<std::ptrdiff_t>(count); zone != end; ++zone) {
      const std::vector<int> stored = kernel_outputs(zone->problem, part.steps);
      for (std::size_t i = 0; i < stored.size(); ++i) places[zone->window->fields[at(stored[i])]] = zone->outputs[i];
    }
    std::vector<int> fields, outputs;
    for (const auto& [field, place] : places) {
      fields.push_back(field);
      outputs.push_back(place);
    }
    first.held = held_outputs(step, fields, outputs);
  }
}

bool holds_layers(const Problem& step) {
  const auto axes = step.boundaries.begin();
  return std::count(axes, axes + step.extents.rank, Boundary::hold) > 0;
}

/// What the compiler said of the candidate, where the cache has its binary.
std::optional<KernelResources> known_resources(const Candidate& candidate, const std::string& architecture,
                                               const Compiler& compiler) try {
  const auto kernel = compiler.find_compiled(generate(candidate), architecture);
  return kernel ? std::optional(kernel->resources) : std::nullopt;
} catch (const Error&) {  // there is no compiler, whose version a binary is known by
  return std::nullopt;
}

void check_alignment(const Request& request) {
  std::size_t cell = 1;
  for (int field = 0; field < static_cast<int>(request.stencil.fields.size()); ++field) {
    cell = std::max(cell, size_of(storage_of(request.stencil, field, request.type)));
  }
  const bool power_of_two = request.alignment != 0 && (request.alignment & (request.alignment - 1)) == 0;
  if (power_of_two && request.alignment >= cell) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Request::alignment is {}; it must be a power of two of at least the {} bytes of a cell",
                          request.alignment, cell));
}

}  // namespace

ArrayLayout array_of_field(const Request& request, int field) {
  return checked_array(problem_of(request, kWholeStep, 1), field);
}

LookupTarget Library::Impl::target_of(const Request& request, const DeviceFacts& facts) {
  return {.gpu = facts.name,
          .architecture = facts.architecture,
          .driver = facts.driver,
          .limits = facts.limits,
          .alignment = request.alignment,
          .objective = request.objective,
          .same_machine_code =
              [this](const TrialRecord& trial, const Problem& problem) {
                return has_same_machine_code(trial, with_slabs(problem, false), *compiler());  // as it was tuned
              },
          .compiled =
              [this, &facts](const Candidate& candidate) {
                return facts.ordinal >= 0 ? known_resources(candidate, facts.architecture, *compiler()) : std::nullopt;
              },
          .device = facts.ordinal >= 0 ? std::optional(model_of(facts)) : std::nullopt};
}

double known_rate(const std::vector<StageKernel>& stages) {
  double time = 0;
  for (const StageKernel& stage : stages) {
    if (!(stage.evidence.gstencils > 0)) return 0;
    time += 1 / trusted_rate(stage.evidence);
  }
  return 1 / time;
}

std::shared_ptr<Kernel::State> Library::Impl::make(const Request& request, const DeviceFacts& facts, Misses& misses) {
  check_alignment(request);
  if (request.stencil.stages.empty())
    throw Error(ErrorCode::invalid_argument, "the stencil has no stages: build() makes one that is whole");
  auto state = std::make_shared<Kernel::State>();
  if (request.gpu.empty()) state->driver = &driver();
  state->device = facts.ordinal;
  state->architecture = facts.architecture;
  state->gpu = facts.name;
  state->step = problem_of(request, kWholeStep, 1);
  PlanPart stages = make_stages(request, facts, misses);
  std::optional<PlanPart> passes = make_passes(request, state->step, stages, facts);
  state->plan = make_fused(request, passes ? *passes : stages, facts, misses);
  const bool whole_steps = !state->plan.empty() && state->plan.back().steps == 1;
  if (passes && !whole_steps) state->plan.push_back(std::move(*passes));
  state->plan.push_back(std::move(stages));
  if (make_in_zones(request, *state, facts) && worst_of(*state).match == Match::exact) misses = Misses(facts);
  state->buffers = {.stored = {}, .outputs = {}, .next = state->plan.back().next, .spares = 0};
  for (const PlanPart& part : state->plan) {
    const auto spares = static_cast<int>(part.next.size() - request.stencil.fields.size());
    if (spares > state->buffers.spares)
      state->buffers = {.stored = {}, .outputs = {}, .next = part.next, .spares = spares};
  }
  if (state->driver != nullptr) {
    if (request.stencil.measures) state->measuring = make_measuring(state->step, facts);
    state->workspaces = std::make_unique<Workspaces>(*state->driver, state->buffers.spares, state->step.field_bytes(),
                                                     state->plan.front().in_zones() ? kSideStreams : 0,
                                                     state->measuring ? state->measuring->scratch_bytes() : 0);
    state->layers = make_layer_copier(*state, facts);
  }
  for (PlanPart& part : state->plan) {
    if (holds_layers(state->step)) hold_layers(state->step, part);
    for (StageKernel& stage : part.stages) {
      stage.boxes = std::make_unique<BoxLaunches>(request.extents.rank, state->plan.front().steps);
    }
  }
  if (state->plan.size() > 1) note_other_sweeps(*state);
  state->run_evidence = run_evidence_of(*state);
  if (has_slabs(state->step) && state->run_evidence.gstencils > 0) {
    state->run_evidence.notes.push_back("rates are those of arrays of the whole grid; these hold layers alone");
  }
  return state;
}

std::shared_ptr<Measuring> Library::Impl::make_measuring(const Problem& step, const DeviceFacts& facts) {
  StageKernel values;
  values.problem = measured_problem(step);
  values.tuning = measuring_tuning(values.problem);
  values.inputs = kernel_inputs(values.problem);
  values.outputs.assign(values.problem.facts.outputs.size(), static_cast<int>(step.stencil.fields.size()));
  values.updated = stencil_tune::updated_box(values.problem);
  const Candidate candidate(values.problem, values.tuning);
  const auto shared_bytes = static_cast<std::size_t>(candidate.shape().threads) * sizeof(double);
  values.whole = std::make_shared<const PackedLaunch>(candidate, values.updated, shared_bytes);
  const std::vector<Reduction>& reductions = step.stencil.measures->reductions;
  values.loaded = share_loaded(generate_measuring(candidate, reductions), facts);
  return std::make_shared<Measuring>(std::move(values), share_loaded(gather_source(reductions), facts));
}

std::unique_ptr<LayerCopier> Library::Impl::make_layer_copier(const Kernel::State& state, const DeviceFacts& facts) {
  std::set<std::size_t> sizes{size_of(state.step.type)};
  for (const FieldStorage& storage : state.step.stencil.storages) sizes.insert(size_of(storage.type));
  std::vector<BoxCopier> copiers;
  for (const std::size_t size : sizes) copiers.emplace_back(share_loaded(box_copy_source(size), facts), size);
  std::vector<Problem> stages;
  for (const StageKernel& stage : state.stages()) stages.push_back(stage.problem);
  return std::make_unique<LayerCopier>(std::move(copiers), stages);
}

/// One step, stage by stage.
PlanPart Library::Impl::make_stages(const Request& request, const DeviceFacts& facts, Misses& misses) {
  PlanPart single;
  single.next = buffer_rotation(request.stencil);
  for (int stage = 0; stage < static_cast<int>(request.stencil.stages.size()); ++stage) {
    const Problem problem = problem_of(request, stage, 1);
    Choice choice = choose_kernel(request, problem, facts);
    note_miss(request, problem, choice.evidence.match, misses);
    single.stages.push_back(make_stage(problem, std::move(choice), facts));
    if (request.gpu.empty() && parts_.compile_in_background && has_tap_table(problem)) {
      single.stages.back().meanwhile =
          std::make_unique<Meanwhile>(Meanwhile{TapLaunch(problem), share_loaded(tap_kernel_source(problem), facts)});
    }
  }
  return single;
}

/// One step in passes that some of its stages share, where that is known to be faster than `stages`.
std::optional<PlanPart> Library::Impl::make_passes(const Request& request, const Problem& step, const PlanPart& stages,
                                                   const DeviceFacts& facts) {
  std::map<std::pair<int, int>, Choice> shared;
  for (const StageRange& range : shared_passes(step)) {
    const Problem pass = pass_problem(step, range);
    auto choice = choose_winner(pass, target_of(request, facts), parts_.winners(pass, facts.architecture));
    if (choice && choice->evidence.gstencils > 0) shared.emplace(std::pair(range.first, range.count), *choice);
  }
  const auto rate_of = [&](const StageRange& range) {
    if (range.count == 1) return trusted_rate(stages.stages[static_cast<std::size_t>(range.first)].evidence);
    const auto choice = shared.find({range.first, range.count});
    return choice == shared.end() ? 0 : choice->second.evidence.gstencils;
  };
  const auto time_of = [&](const StageRange& range) {
    const double rate = rate_of(range);
    return rate > 0 ? std::optional(1 / rate) : std::nullopt;
  };
  const auto passes = best_passes(static_cast<int>(stages.stages.size()), time_of);
  if (passes.empty() || passes.size() == stages.stages.size()) return std::nullopt;
  PlanPart part;
  part.next = stages.next;
  part.shares_passes = true;
  part.in_background = parts_.compile_in_background;
  for (const StageRange& range : passes) {
    const Problem pass = pass_problem(step, range);
    auto choice = range.count == 1 ? choose_kernel(request, pass, facts) : shared.at({range.first, range.count});
    if (range.count > 1) add_notes(request, choice.evidence);
    part.stages.push_back(make_stage(pass, std::move(choice), facts));
  }
  return part;
}

/// What makes several steps, or all stages of one, in a pass over memory, where that is known to be faster than
/// `single`, which makes one step in several passes. A kernel of single steps that won the run's race comes into
/// `single`.
std::vector<PlanPart> Library::Impl::make_fused(const Request& request, PlanPart& single, const DeviceFacts& facts,
                                                Misses& misses) {
  std::vector<PlanPart> parts;
  const bool several_stages = request.stencil.stages.size() > 1;
  const auto add = [&](const Problem& problem, Choice chosen) {
    PlanPart& part = parts.emplace_back();
    part.steps = sweeps_per_launch(chosen.tuning);
    part.in_background = parts_.compile_in_background;
    part.next = launch_buffers(problem, part.steps).next;
    part.stages.push_back(make_stage(problem, std::move(chosen), facts));
  };
  if (request.steps != 1) {
    const Problem run = problem_of(request, kWholeStep, request.steps);
    if (auto choice = choose_fused(request, run, single, facts, misses)) {
      auto remainder = choose_remainder(run, *choice, facts.limits);
      if (remainder && !keeps_arrays_apart(run, sweeps_per_launch(remainder->tuning))) remainder.reset();
      std::vector<Choice> fewer = with_fewer_steps(run, *choice, facts.limits);
      add(run, std::move(*choice));
      if (remainder) add(run, std::move(*remainder));
      for (Choice& each : fewer) add(run, std::move(each));
      if (auto for_points = choose_for_points(run, parts, single, target_of(request, facts))) {
        add(run, std::move(*for_points));
        parts.back().for_points = true;
      }
    }
  }
  if (!several_stages || (!parts.empty() && parts.back().steps == 1)) return parts;
  const Problem step = problem_of(request, kWholeStep, 1);
  if (auto choice = choose_fused(request, step, single, facts, misses)) add(step, std::move(*choice));
  return parts;
}

/// For runs with points, where none of the parts takes them: the best winner that does and beats `single`.
std::optional<Choice> Library::Impl::choose_for_points(const Problem& run, std::span<const PlanPart> parts,
                                                       const PlanPart& single, LookupTarget target) {
  const bool one_takes_points = std::any_of(parts.begin(), parts.end(), [&](const PlanPart& part) {
    return points_obstacle({run, part.stages.front().tuning}, {}).empty();
  });
  if (one_takes_points) return std::nullopt;
  target.limits.least_fused_steps = 2;
  target.limits.takes_points = true;
  auto choice = choose_winner(run, target, parts_.winners(run, target.architecture));
  if (!choice || !keeps_arrays_apart(run, sweeps_per_launch(choice->tuning))) return std::nullopt;
  return choice->evidence.gstencils > known_rate(single.stages) ? choice : std::nullopt;
}

std::optional<Choice> Library::Impl::choose_fused(const Request& request, const Problem& problem, PlanPart& single,
                                                  const DeviceFacts& facts, Misses& misses) {
  if (!problem.step.obstacle.empty()) return std::nullopt;
  const LookupTarget target = target_of(request, facts);
  auto choice = choose_winner(problem, target, parts_.winners(problem, facts.architecture));
  const auto keeps_apart = [&] { return choice && keeps_arrays_apart(problem, sweeps_per_launch(choice->tuning)); };
  const bool has_won = keeps_apart();
  if (!has_won) choice = predict_choice(problem, target, parts_.all_winners());
  const bool is_predicted = !has_won && keeps_apart();
  if (!has_won && !is_predicted) choice.reset();
  const bool fuses = choice && (sweeps_per_launch(choice->tuning) > 1 || problem.stage == kWholeStep);
  note_miss(request, problem, choice ? choice->evidence.match : Match::default_candidate, misses);
  StageKernel& stage = single.stages.front();
  const auto only_single_steps_won = [&] {
    if (problem.steps == 1 || !may_fuse_steps(problem, facts.limits)) return;
    stage.evidence.match = std::max(stage.evidence.match, Match::nearest_size);
    stage.evidence.loss = fmt::format(
        "no kernel that fuses steps has won for it{}: `{}` looks for one",
        is_predicted ? ", and the performance model expects none to gain" : ", which is often twice as fast and more",
        tuning_command(problem));
  };
  if (!fuses) {
    if (!has_won) only_single_steps_won();
    // A run's race is under continuous load, that of one sweep in bursts: what won the run's makes it.
    if (has_won && choice->evidence.match <= std::min(Match::stale, stage.evidence.match)) {
      add_notes(request, choice->evidence);
      auto meanwhile = std::move(stage.meanwhile);
      stage = make_stage(stage.problem, std::move(*choice), facts);
      stage.meanwhile = std::move(meanwhile);
    }
    return std::nullopt;
  }
  const double in_passes = is_predicted ? rate_on_grid(single.stages, target) : known_rate(single.stages);
  const double fused =
      is_predicted ? kTrusted * expected_rate(problem, target, choice->tuning) : choice->evidence.gstencils;
  if ((problem.stage == kWholeStep || is_predicted) && in_passes >= fused) {
    if (is_predicted) only_single_steps_won();
    const std::string_view way = single.shares_passes       ? "in passes that stages share"
                                 : single.stages.size() > 1 ? "stage by stage"
                                                            : "one by one";
    const std::string rate = is_predicted
                                 ? fmt::format("~{:.1f} at best, {:.1f} if the model is as far off as it may be",
                                               choice->evidence.gstencils, fused)
                                 : fmt::format("{:.1f}", fused);
    stage.evidence.notes.push_back(fmt::format("steps are made {} ({:.1f} GStencil/s), which is faster than {} ({})",
                                               way, in_passes, choice->evidence.code, rate));
    return std::nullopt;
  }
  add_notes(request, choice->evidence);
  return choice;
}

void Library::Impl::add_notes(const Request& request, Evidence& evidence) const {
  if (const std::string note = parts_.note(); !note.empty()) evidence.notes.push_back(note);
  if (!request.gpu.empty()) evidence.notes.push_back("looked up by name: no GPU was asked");
  for (const std::string& note : retuning_notes_) evidence.notes.push_back(note);
}

/// Where a stencil has several stages, its whole step is tuned, whatever is missing of it.
void Library::Impl::note_miss(const Request& request, const Problem& problem, Match match, Misses& misses) {
  if (match == Match::exact) return;
  std::vector<Problem>& problems = match == Match::stale ? misses.stale.problems : misses.missing.problems;
  if (request.stencil.stages.size() == 1) {
    problems.push_back(problem);
  } else if (problems.empty()) {
    problems.push_back(problem_of(request, kWholeStep, request.steps));
  }
}

Choice Library::Impl::choose_kernel(const Request& request, const Problem& problem, const DeviceFacts& facts) {
  Choice choice =
      choose(problem, target_of(request, facts), parts_.winners(problem, facts.architecture), parts_.all_winners());
  add_notes(request, choice.evidence);
  return choice;
}

StageKernel Library::Impl::make_stage(const Problem& problem, Choice choice, const DeviceFacts& facts,
                                      const std::optional<Box>& box) {
  StageKernel kernel;
  kernel.problem = problem;
  kernel.tuning = choice.tuning;
  kernel.evidence = std::move(choice.evidence);
  const int fused = sweeps_per_launch(kernel.tuning);
  kernel.inputs = kernel_inputs(problem, fused);
  kernel.outputs = launch_buffers(problem, fused).outputs;
  const Candidate candidate(problem, kernel.tuning);
  kernel.alignment = required_alignment(candidate);
  kernel.updated = box ? *box : stencil_tune::updated_box(problem);
  kernel.whole = std::make_shared<const PackedLaunch>(candidate, kernel.updated);
  if (facts.ordinal >= 0) kernel.loaded = share_loaded(generate(candidate), facts);
  return kernel;
}

}  // namespace stencil_tune
