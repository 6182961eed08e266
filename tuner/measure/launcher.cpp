#include "tuner/measure/launcher.hpp"

#include "generator/candidates/family.hpp"
#include "generator/stencil/buffers.hpp"
#include "runtime/library/launch/packed_launch.hpp"
#include "tuner/subject/on_device.hpp"
#include "tuner/verify/check_numbers.hpp"

namespace stencil_tune {

Launcher::Launcher(Driver& driver, const Tuning& tuning, const CompiledKernel& kernel)
    : driver_(&driver), tuning_(tuning), module_(driver, kernel) {}

std::optional<std::string> Launcher::exceeded_limit(const Problem& problem) {
  const LaunchGeometry geometry = launch_geometry({problem, tuning_}, updated_box(problem));
  return stencil_tune::exceeded_limit(module_, geometry);
}

double Launcher::occupancy(const Problem& problem, const Limits& limits) const {
  const LaunchGeometry geometry = launch_geometry({problem, tuning_}, updated_box(problem));
  return stencil_tune::occupancy(module_, geometry, limits);
}

Launcher::Repeated Launcher::prepare(const Problem& problem, const FieldSet& fields,
                                     std::span<const double> coefficients) const {
  const PackedLaunch launch({problem, tuning_}, updated_box(problem));
  Repeated steps{launch.geometry(), {}};
  const int fused = sweeps_per_launch(tuning_);
  const std::vector<int> inputs = kernel_inputs(problem, fused);
  const LaunchBuffers buffers = launch_buffers(problem, fused);
  for (const Phase& phase : phases(buffers)) {
    const auto addresses = [&](const std::vector<int>& places) {
      std::vector<int> now;
      for (int place : places) now.push_back(phase[static_cast<std::size_t>(place)]);
      return fields.addresses(now);
    };
    std::vector<std::byte> argument(launch.argument_bytes());
    launch.write_argument(*driver_, addresses(inputs), addresses(buffers.outputs), coefficients, argument, kCheckPlace);
    steps.arguments.push_back(std::move(argument));
  }
  return steps;
}

void Launcher::launch(const Repeated& steps, int count, CUstream_st* stream) const {
  for (int i = 0; i < count; ++i) {
    module_.launch(steps.geometry, steps.arguments[static_cast<std::size_t>(i) % steps.arguments.size()], stream);
  }
}

void Launcher::step(const Problem& problem, const FieldSet& fields, std::span<const double> coefficients,
                    CUstream_st* stream) const {
  launch(prepare(problem, fields, coefficients), 1, stream);
}

}  // namespace stencil_tune
