#include "runtime/model/occupancy.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr int kWarp = 32;
constexpr int kSchedulers = 4;
constexpr int kRegisterUnit = 256;

template <class T>
T round_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

int blocks_by_registers(const Limits& limits, int registers, int warps) {
  if (registers == 0) return limits.max_blocks_per_sm;
  if (registers > limits.max_registers_per_thread) return 0;
  const int per_warp = round_up(registers * kWarp, kRegisterUnit);
  const int warps_held = limits.registers_per_sm / per_warp / kSchedulers * kSchedulers;
  return warps_held / warps;
}

int blocks_by_shared(const Limits& limits, std::size_t bytes) {
  if (bytes > limits.shared_per_block) return 0;
  const bool ampere_or_newer = limits.compute_capability >= 80;
  const std::size_t unit = ampere_or_newer ? 128 : 256;
  const std::size_t system = ampere_or_newer ? 1024 : 0;
  const std::size_t taken = round_up(bytes, unit) + system;
  return taken == 0 ? limits.max_blocks_per_sm : static_cast<int>(limits.shared_per_sm / taken);
}

}  // namespace

Occupancy occupancy_of(const Limits& limits, const BlockNeeds& needs) {
  const int warps = (needs.threads + kWarp - 1) / kWarp;
  if (warps == 0 || needs.threads > limits.max_threads_per_block) return {0, 0, 0, "threads"};

  Occupancy result{limits.max_threads_per_sm / (warps * kWarp), 0, 0, "threads"};
  const auto limit = [&](int blocks, std::string_view what) {
    if (blocks < result.blocks) result.blocks = blocks, result.limited_by = what;
  };
  limit(limits.max_blocks_per_sm, "blocks");
  limit(blocks_by_registers(limits, needs.registers, warps), "registers");
  limit(blocks_by_shared(limits, needs.shared_bytes), "shared memory");

  result.warps = result.blocks * warps;
  result.share = static_cast<double>(result.warps) * kWarp / limits.max_threads_per_sm;
  return result;
}

}  // namespace stencil_tune
