#include "tuner/subject/on_device.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

namespace stencil_tune {
namespace {

unsigned threads_of(const LaunchGeometry& geometry) {
  return geometry.block[0] * geometry.block[1] * geometry.block[2];
}

}  // namespace

std::optional<std::string> exceeded_limit(Module& module, const LaunchGeometry& geometry) {
  const int most = module.attribute(FunctionAttribute::max_threads_per_block);
  if (static_cast<int>(threads_of(geometry)) > most) {
    return fmt::format("a block has {} threads; with {} registers a thread the device runs {} at most",
                       threads_of(geometry), module.attribute(FunctionAttribute::registers), most);
  }
  try {
    module.allow_shared(geometry.shared_bytes);
  } catch (const Error& error) {
    return fmt::format("the device refuses {} bytes of shared memory a block: {}", geometry.shared_bytes, error.what());
  }
  if (module.resident_blocks(geometry) < 1) {
    return fmt::format(
        "not even one block of {} threads, {} registers a thread and {} bytes of shared memory fits an SM",
        threads_of(geometry), module.attribute(FunctionAttribute::registers), geometry.shared_bytes);
  }
  return std::nullopt;
}

double occupancy(const Module& module, const LaunchGeometry& geometry, const Limits& limits) {
  const unsigned warps = (threads_of(geometry) + 31) / 32;
  const int most_warps = limits.max_threads_per_sm / 32;
  return static_cast<double>(module.resident_blocks(geometry)) * warps / most_warps;
}

}  // namespace stencil_tune
