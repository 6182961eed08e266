#include "tuner/measure/launcher.hpp"

#include "generator/candidates/family.hpp"
#include "generator/stencil/buffers.hpp"
#include "runtime/library/packed_launch.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/check_numbers.hpp"

#include <fmt/format.h>

namespace stencil_tune {
namespace {

unsigned threads_of(const LaunchGeometry& geometry) {
  return geometry.block[0] * geometry.block[1] * geometry.block[2];
}

}  // namespace

Launcher::Launcher(Driver& driver, const Tuning& tuning, const CompiledKernel& kernel)
    : driver_(&driver), tuning_(tuning), module_(driver, kernel) {}

std::optional<std::string> Launcher::exceeded_limit(const Problem& problem) {
  const LaunchGeometry geometry = launch_geometry({problem, tuning_}, updated_box(problem));
  const int most = module_.attribute(FunctionAttribute::max_threads_per_block);
  if (static_cast<int>(threads_of(geometry)) > most) {
    return fmt::format("a block has {} threads; with {} registers a thread the device runs {} at most",
                       threads_of(geometry), module_.attribute(FunctionAttribute::registers), most);
  }
  try {
    module_.allow_shared(geometry.shared_bytes);
  } catch (const Error& error) {
    return fmt::format("the device refuses {} bytes of shared memory a block: {}", geometry.shared_bytes, error.what());
  }
  if (module_.resident_blocks(geometry) < 1) {
    return fmt::format(
        "not even one block of {} threads, {} registers a thread and {} bytes of shared memory fits an SM",
        threads_of(geometry), module_.attribute(FunctionAttribute::registers), geometry.shared_bytes);
  }
  return std::nullopt;
}

double Launcher::occupancy(const Problem& problem, const Limits& limits) const {
  const LaunchGeometry geometry = launch_geometry({problem, tuning_}, updated_box(problem));
  const unsigned warps = (threads_of(geometry) + 31) / 32;
  const int most_warps = limits.max_threads_per_sm / 32;
  return static_cast<double>(module_.resident_blocks(geometry)) * warps / most_warps;
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
