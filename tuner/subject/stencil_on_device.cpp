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
  std::optional<std::string> verify_launches(int launches) override {
    return subject_.verification_.verify_launches(launcher_, launches);
  }
  Sharpness sharpness() override { return subject_.verification_.sharpness(launcher_); }
  void launch(int count) override { launcher_.launch(steps(), count, subject_.stream_); }
  int period() override { return static_cast<int>(steps().arguments.size()); }
  int sweeps() const override { return sweeps_per_launch(launcher_.tuning()); }

 private:
  const Launcher::Repeated& steps() {
    if (!steps_) steps_ = launcher_.prepare(subject_.problem_, subject_.fields_, subject_.coefficients_);
    return *steps_;
  }

  StencilOnDevice& subject_;
  Launcher launcher_;
  std::optional<Launcher::Repeated> steps_;  ///< prepared at the first launch
};

StencilOnDevice::StencilOnDevice(Driver& driver, const DeviceFacts& device, const Problem& problem, std::uint64_t seed,
                                 CUstream_st* stream)
    : driver_(driver),
      limits_(device.limits),
      problem_(problem),
      stream_(stream),
      coefficients_(default_coefficients(problem.stencil)),
      fields_(driver, require_fit(driver, device, problem), std::max(problem.allocated_cells(), kCheckedSteps)),
      verification_(driver, device.architecture, device.limits, problem, fields_, seed, stream) {}

std::unique_ptr<CandidateOnDevice> StencilOnDevice::load(const std::string& code, const CompiledKernel& kernel) {
  return std::make_unique<LoadedCandidate>(*this, code, kernel);
}

SubjectOnDevice::CopyBuffers StencilOnDevice::copy_buffers() {
  const StageFacts& facts = problem_.facts;
  return {fields_.field(facts.inputs.empty() ? facts.outputs.front() : facts.inputs.front()),
          fields_.field(facts.outputs.front()), problem_.field_bytes()};
}

}  // namespace stencil_tune
