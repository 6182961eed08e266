#include "stencil_tune/kernel.hpp"

#include "runtime/library/field_checks.hpp"
#include "runtime/library/kernel_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {

namespace {

constexpr std::size_t kFieldsOnStack = 8;
constexpr std::size_t kArgumentOnStack = 2048;

/// Addresses of some fields, in the order the kernel wants; on the stack for all but unusual stencils.
class Addresses {
 public:
  Addresses(std::span<const int> chosen, std::span<void* const> fields) : size_(chosen.size()) {
    if (size_ > few_.size()) many_.resize(size_);
    std::uint64_t* to = data();
    for (const int field : chosen) *to++ = reinterpret_cast<std::uintptr_t>(fields[static_cast<std::size_t>(field)]);
  }

  std::span<const std::uint64_t> get() const { return {size_ > few_.size() ? many_.data() : few_.data(), size_}; }

 private:
  std::uint64_t* data() { return size_ > few_.size() ? many_.data() : few_.data(); }

  std::size_t size_;
  std::array<std::uint64_t, kFieldsOnStack> few_{};
  std::vector<std::uint64_t> many_;
};

/// A launch's parameter; on the stack for all but stencils with hundreds of coefficients.
class ArgumentBytes {
 public:
  explicit ArgumentBytes(std::size_t size) : size_(size) {
    if (size_ > few_.size()) many_.resize(size_);
  }

  std::span<std::byte> get() { return {size_ > few_.size() ? many_.data() : few_.data(), size_}; }

 private:
  std::size_t size_;
  alignas(64) std::array<std::byte, kArgumentOnStack> few_;  // written whole before it is read
  std::vector<std::byte> many_;
};

const StageKernel& stage_at(const Kernel::State& state, int stage) {
  if (stage < 0 || static_cast<std::size_t>(stage) >= state.stages().size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stage {}: the stencil has {}, numbered from 0", stage, state.stages().size()));
  }
  return state.stages()[static_cast<std::size_t>(stage)];
}

void check_coefficients(const Stencil& stencil, std::span<const double> coefficients) {
  if (coefficients.empty() || coefficients.size() == stencil.coefficients.size()) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("stencil '{}' has {} coefficients, {} were given", stencil.name,
                                                       stencil.coefficients.size(), coefficients.size()));
}

[[noreturn]] void refuse_context(bool is_current) {
  throw Error(ErrorCode::invalid_argument,
              is_current ? "the kernel was not prepared in the current CUDA context: call Kernel::prepare there, on "
                           "the GPU it was looked up for"
                         : "no CUDA context is current on this thread: call cudaSetDevice, cuCtxSetCurrent or make a "
                           "DeviceContext, then Kernel::prepare");
}

/// The driver that runs the kernel.
Driver& driver_of(const Kernel::State& state) {
  if (state.driver != nullptr) return *state.driver;
  throw Error(ErrorCode::no_device,
              fmt::format("the kernel was looked up for {} by name, so that no GPU can run it: write it out with "
                          "Kernel::export_cuda, or look it up without Request::gpu where the GPU is",
                          state.gpu.empty() ? state.architecture : state.gpu));
}

/// One launch of some cells. Everything given was checked.
struct StageLaunch {
  Driver& driver;
  const StageKernel& stage;
  CUstream_st* stream;
  std::span<void* const> buffers;  ///< of the fields, and spare ones
  std::span<const double> coefficients;
  const std::optional<Box>& box;
  const Place& place;

  void run() const {
    const std::uint64_t context = driver.current_context_id();
    const Module* module = stage.loaded->find(context);
    if (module == nullptr) return run_meanwhile(context);
    const auto launch = box ? stage.boxes->find_or_make(stage.problem, stage.tuning, *box) : stage.whole;
    ArgumentBytes argument(launch->argument_bytes());
    launch->write_argument(driver, inputs().get(), outputs().get(), coefficients, argument.get(), place);
    module->launch(launch->geometry(), argument.get(), stream);
  }

 private:
  void run_meanwhile(std::uint64_t context) const {
    const Module* module = stage.meanwhile ? stage.meanwhile->loaded->find(context) : nullptr;
    if (module == nullptr) refuse_context(context != 0);
    const Box& cells = box ? *box : stage.updated;
    module->launch(TapLaunch::geometry(cells),
                   stage.meanwhile->launch.argument(cells, inputs().get(), outputs().get(), coefficients), stream);
  }

  Addresses inputs() const { return {stage.inputs, buffers}; }
  Addresses outputs() const { return {stage.outputs, buffers}; }
};

void check_launch(const Kernel::State& state, const StageKernel& stage, std::span<void* const> fields,
                  std::span<const double> coefficients) {
  Driver& driver = driver_of(state);
  check_fields(stage.problem, stage.alignment, fields);
  check_reach(driver, state.device, stage.problem, fields);
  check_coefficients(stage.problem.stencil, coefficients);
}

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

/// Loads the kernel of choice, or what runs until it is compiled.
void prepare_stage(const StageKernel& stage, bool in_background) {
  const std::size_t shared_bytes = stage.whole->geometry().shared_bytes;
  if (!stage.meanwhile && !in_background) return stage.loaded->prepare(shared_bytes);
  if (stage.loaded->prepare_without_compiling(shared_bytes)) return;
  stage.loaded->prepare_in_background(shared_bytes);
  if (stage.meanwhile) stage.meanwhile->loaded->prepare(0);
}

bool is_loaded(const Sweep& sweep, std::uint64_t context) {
  return std::all_of(sweep.stages.begin(), sweep.stages.end(),
                     [&](const StageKernel& stage) { return stage.loaded->find(context) != nullptr; });
}

}  // namespace

const StageKernel& Kernel::State::main_stage(int stage) const {
  const StageKernel& alone = stage_at(*this, stage);
  return stages().size() == 1 ? main_stages().front() : alone;
}

Match Kernel::match() const noexcept {
  Match worst = Match::exact;
  for (const StageKernel& stage : state_->main_stages()) worst = std::max(worst, stage.evidence.match);
  return worst;
}

int Kernel::stages() const noexcept { return static_cast<int>(state_->stages().size()); }

int Kernel::fused_steps() const noexcept { return state_->plan.front().steps; }

const Evidence& Kernel::evidence(int stage) const { return state_->main_stage(stage).evidence; }

const Evidence& Kernel::run_evidence() const noexcept {
  const std::vector<StageKernel>& main = state_->main_stages();
  const auto worst = std::max_element(main.begin(), main.end(), [](const StageKernel& a, const StageKernel& b) {
    return a.evidence.match < b.evidence.match;
  });
  return worst->evidence;
}

bool Kernel::fuses_stages() const noexcept { return stages() > 1 && state_->main_stages().size() == 1; }

std::size_t Kernel::alignment() const noexcept {
  std::size_t alignment = 1;
  for (const Sweep& sweep : state_->plan) {
    for (const StageKernel& stage : sweep.stages) alignment = std::max(alignment, stage.alignment);
  }
  return alignment;
}

std::size_t Kernel::field_bytes() const noexcept { return state_->stages().front().problem.field_bytes(); }

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
  for (const Sweep& sweep : state_->plan) {
    for (const StageKernel& stage : sweep.stages) prepare_stage(stage, sweep.in_background);
  }
}

bool Kernel::ready() const {
  if (state_->driver == nullptr) return false;
  const std::uint64_t context = state_->driver->current_context_id();
  return std::all_of(state_->plan.begin(), state_->plan.end(),
                     [&](const Sweep& sweep) { return is_loaded(sweep, context); });
}

void Kernel::wait() {
  prepare();
  for (const Sweep& sweep : state_->plan) {
    for (const StageKernel& stage : sweep.stages) stage.loaded->prepare(stage.whole->geometry().shared_bytes);
  }
}

void Kernel::launch_stage_at(const Place& place, int stage, CUstream_st* stream, Span<void* const> fields,
                             Span<const double> coefficients, const std::optional<Box>& box) const {
  const StageKernel& kernel = stage_at(*state_, stage);
  check_launch(*state_, kernel, fields, coefficients);
  if (box) check_box(*box, kernel.updated);
  StageLaunch{*state_->driver, kernel, stream, fields, coefficients, box, place}.run();
}

void Kernel::launch_stage(int stage, CUstream_st* stream, Span<void* const> fields, Span<const double> coefficients,
                          const std::optional<Box>& box) const {
  launch_stage_at({}, stage, stream, fields, coefficients, box);
}

void Kernel::launch_at(const Place& place, CUstream_st* stream, Span<void* const> fields,
                       Span<const double> coefficients, const std::optional<Box>& box) const {
  if (box && state_->stages().size() > 1) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the stencil has {} stages, which reach into each other's cells; launch boxes stage by stage",
                    state_->stages().size()));
  }
  for (int stage = 0; stage < stages(); ++stage) launch_stage_at(place, stage, stream, fields, coefficients, box);
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

void Kernel::advance(CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                     Span<const double> coefficients) const {
  advance_at({}, stream, fields, steps, coefficients);
}

void Kernel::advance_at(const Place& place, CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                        Span<const double> coefficients) const {
  if (steps < 0) throw Error(ErrorCode::invalid_argument, fmt::format("cannot advance by {} steps", steps));
  require_next_step(state_->step);
  for (const Sweep& sweep : state_->plan) {
    for (const StageKernel& stage : sweep.stages) check_launch(*state_, stage, fields, coefficients);
  }
  if (steps == 0) return;
  const std::vector<void*> spares = state_->workspaces->of(stream);
  std::vector<void*> buffers(fields.begin(), fields.end());
  buffers.insert(buffers.end(), spares.begin(), spares.end());
  copy_held_layers(*state_, stream, buffers);

  Place here = place;
  std::vector<void*> now;
  for (const Sweep& sweep : state_->plan) {
    if (sweep.in_background && !is_loaded(sweep, state_->driver->current_context_id())) continue;
    for (; steps >= sweep.steps; steps -= sweep.steps) {
      for (const StageKernel& stage : sweep.stages) {
        StageLaunch{*state_->driver, stage, stream, buffers, coefficients, std::nullopt, here}.run();
      }
      here.step += sweep.steps;
      now = buffers;
      for (std::size_t i = 0; i < sweep.next.size(); ++i) buffers[i] = now[static_cast<std::size_t>(sweep.next[i])];
    }
  }
  leave_spare_buffers(*state_, stream, buffers, fields.size(), spares);
  std::copy_n(buffers.begin(), fields.size(), fields.begin());
}

}  // namespace stencil_tune
