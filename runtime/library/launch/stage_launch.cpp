#include "runtime/library/launch/stage_launch.hpp"

#include "runtime/library/field_checks.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace stencil_tune {

namespace {

constexpr std::size_t kFieldsOnStack = 8;
constexpr std::size_t kArgumentOnStack = 2048;

/// Addresses of some fields, in the order the kernel wants; on the stack for all but unusual stencils.
class Addresses {
 public:
  /// beyond: bytes from each field's first cell; or none.
  Addresses(std::span<const int> chosen, std::span<void* const> fields, std::span<const std::size_t> beyond = {})
      : size_(chosen.size()) {
    if (size_ > few_.size()) many_.resize(size_);
    std::uint64_t* to = data();
    for (const int field : chosen) *to++ = reinterpret_cast<std::uintptr_t>(fields[static_cast<std::size_t>(field)]);
    for (std::size_t i = 0; i < beyond.size(); ++i) data()[i] += beyond[i];
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

void check_coefficients(const Stencil& stencil, std::span<const double> coefficients) {
  if (coefficients.empty() || coefficients.size() == stencil.coefficients.size()) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("stencil '{}' has {} coefficients, {} were given", stencil.name,
                                                       stencil.coefficients.size(), coefficients.size()));
}

}  // namespace

void refuse_context(bool is_current) {
  throw Error(ErrorCode::invalid_argument,
              is_current ? "the kernel was not prepared in the current CUDA context: call Kernel::prepare there, on "
                           "the GPU it was looked up for"
                         : "no CUDA context is current on this thread: call cudaSetDevice, cuCtxSetCurrent or make a "
                           "DeviceContext, then Kernel::prepare");
}

Driver& driver_of(const Kernel::State& state) {
  if (state.driver != nullptr) return *state.driver;
  throw Error(
      ErrorCode::no_device,
      fmt::format("the kernel was looked up for {} by name, so that no GPU can run it: export it, or look it up "
                  "where the GPU is, without its name",
                  state.gpu.empty() ? state.architecture : state.gpu));
}

bool is_loaded(const PlanPart& part, std::uint64_t context) {
  return std::all_of(part.stages.begin(), part.stages.end(),
                     [&](const StageKernel& stage) { return stage.loaded->find(context) != nullptr; });
}

void check_launch(const Kernel::State& state, const StageKernel& stage, std::span<void* const> fields,
                  std::span<const double> coefficients) {
  Driver& driver = driver_of(state);
  const Problem& problem = stage.window ? state.step : stage.problem;
  check_fields(problem, stage.alignment, fields);
  check_reach(driver, state.device, problem, fields);
  check_coefficients(stage.problem.stencil, coefficients);
}

void StageLaunch::run() const {
  const Module* module = stage.loaded->find(context);
  if (module == nullptr) return run_meanwhile();
  run(*module, {});
}

void StageLaunch::run(const Module& module, std::span<const std::byte> more) const {
  const auto launch = box ? stage.boxes->find_or_make(stage.problem, stage.tuning, *box) : stage.whole;
  const std::size_t own = launch->argument_bytes();
  ArgumentBytes argument(own + more.size());
  static const Window kWholeGrid;
  const Window& window = stage.window ? *stage.window : kWholeGrid;
  Place here = place;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) here.origin[axis] += window.origin[axis];
  launch->write_argument(driver, Addresses(stage.inputs, buffers, window.inputs).get(),
                         Addresses(stage.outputs, buffers, window.outputs).get(), coefficients,
                         argument.get().first(own), here);
  std::copy(more.begin(), more.end(), argument.get().begin() + static_cast<std::ptrdiff_t>(own));
  module.launch(launch->geometry(), argument.get(), stream);
}

void StageLaunch::run_meanwhile() const {
  const Module* module = stage.meanwhile ? stage.meanwhile->loaded->find(context) : nullptr;
  if (module == nullptr) refuse_context(context != 0);
  const Box& cells = box ? *box : stage.updated;
  module->launch(TapLaunch::geometry(cells),
                 stage.meanwhile->launch.argument(cells, Addresses(stage.inputs, buffers).get(),
                                                  Addresses(stage.outputs, buffers).get(), coefficients),
                 stream);
}

}  // namespace stencil_tune
