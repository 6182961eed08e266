// Kernels of a grid with layers: one for each zone (generator/cut/zones.hpp), all for the same number of steps.
#include "db/stored_code.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "generator/cut/zones.hpp"
#include "generator/kernel_source/launch.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/lookup/by_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kDrawn = 128;  // candidates for a zone whose winner nobody knows

/// Whether cells of fields in the axis's layers stand in their arrays as far from the zone's first as those of others
/// do (SlabCells): at a low end the array begins with the grid, and where no layer is nothing of it is read.
bool counts_from_origin(const Problem& zone, std::size_t axis) {
  return zone.left_out[axis] == 0 || slab_cells(zone, axis).before > 0;
}

/// The zone's cells in the grid's arrays.
Window window_of(const Problem& step, const Zone& zone, const StageKernel& kernel) {
  const auto cell_bytes = static_cast<std::int64_t>(size_of(step.type));
  const auto beyond = [&](int field) {
    const auto& from = zone.origin;
    const Along along = profile_along(step.stencil, field);
    const int layers = layer_axis(step.stencil, field);
    std::int64_t cells = 0;
    if (along == 0) {
      const ArrayLayout array = array_of(step, field);
      const std::array<std::int64_t, kMaxRank> strides{1, array.row, array.plane};
      for (int axis = 0; axis < kMaxRank; ++axis) {
        if (axis != layers || counts_from_origin(zone.problem, at(axis))) cells += from[at(axis)] * strides[at(axis)];
      }
    }
    std::int64_t apart = 1;  // neighbours along the axis, in the profile's array
    for (const int axis : axes_of(along)) {
      cells += from[at(axis)] * apart;
      apart *= step.array_cells(at(axis));
    }
    return static_cast<std::size_t>(cells * cell_bytes);
  };
  Window window{.origin = zone.origin, .inputs = {}, .outputs = {}, .fields = zone.fields};
  for (const int field : kernel.inputs) window.inputs.push_back(beyond(field));
  for (const int field : kernel_outputs(zone.problem, sweeps_per_launch(kernel.tuning))) {
    window.outputs.push_back(beyond(zone.fields[at(field)]));
  }
  return window;
}

/// Places of the zone's outputs among the whole launch's buffers; a stage's stand in those of its own fields.
std::vector<int> places_of_outputs(const Zone& zone, int steps, const LaunchBuffers& buffers) {
  std::vector<int> places;
  for (const int field : kernel_outputs(zone.problem, std::max(steps, 1))) {
    const int of_grid = zone.fields[at(field)];
    const auto stored = std::find(buffers.stored.begin(), buffers.stored.end(), of_grid);
    places.push_back(steps == kByStages ? of_grid
                                        : buffers.outputs[static_cast<std::size_t>(stored - buffers.stored.begin())]);
  }
  return places;
}

/// A candidate that makes just so many steps in one launch.
bool makes_steps(const Problem& problem, const Tuning& tuning, int steps) {
  const bool whole = problem.stage == kWholeStep || problem.stencil.stages.size() == 1;
  return whole && sweeps_per_launch(tuning) == steps;
}

/// How much of the GPU's time a zone takes that is made beside others, in no unit: what its threads do, for cells that
/// they update in vain too, and more where its few blocks walk for longer than the largest zone's.
double cost_of(const Candidate& candidate, const Box& box) {
  constexpr double kLongWalk = 300;     // planes
  constexpr double kCellsOfThread = 2;  // whose updates take as long as all else that a thread does in a plane
  const LaunchGeometry geometry = launch_geometry(candidate, box);
  const Tuning& tuning = candidate.tuning();
  double threads = 1;
  for (std::size_t a = 0; a < kMaxRank; ++a) threads *= static_cast<double>(geometry.grid[a]) * geometry.block[a];
  const KernelShape& shape = candidate.shape();
  const double planes = static_cast<double>(shape.axes.extents[2]) / tuning.chunks + shape.fused.delay;
  return threads * (tuning.register_x * tuning.register_y + kCellsOfThread) * planes * (1 + planes / kLongWalk);
}

/// The candidate that should take least time among some legal ones, drawn by chance but always the same.
std::optional<Choice> any_choice(const Zone& zone, const LookupTarget& target, int steps) {
  Limits limits = target.limits;
  limits.least_fused_steps = steps;
  const Problem& problem = zone.problem;
  const Space space(problem, limits);
  std::mt19937_64 random(1);
  std::optional<Tuning> best;
  double least = 0;
  for (int drawn = 0; drawn < kDrawn; ++drawn) {
    const auto tuning = space.sample(random);
    if (!tuning || !makes_steps(problem, *tuning, steps)) continue;
    const Candidate candidate(problem, *tuning);
    if (target.alignment % required_alignment(candidate) != 0) continue;
    const double cost = cost_of(candidate, zone.box);
    if (best && cost >= least) continue;
    best = tuning;
    least = cost;
  }
  if (!best) return std::nullopt;
  return Choice{*best, {.match = Match::default_candidate, .code = code(*best), .tuned_code = {}, .notes = {}}};
}

double cells_of(const Problem& problem) { return static_cast<double>(updated_box(problem).cells()); }

/// Nanoseconds of a step; zones whose rate nobody knows count as slow ones.
double time_of(const PlanPart& part) {
  double known = 0, known_cells = 0, unknown_cells = 0;
  for (const StageKernel& zone : part.stages) {
    const double rate = zone.evidence.gstencils, cells = cells_of(zone.problem);
    known += rate > 0 ? cells / rate : 0;
    (rate > 0 ? known_cells : unknown_cells) += cells;
  }
  return known + kUnknownZoneSlowdown * unknown_cells * known / known_cells;
}

/// Whether the rate of a zone that is not small is an estimate.
bool is_estimated(const Problem& step, const PlanPart& part) {
  return std::any_of(part.stages.begin(), part.stages.end(), [&](const StageKernel& zone) {
    return !(zone.evidence.gstencils > 0) && cells_of(zone.problem) >= kSmallZone * cells_of(step);
  });
}

double rate_of(const Problem& step, const PlanPart& part) { return cells_of(step) / time_of(part); }

}  // namespace

std::optional<Choice> Library::Impl::choose_for_zone(const Request& request, const Zone& zone, int steps,
                                                     const DeviceFacts& facts, bool predicted) {
  if (predicted) {
    auto choice = predict_choice(zone.problem, target_of(request, facts), parts_.all_winners());
    if (choice && !makes_steps(zone.problem, choice->tuning, steps)) choice.reset();
    return choice;
  }
  auto winners = parts_.winners(zone.problem, facts.architecture);
  std::erase_if(winners, [&](const WinnerRecord& winner) {
    return !is_readable(winner.trial) || !makes_steps(zone.problem, parse_code(winner.trial.code), steps);
  });
  return choose_winner(zone.problem, target_of(request, facts), winners);
}

std::optional<std::vector<Choice>> Library::Impl::choose_for_zones(const Request& request,
                                                                   const std::vector<Zone>& zones, int steps,
                                                                   const DeviceFacts& facts, bool predicted) {
  std::map<std::pair<std::string, std::array<std::int64_t, kMaxRank>>, std::optional<Choice>> known;
  std::vector<Choice> choices;
  for (const Zone& zone : zones) {
    const auto [entry, is_new] = known.try_emplace({stencil_key(zone.problem.stencil), zone.problem.extents.n});
    std::optional<Choice>& choice = entry->second;
    if (is_new) {
      const bool is_largest = &zone == &zones.front();
      choice = choose_for_zone(request, zone, steps, facts, false);
      // What several steps cost in the small ones cost_of() knows better, whose kernels run beside others.
      if (!choice && (is_largest ? predicted : steps == 1)) choice = choose_for_zone(request, zone, steps, facts, true);
      if (!choice && !is_largest) {
        const LookupTarget target = target_of(request, facts);
        choice = any_choice(zone, target, steps);
        if (choice && predicted) choice->evidence.gstencils = expected_rate(zone.problem, target, choice->tuning);
      }
    }
    if (!choice) return std::nullopt;
    choices.push_back(*choice);
  }
  return choices;
}

std::optional<PlanPart> Library::Impl::make_in_zones(const Request& request, const Problem& step, int steps,
                                                     const DeviceFacts& facts, bool predicted) {
  const std::vector<std::vector<Zone>> passes = zone_passes(step, steps);
  if (passes.empty()) return std::nullopt;
  PlanPart part;
  part.steps = std::max(steps, 1);
  const LaunchBuffers buffers = launch_buffers(step, part.steps);
  part.next = steps == kByStages ? buffer_rotation(step.stencil) : buffers.next;
  part.in_background = parts_.compile_in_background;
  for (const std::vector<Zone>& zones : passes) {
    const auto choices = choose_for_zones(request, zones, part.steps, facts, predicted);
    if (!choices) return std::nullopt;
    part.zones.push_back(zones.size());
    for (std::size_t i = 0; i < zones.size(); ++i) {
      StageKernel& kernel = part.stages.emplace_back(make_stage(zones[i].problem, (*choices)[i], facts, zones[i].box));
      add_notes(request, kernel.evidence);
      for (int& field : kernel.inputs) field = zones[i].fields[at(field)];
      kernel.outputs = places_of_outputs(zones[i], steps, buffers);
      kernel.window = window_of(step, zones[i], kernel);
    }
  }
  if (steps != kByStages && !keeps_arrays_apart(step, steps)) return std::nullopt;
  const std::string how =
      steps == kByStages ? "stage by stage" : fmt::format("{} step{} at once", steps, steps == 1 ? "" : "s");
  std::vector<std::string>& notes = part.stages.front().evidence.notes;
  notes.insert(notes.begin(), fmt::format("the grid is made in {} zones, by their layers, {}: about {:.1f} GStencil/s",
                                          passes.front().size(), how, rate_of(step, part)));
  return part;
}

double Kernel::State::known_rate() const {
  return plan.front().in_zones() ? rate_of(step, plan.front()) : stencil_tune::known_rate(main_stages());
}

bool Library::Impl::make_in_zones(const Request& request, Kernel::State& state, const DeviceFacts& facts) {
  const Problem& step = state.step;
  if (!asks_layers(step)) return false;
  // The fastest, and the fastest of fewer steps: a run has few left for it that the stages have to make one by one.
  // Estimates take second place: zones whose cells were never timed may need twenty times as long for one.
  std::optional<PlanPart> best, shorter;
  const auto is_better = [&](const PlanPart& a, const PlanPart& b) {
    const bool a_known = !is_estimated(step, a), b_known = !is_estimated(step, b);
    return a_known == b_known ? time_of(a) < time_of(b) : a_known;
  };
  const auto look_for_best = [&](bool predicted) {
    const int most = step.step.obstacle.empty() ? std::min(kMostStepsInZones, request.steps) : kByStages;
    for (int steps = kByStages; steps <= most; ++steps) {
      auto part = make_in_zones(request, step, steps, facts, predicted);
      if (!part || (best && !is_better(*part, *best))) continue;
      shorter = std::exchange(best, std::move(part));
    }
  };
  look_for_best(false);
  const bool is_predicted = !best;
  if (is_predicted) look_for_best(true);
  const double of_stages = state.known_rate();
  if (!best || (is_predicted ? kTrusted : 1) * rate_of(step, *best) <= of_stages) return false;
  PlanPart stages = std::move(state.plan.back());
  const double step_time = time_of(*best);
  stages.time = of_stages > 0 ? step_time * rate_of(step, *best) / of_stages : kUnknownZoneSlowdown * step_time;
  state.plan.clear();
  if (request.steps % best->steps == 0) shorter.reset();  // its kernels compile for as long as the others
  for (std::optional<PlanPart>* part : {&best, &shorter}) {
    if (!*part) continue;
    (*part)->time = time_of(**part) * (*part)->steps;
    state.plan.push_back(std::move(**part));
  }
  state.plan.push_back(std::move(stages));
  return true;
}

}  // namespace stencil_tune
