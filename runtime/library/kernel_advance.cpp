// Kernel::advance: plans of fused launches and single steps, with points or without.
#include "runtime/library/kernel_run.hpp"

#include "runtime/library/launch/box_parts.hpp"
#include "runtime/library/launch/stage_launch.hpp"
#include "runtime/library/points/point_run.hpp"
#include "stencil_tune/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace stencil_tune {

namespace {

std::uintptr_t address_of(const void* buffer) { return reinterpret_cast<std::uintptr_t>(buffer); }

/// What fields still have in spare buffers goes to the caller's, of which as many stand in places of spare ones.
void leave_spare_buffers(const Kernel::State& state, CUstream_st* stream, std::span<void*> buffers, std::size_t fields,
                         std::span<void* const> spares) {
  const std::vector<bool> counts = fields_that_count(state.step);
  const auto is_spare = [&](void* buffer) { return std::find(spares.begin(), spares.end(), buffer) != spares.end(); };
  auto to = buffers.begin() + static_cast<std::ptrdiff_t>(fields);
  for (std::size_t field = 0; field < fields; ++field) {
    if (!is_spare(buffers[field])) continue;
    to = std::find_if_not(to, buffers.end(), is_spare);
    if (counts[field]) {
      state.driver->copy_region(address_of(*to), address_of(buffers[field]),
                                whole_field(state.step, static_cast<int>(field)), stream);
    }
    std::swap(*to, buffers[field]);
  }
}

void make_run(const Kernel::State& state, RunLayers layers, PointRun* points, const Place& place, CUstream_st* stream,
              std::span<void*> fields, std::int64_t steps, std::span<const double> coefficients,
              std::span<const History> histories = {}) {
  KernelRun run(state, points, place, stream, fields, coefficients, layers, histories);
  run.advance(steps);
  run.leave(fields);
}

/// For each part, how often it is launched in a run of so many steps. parts: those that take part, the last one by one
/// step. Their times together are least where all are known; else those with most steps, the first, go first.
std::vector<std::int64_t> launches_of(std::span<const PlanPart* const> parts, std::int64_t steps) {
  constexpr std::int64_t kChosen = 64;  // steps of which all ways are tried; those before them are the first part's
  std::vector<std::int64_t> launches(parts.size(), 0);
  const bool all_known = std::all_of(parts.begin(), parts.end(), [](const PlanPart* part) { return part->time > 0; });
  const std::int64_t chosen = all_known ? kChosen : 0;
  for (std::size_t i = 0; i < parts.size() && steps > chosen; ++i) {
    launches[i] = (steps - chosen) / parts[i]->steps;
    steps -= launches[i] * parts[i]->steps;
    if (all_known) break;
  }
  std::vector<double> least{0};
  std::vector<std::size_t> last{0};  // [steps]: the part that makes the last of them
  while (std::ssize(least) <= steps) {
    const std::size_t now = least.size();
    least.push_back(std::numeric_limits<double>::infinity());
    last.push_back(0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto of_part = static_cast<std::size_t>(parts[i]->steps);
      if (of_part > now || least[now - of_part] + parts[i]->time >= least[now]) continue;
      least[now] = least[now - of_part] + parts[i]->time;
      last[now] = i;
    }
  }
  for (; steps > 0; steps -= parts[last[static_cast<std::size_t>(steps)]]->steps) {
    ++launches[last[static_cast<std::size_t>(steps)]];
  }
  return launches;
}

/// Throws Error(invalid_argument) for a field that there is not, and for arrays of later steps that a step cannot have.
void check_histories(const Kernel::State& state, std::span<const History> histories, std::span<void* const> fields,
                     std::int64_t steps, std::span<const double> coefficients) {
  std::vector<void*> later(fields.begin(), fields.end());
  for (const History& history : histories) {
    if (history.field < 0 || history.field >= std::ssize(later)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("History::field is {}; the stencil has {} fields", history.field, later.size()));
    }
    void*& array = later[static_cast<std::size_t>(history.field)];
    array = reinterpret_cast<void*>(address_of(array) + static_cast<std::uintptr_t>(history.bytes));
  }
  if (steps > 1) check_advance(state, later, steps, coefficients);
}

}  // namespace

KernelRun::KernelRun(const Kernel::State& state, PointRun* points, const Place& place, CUstream_st* stream,
                     std::span<void* const> fields, std::span<const double> coefficients, RunLayers layers,
                     std::span<const History> histories)
    : state_(state),
      context_(state.driver->current_context_id()),
      points_(points),
      here_(place),
      stream_(stream),
      coefficients_(coefficients),
      spares_(state.workspaces->of(stream)),
      sides_(state.workspaces->sides_of(stream)),
      buffers_(fields.begin(), fields.end()),
      histories_(histories),
      carried_(carried_layers(state.step, layers)) {
  for (const History& history : histories) {
    pages_.push_back(address_of(fields[static_cast<std::size_t>(history.field)]));
  }
  buffers_.insert(buffers_.end(), spares_.begin(), spares_.end());
  carried_.resize(buffers_.size(), -1);
}

void KernelRun::advance(std::int64_t steps, const SplitLaunch* split) {
  std::vector<const PlanPart*> parts;
  for (std::size_t number = 0; number < state_.plan.size(); ++number) {
    if (takes_part(state_.plan[number], number)) parts.push_back(&state_.plan[number]);
  }
  const std::vector<std::int64_t> launches = launches_of(parts, steps);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = static_cast<std::size_t>(parts[i] - state_.plan.data());
    const std::int64_t made = split == nullptr ? launch_as_graphs(*parts[i], number, launches[i]) : 0;
    for (std::int64_t n = made; n < launches[i]; ++n) launch(*parts[i], number, std::exchange(split, nullptr));
  }
}

void KernelRun::leave(std::span<void*> fields) {
  if (points_ != nullptr) points_->leave();
  leave_spare_buffers(state_, stream_, buffers_, fields.size(), spares_);
  std::copy_n(buffers_.begin(), fields.size(), fields.begin());
}

bool KernelRun::takes_part(const PlanPart& part, std::size_t number) const {
  if (!histories_.empty() && part.steps > 1) return false;
  if (points_ != nullptr) return points_->takes(number);
  return !part.for_points && (!part.in_background || is_loaded(part, context_));
}

void KernelRun::turn_pages() {
  for (std::size_t i = 0; i < histories_.size(); ++i) {
    const auto field = static_cast<std::size_t>(histories_[i].field);
    buffers_[field] = reinterpret_cast<void*>(pages_[i]);
    carried_[field] = -1;
    pages_[i] += static_cast<std::uintptr_t>(histories_[i].bytes);
  }
}

/// An older time level keeps its own layers until its buffer is stored to.
void KernelRun::fill_layers(const StageKernel& stage, CUstream_st* stream) {
  if (stage.held.empty()) return;
  std::vector<LayerCopier::Copy> copies;
  for (const HeldOutput& held : stage.held) {
    const int carried = std::exchange(carried_[static_cast<std::size_t>(held.place)], held.layers_of);
    if (carried == held.layers_of && !held.follows) continue;
    copies.push_back({buffers_[static_cast<std::size_t>(held.layers_of)],
                      buffers_[static_cast<std::size_t>(held.place)], held.stage, held.layers_of, held.place});
  }
  if (!copies.empty()) state_.layers->copy(context_, copies, stream);
}

void KernelRun::launch_stage(const StageKernel& stage, const std::optional<Box>& box) const {
  StageLaunch{*state_.driver, context_, stage, stream_, buffers_, coefficients_, box, here_}.run();
}

void KernelRun::launch_kernel(const PlanPart& part, std::size_t number, std::size_t kernel, CUstream_st* stream) {
  static const std::optional<Box> kAll;
  const StageLaunch launch{*state_.driver, context_, part.stages[kernel], stream, buffers_, coefficients_, kAll, here_};
  points_ != nullptr ? points_->launch(number, kernel, launch) : launch.run();
}

/// No zone waits for another, and none reads the layers that are copied. The small ones begin first: their few blocks
/// take long, and leave room for the others'.
void KernelRun::launch_zones(const PlanPart& part, std::size_t number, std::size_t first, std::size_t count) {
  Driver& driver = *state_.driver;
  driver.record_event(sides_.begun, stream_);
  for (CUstream_st* side : sides_.streams) driver.wait_for_event(side, sides_.begun);
  for (std::size_t zone = count - 1; zone > 0; --zone) {
    launch_kernel(part, number, first + zone, sides_.streams[zone % sides_.streams.size()]);
  }
  fill_layers(part.stages[first], sides_.streams.front());
  launch_kernel(part, number, first, stream_);
  for (std::size_t i = 0; i < sides_.streams.size(); ++i) {
    driver.record_event(sides_.done[i], sides_.streams[i]);
    driver.wait_for_event(stream_, sides_.done[i]);
  }
}

void KernelRun::launch_split(const StageKernel& stage, const Box& early, const SplitLaunch& split) const {
  const Box first = intersection(early, stage.updated);
  if (first.cells() == 0) {
    split.arrive();
    return launch_stage(stage, std::nullopt);
  }
  launch_stage(stage, first);
  split.arrive();
  for (const Box& rest : around(stage.updated, first)) launch_stage(stage, rest);
}

void KernelRun::launch(const PlanPart& part, std::size_t number, const SplitLaunch* split) {
  if (split != nullptr && (points_ != nullptr || part.in_zones())) split->arrive();
  turn_pages();
  if (points_ != nullptr) points_->begin(number);
  std::size_t first = 0;  // of a pass's kernels
  for (std::size_t pass = 0; pass < part.passes(); ++pass) {
    const StageKernel& kernel = part.stages[first];
    if (part.in_zones()) {
      launch_zones(part, number, first, part.zones[pass]);
    } else if (fill_layers(kernel, stream_); split != nullptr && pass == 0 && points_ == nullptr) {
      launch_split(kernel, split->early[number], *split);
    } else {
      launch_kernel(part, number, first, stream_);
    }
    if (points_ != nullptr) points_->finish_pass(number, pass, buffers_);
    first += part.in_zones() ? part.zones[pass] : 1;
  }
  here_.step += part.steps;
  buffers_before_ = buffers_;
  carried_before_ = carried_;
  for (std::size_t i = 0; i < part.next.size(); ++i) {
    buffers_[i] = buffers_before_[static_cast<std::size_t>(part.next[i])];
    carried_[i] = carried_before_[static_cast<std::size_t>(part.next[i])];
  }
  if (points_ != nullptr) points_->finish(number, buffers_before_, buffers_);
}

void check_advance(const Kernel::State& state, std::span<void* const> fields, std::int64_t steps,
                   std::span<const double> coefficients) {
  if (steps < 0) throw Error(ErrorCode::invalid_argument, fmt::format("cannot advance by {} steps", steps));
  require_next_step(state.step);
  for (const PlanPart& part : state.plan) {
    for (const StageKernel& stage : part.stages) check_launch(state, stage, fields, coefficients);
  }
}

void advance_fields(const Kernel::State& state, RunLayers layers, const Place& place, CUstream_st* stream,
                    std::span<void*> fields, std::int64_t steps, std::span<const double> coefficients) {
  check_advance(state, fields, steps, coefficients);
  if (steps > 0) make_run(state, layers, nullptr, place, stream, fields, steps, coefficients);
}

void Kernel::advance(CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                     Span<const double> coefficients) const {
  advance_at({}, stream, fields, steps, coefficients);
}

void Kernel::advance_at(const Place& place, CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                        Span<const double> coefficients) const {
  advance_fields(*state_, RunLayers::differ, place, stream, fields, steps, coefficients);
}

void Kernel::advance_with_points(const Points& points, const PointData& data, CUstream_st* stream, Span<void*> fields,
                                 std::int64_t steps, Span<const double> coefficients, const Place& place) const {
  check_advance(*state_, fields, steps, coefficients);
  PointRun run(*state_, points.state(), data, steps, stream);
  if (steps > 0) make_run(*state_, RunLayers::differ, &run, place, stream, fields, steps, coefficients);
}

void Kernel::advance_with_histories(Span<const History> histories, const Points* points, const PointData& data,
                                    CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                                    Span<const double> coefficients, const Place& place) const {
  check_advance(*state_, fields, steps, coefficients);
  check_histories(*state_, histories, fields, steps, coefficients);
  std::optional<PointRun> run;
  if (points != nullptr) run.emplace(*state_, points->state(), data, steps, stream);
  if (steps == 0) return;
  make_run(*state_, RunLayers::differ, run ? &*run : nullptr, place, stream, fields, steps, coefficients, histories);
}

}  // namespace stencil_tune
