#include "stencil_tune/kernel.hpp"

#include "runtime/library/field_checks.hpp"
#include "runtime/library/kernel_state.hpp"
#include "runtime/library/launch/measuring.hpp"
#include "runtime/library/launch/stage_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace stencil_tune {

namespace {

const StageKernel& stage_at(const Kernel::State& state, int stage) {
  if (stage < 0 || static_cast<std::size_t>(stage) >= state.stages().size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stage {}: the stencil has {}, numbered from 0", stage, state.stages().size()));
  }
  return state.stages()[static_cast<std::size_t>(stage)];
}

/// Loads the kernel of choice, or what runs until it is compiled.
void prepare_stage(const StageKernel& stage, bool in_background) {
  const std::size_t shared_bytes = stage.whole->geometry().shared_bytes;
  if (!stage.meanwhile && !in_background) return stage.loaded->prepare(shared_bytes);
  if (stage.loaded->prepare_without_compiling(shared_bytes)) return;
  stage.loaded->prepare_in_background(shared_bytes);
  if (stage.meanwhile) stage.meanwhile->loaded->prepare(0);
}

enum class FilledLayers { between, all };  // intermediates' alone, or all outputs'

/// The layers that the stage does not write. Everything that it is given was checked.
void fill_layers(const Kernel::State& state, std::uint64_t context, const StageKernel& stage, FilledLayers filled,
                 CUstream_st* stream, std::span<void* const> fields) {
  std::vector<LayerCopier::Copy> copies;
  for (const HeldOutput& held : stage.held) {
    if (filled == FilledLayers::between && !held.between) continue;
    void* const to = fields[static_cast<std::size_t>(held.place)];
    const void* const from = fields[static_cast<std::size_t>(held.layers_of)];
    if (to != from) copies.push_back({from, to, held.stage, held.layers_of, held.place});
  }
  state.layers->copy(context, copies, stream);
}

void launch_stage_in(const Kernel::State& state, std::uint64_t context, const StageKernel& stage, const Place& place,
                     CUstream_st* stream, std::span<void* const> fields, std::span<const double> coefficients,
                     const std::optional<Box>& box) {
  check_launch(state, stage, fields, coefficients);
  if (box) check_box(*box, stage.updated);
  fill_layers(state, context, stage, FilledLayers::between, stream, fields);
  StageLaunch{*state.driver, context, stage, stream, fields, coefficients, box, place}.run();
}

}  // namespace

void launch_step(const Kernel::State& state, std::uint64_t context, const Place& place, CUstream_st* stream,
                 std::span<void* const> fields, std::span<const double> coefficients, const std::optional<Box>& box) {
  if (box && state.stages().size() > 1) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the stencil has {} stages, which reach into each other's cells; launch boxes stage by stage",
                    state.stages().size()));
  }
  for (const StageKernel& stage : state.stages()) {
    launch_stage_in(state, context, stage, place, stream, fields, coefficients, box);
  }
}

void launch_step_into_new(const Kernel::State& state, std::uint64_t context, CUstream_st* stream,
                          std::span<void* const> fields, std::span<const double> coefficients) {
  for (const StageKernel& stage : state.stages()) check_launch(state, stage, fields, coefficients);
  for (std::size_t stage = 0; stage < state.stages().size(); ++stage) {
    const StageKernel& kernel = state.stages()[stage];
    fill_layers(state, context, kernel, FilledLayers::all, stream, fields);
    StageLaunch{*state.driver, context, kernel, stream, fields, coefficients, std::nullopt, {}}.run();
  }
}

const StageKernel& Kernel::State::main_stage(int stage) const {
  const StageKernel& alone = stage_at(*this, stage);
  return stages().size() == 1 && !plan.front().in_zones() ? main_stages().front() : alone;
}

Match Kernel::match() const noexcept { return run_evidence().match; }

int Kernel::stages() const noexcept { return static_cast<int>(state_->stages().size()); }

int Kernel::fused_steps() const noexcept { return state_->plan.front().steps; }

const Evidence& Kernel::evidence(int stage) const { return state_->main_stage(stage).evidence; }

const Evidence& Kernel::run_evidence() const noexcept { return state_->run_evidence; }

bool Kernel::fuses_stages() const noexcept { return stages() > 1 && state_->plan.front().passes() == 1; }

std::size_t Kernel::alignment() const noexcept {
  std::size_t alignment = 1;
  for (const PlanPart& part : state_->plan) {
    for (const StageKernel& stage : part.stages) alignment = std::max(alignment, stage.alignment);
  }
  return alignment;
}

std::size_t Kernel::field_bytes() const noexcept { return state_->stages().front().problem.field_bytes(); }

ArrayLayout Kernel::array(int field) const { return checked_array(state_->step, field); }

std::size_t Kernel::workspace_bytes() const noexcept {
  if (state_->workspaces) return state_->workspaces->bytes();
  return static_cast<std::size_t>(state_->buffers.spares) * field_bytes();
}

int Kernel::device() const noexcept { return state_->driver != nullptr ? state_->device : -1; }

Box Kernel::updated_box(int stage) const { return stage_at(*state_, stage).updated; }

void Kernel::prepare() {
  load();
  state_->workspaces->prepare(std::nullopt);
}

void Kernel::prepare(CUstream_st* stream) {
  load();
  state_->workspaces->prepare(stream);
}

void Kernel::load() {
  Driver& driver = driver_of(*state_);
  if (driver.current_context() == nullptr) refuse_context(false);
  const int device = driver.current_device();
  if (device != state_->device) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the kernel was looked up for GPU {}, the current CUDA context is on GPU {}; look it up for "
                    "that one too",
                    state_->device, device));
  }
  std::vector<KernelToPrepare> awaited;
  for (const PlanPart& part : state_->plan) {
    for (const StageKernel& stage : part.stages) {
      if (stage.meanwhile || part.in_background || part.for_points) continue;
      awaited.push_back({stage.loaded.get(), stage.whole->geometry().shared_bytes});
    }
  }
  prepare_beside_each_other(driver, awaited);
  for (const PlanPart& part : state_->plan) {
    for (const StageKernel& stage : part.stages) {
      if (!part.for_points) prepare_stage(stage, part.in_background);
    }
  }
  state_->layers->prepare();
  if (state_->measuring) state_->measuring->prepare();
}

bool Kernel::ready() const {
  if (state_->driver == nullptr) return false;
  const std::uint64_t context = state_->driver->current_context_id();
  return std::all_of(state_->plan.begin(), state_->plan.end(),
                     [&](const PlanPart& part) { return part.for_points || is_loaded(part, context); });
}

void Kernel::wait() {
  prepare();
  for (const PlanPart& part : state_->plan) {
    for (const StageKernel& stage : part.stages) {
      if (!part.for_points) stage.loaded->prepare(stage.whole->geometry().shared_bytes);
    }
  }
}

void Kernel::launch_stage_at(const Place& place, int stage, CUstream_st* stream, Span<void* const> fields,
                             Span<const double> coefficients, const std::optional<Box>& box) const {
  const StageKernel& kernel = stage_at(*state_, stage);
  const std::uint64_t context = driver_of(*state_).current_context_id();
  launch_stage_in(*state_, context, kernel, place, stream, fields, coefficients, box);
}

void Kernel::launch_stage(int stage, CUstream_st* stream, Span<void* const> fields, Span<const double> coefficients,
                          const std::optional<Box>& box) const {
  launch_stage_at({}, stage, stream, fields, coefficients, box);
}

void Kernel::launch_at(const Place& place, CUstream_st* stream, Span<void* const> fields,
                       Span<const double> coefficients, const std::optional<Box>& box) const {
  launch_step(*state_, driver_of(*state_).current_context_id(), place, stream, fields, coefficients, box);
}

void Kernel::launch(CUstream_st* stream, Span<void* const> fields, Span<const double> coefficients,
                    const std::optional<Box>& box) const {
  launch_at({}, stream, fields, coefficients, box);
}

void Kernel::launch(CUstream_st* stream, const void* in, void* out, Span<const double> coefficients,
                    const std::optional<Box>& box) const {
  const Problem& problem = state_->stages().front().problem;
  const StageFacts& facts = problem.facts;
  if (problem.stencil.fields.size() != 2 || facts.inputs.size() != 1 || facts.outputs.size() != 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("stencil '{}' has {} fields; give the address of each",
                                                         problem.stencil.name, problem.stencil.fields.size()));
  }
  std::array<void*, 2> fields{};
  fields[static_cast<std::size_t>(facts.inputs.front())] = const_cast<void*>(in);  // inputs are only ever read
  fields[static_cast<std::size_t>(facts.outputs.front())] = out;
  launch(stream, fields, coefficients, box);
}

}  // namespace stencil_tune
