// Kernel::advance: plans of fused launches and single steps, with points or without.
#include "runtime/library/point_run.hpp"
#include "runtime/library/stage_launch.hpp"
#include "stencil_tune/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {

namespace {

std::uintptr_t address_of(const void* buffer) { return reinterpret_cast<std::uintptr_t>(buffer); }

/// The cells that no step writes go from the current fields to the buffers that these will take turns with.
void copy_held_layers(const Kernel::State& state, CUstream_st* stream, std::span<void* const> buffers) {
  for (const LayerCopy& copy : layer_copies(state.step, state.buffers)) {
    void* const to = buffers[static_cast<std::size_t>(copy.to)];
    void* const from = buffers[static_cast<std::size_t>(copy.from)];
    for (const CopyRegion& layer : held_regions(state.stages()[static_cast<std::size_t>(copy.stage)].problem)) {
      state.driver->copy_region(address_of(to), address_of(from), layer, stream);
    }
  }
}

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
      state.driver->copy_region(address_of(*to), address_of(buffers[field]), whole_field(state.step), stream);
    }
    std::swap(*to, buffers[field]);
  }
}

/// One call of advance. Everything given was checked.
struct Advance {
  const Kernel::State& state;
  CUstream_st* stream;
  std::span<const double> coefficients;
  PointRun* points;  ///< null: none
  Place here;
  std::vector<void*> buffers;

  void run(std::int64_t steps) {
    for (std::size_t number = 0; number < state.plan.size(); ++number) {
      const Sweep& sweep = state.plan[number];
      if (!takes_part(sweep, number)) continue;
      for (; steps >= sweep.steps; steps -= sweep.steps) launch(sweep, number);
    }
    if (points != nullptr) points->leave();
  }

 private:
  bool takes_part(const Sweep& sweep, std::size_t number) const {
    if (points != nullptr) return points->takes(number);
    return !sweep.in_background || is_loaded(sweep, state.driver->current_context_id());
  }

  void launch(const Sweep& sweep, std::size_t number) {
    for (std::size_t stage = 0; stage < sweep.stages.size(); ++stage) {
      const StageLaunch launch{*state.driver, sweep.stages[stage], stream, buffers, coefficients, std::nullopt, here};
      if (points == nullptr) {
        launch.run();
      } else {
        points->launch(number, static_cast<int>(stage), launch);
      }
    }
    here.step += sweep.steps;
    const std::vector<void*> now = buffers;
    for (std::size_t i = 0; i < sweep.next.size(); ++i) buffers[i] = now[static_cast<std::size_t>(sweep.next[i])];
    if (points != nullptr) points->finish(number, buffers);
  }
};

void check_advance(const Kernel::State& state, std::span<void* const> fields, std::int64_t steps,
                   std::span<const double> coefficients) {
  if (steps < 0) throw Error(ErrorCode::invalid_argument, fmt::format("cannot advance by {} steps", steps));
  require_next_step(state.step);
  for (const Sweep& sweep : state.plan) {
    for (const StageKernel& stage : sweep.stages) check_launch(state, stage, fields, coefficients);
  }
}

void advance_fields(const Kernel::State& state, PointRun* points, const Place& place, CUstream_st* stream,
                    std::span<void*> fields, std::int64_t steps, std::span<const double> coefficients) {
  const std::vector<void*> spares = state.workspaces->of(stream);
  std::vector<void*> buffers(fields.begin(), fields.end());
  buffers.insert(buffers.end(), spares.begin(), spares.end());
  copy_held_layers(state, stream, buffers);
  Advance advance{state, stream, coefficients, points, place, std::move(buffers)};
  advance.run(steps);
  leave_spare_buffers(state, stream, advance.buffers, fields.size(), spares);
  std::copy_n(advance.buffers.begin(), fields.size(), fields.begin());
}

}  // namespace

void Kernel::advance(CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                     Span<const double> coefficients) const {
  advance_at({}, stream, fields, steps, coefficients);
}

void Kernel::advance_at(const Place& place, CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                        Span<const double> coefficients) const {
  check_advance(*state_, fields, steps, coefficients);
  if (steps > 0) advance_fields(*state_, nullptr, place, stream, fields, steps, coefficients);
}

void Kernel::advance_with_points(const Points& points, const PointData& data, CUstream_st* stream, Span<void*> fields,
                                 std::int64_t steps, Span<const double> coefficients, const Place& place) const {
  check_advance(*state_, fields, steps, coefficients);
  PointRun run(*state_, points.state(), data, steps, stream);
  if (steps > 0) advance_fields(*state_, &run, place, stream, fields, steps, coefficients);
}

}  // namespace stencil_tune
