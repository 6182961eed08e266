#include "tuner/subject/stencil_on_device.hpp"

#include "generator/candidates/family.hpp"
#include "generator/stencil/describe.hpp"
#include "stencil_tune/error.hpp"

#include <optional>

namespace stencil_tune {
namespace {

/// Refused before any allocation, so that the message can say what all fields need together.
const Problem& require_fit(Driver& driver, const DeviceFacts& device, const Problem& problem) {
  require_memory(problem, driver.free_memory(), device.memory_bytes);
  if (updated_box(problem).cells() == 0) {
    throw Error(ErrorCode::nothing_to_update, "boundary hold keeps every cell of a " + to_string(problem.extents) +
                                                  " grid (layers: " + held_text(problem) + "); take a larger one");
  }
  return problem;
}

std::vector<double> default_coefficients(const Stencil& stencil) {
  std::vector<double> values;
  for (const Coefficient& coefficient : stencil.coefficients) values.push_back(coefficient.value);
  return values;
}

}  // namespace

class StencilOnDevice::LoadedCandidate final : public CandidateOnDevice {
 public:
  LoadedCandidate(StencilOnDevice& subject, const std::string& code, const CompiledKernel& kernel)
      : subject_(subject), launcher_(subject.driver_, parse_code(code), kernel) {}

  std::optional<std::string> exceeded_limit() override { return launcher_.exceeded_limit(subject_.problem_); }
  double occupancy() const override { return launcher_.occupancy(subject_.problem_, subject_.limits_); }
  std::optional<std::string> verify() override { return subject_.verification_.verify(launcher_); }
  std::optional<std::string> verify_launches(int launches, Cells cells) override {
    return subject_.verification_.verify_launches(launcher_, launches, cells == Cells::all);
  }
  Sharpness sharpness() override { return subject_.verification_.sharpness(launcher_); }
  void launch(int count) override {
    if (subject_.beside_.empty()) return launcher_.launch(steps(), count, subject_.stream_);
    launch_beside(count);
  }
  int period() override {
    return static_cast<int>(subject_.beside_.empty() ? steps().arguments.size() : 1 + subject_.beside_.size());
  }
  int sweeps() const override { return sweeps_per_launch(launcher_.tuning()); }

 private:
  /// The grid that is verified is number 0, those beside it follow.
  const Launcher::Repeated& steps(std::size_t grid = 0) {
    while (steps_.size() <= grid) {
      const FieldSet& fields = steps_.empty() ? subject_.fields_ : subject_.beside_[steps_.size() - 1].fields;
      steps_.push_back(launcher_.prepare(subject_.problem_, fields, subject_.coefficients_));
    }
    return steps_[grid];
  }

  /// The grids take turns, each on its own stream.
  void launch_beside(int count) {
    const std::size_t grids = 1 + subject_.beside_.size();
    subject_.begun_.record(subject_.stream_);
    for (const Beside& grid : subject_.beside_) subject_.begun_.hold_back(grid.stream.get());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const std::size_t grid = i % grids;
      launcher_.launch(steps(grid), 1, grid == 0 ? subject_.stream_ : subject_.beside_[grid - 1].stream.get());
    }
    for (const Beside& grid : subject_.beside_) {
      grid.done.record(grid.stream.get());
      grid.done.hold_back(subject_.stream_);
    }
  }

  StencilOnDevice& subject_;
  Launcher launcher_;
  std::vector<Launcher::Repeated> steps_;  ///< [grid]: prepared at its first launch
};

StencilOnDevice::StencilOnDevice(Driver& driver, const DeviceFacts& device, const Problem& problem, int beside,
                                 std::uint64_t seed, CUstream_st* stream)
    : driver_(driver),
      limits_(device.limits),
      problem_(problem),
      stream_(stream),
      coefficients_(default_coefficients(problem.stencil)),
      fields_(driver, require_fit(driver, device, problem), std::max(problem.allocated_cells(), kCheckedSteps)),
      verification_(driver, device.architecture, device.limits, problem, fields_, seed, stream),
      begun_(driver) {
  // What verification may still allocate, a reference for each number of steps, stays free.
  const std::size_t left_free = device.memory_bytes / 4;
  while (std::ssize(beside_) + 1 < beside && driver.free_memory() > left_free + field_set_bytes(problem)) {
    beside_.push_back({Stream(driver), Event(driver), FieldSet(driver, problem, problem.allocated_cells())});
  }
}

void StencilOnDevice::fill_for_timing() {
  verification_.fill_for_timing();
  for (const Beside& grid : beside_) {
    for (const int place : places_in_use(problem_)) {
      driver_.copy_on_device(grid.fields.field(place), fields_.field(place), problem_.field_bytes(), stream_);
    }
  }
}

std::unique_ptr<CandidateOnDevice> StencilOnDevice::load(const std::string& code, const CompiledKernel& kernel) {
  return std::make_unique<LoadedCandidate>(*this, code, kernel);
}

SubjectOnDevice::CopyBuffers StencilOnDevice::copy_buffers() {
  const StageFacts& facts = problem_.facts;
  return {fields_.field(facts.inputs.empty() ? facts.outputs.front() : facts.inputs.front()),
          fields_.field(facts.outputs.front()), problem_.field_bytes()};
}

}  // namespace stencil_tune
