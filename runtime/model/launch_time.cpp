#include "runtime/model/launch_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stencil_tune {
namespace {

/// Tiles of a strip, as templates/arguments.cuh has them.
double strip_rows(BlockOrder order) { return order == BlockOrder::raster ? 8 : 32; }

// How many blocks later the neighbour of a block on each axis runs.
std::array<double, kMaxRank> block_distances(const Work& work, BlockOrder order) {
  const auto [x, y, z] = work.tiles;
  switch (order) {
    case BlockOrder::z_first:
      return {z, z * x, 1};
    case BlockOrder::raster:
    case BlockOrder::raster32:
      return {1, x, x * std::min(y, strip_rows(order))};
    case BlockOrder::natural:
      break;
  }
  return {1, x, x * y};
}

// Bytes DRAM moves: every cell once, and again where a halo has left L2 before the neighbouring block reads it.
double dram_bytes(const Launch& launch) {
  const Work& work = launch.work;
  const double l2_bytes = launch.device.l2_mb * (1 << 20), cache_from = launch.calibration.memory.cache_from;
  const double block_bytes = work.tile[0] * work.tile[1] * work.tile[2] * work.cell_bytes;
  const auto distances = block_distances(work, launch.tuning.order);
  double reread = 0;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    if (work.tiles[a] <= 1) continue;
    // Blocks that run side by side read a common halo at the same time, unless it is one's end and the other's start.
    const bool side_by_side = distances[a] < launch.active_blocks;
    const bool walked = a == 2 && work.steps > 1;
    const double turns = work.tiles_of_block > 1 ? 2 : 1;  // all start at one time: neighbours are a whole wave apart
    const double between =
        side_by_side ? (walked ? turns * launch.active_blocks * block_bytes : 0) : distances[a] * block_bytes;
    reread += work.halo[a] / work.tile[a] * miss_share(between, l2_bytes, cache_from);
  }
  const double once = work.read_bytes + work.write_bytes;
  const double split = launch.calibration.fused.split_sector_cost * work.split_sectors * kSectorBytes;
  return (once + split + work.read_bytes * reread) * miss_share(once, l2_bytes, cache_from);
}

}  // namespace

void time_dram(const Launch& launch, double depth_cost, Prediction& p) {
  p.dram_bytes = dram_bytes(launch);
  const double in_order = 1 - depth_cost * std::log2(std::max(1.0, launch.work.steps));
  p.dram_ms = p.dram_bytes / (launch.device.dram_gbs * launch.calibration.memory.dram_efficiency * in_order) / 1e6;
}

void time_l2(const Launch& launch, double repeated_sectors, const SectorCosts& costs, double spilled_bytes,
             Prediction& p) {
  const Work& work = launch.work;
  const double once = work.read_bytes / kSectorBytes;
  const double rereads = std::max(0.0, work.l2_read_sectors - once) + repeated_sectors;
  p.l2_bytes =
      (costs.first_read * once + costs.reread * rereads + work.l2_write_sectors) * kSectorBytes + 0.5 * spilled_bytes;
  p.l2_ms = p.l2_bytes / (launch.device.l2_gbs * launch.calibration.memory.l2_efficiency) / 1e6;
}

double miss_share(double distance, double cache_bytes, double cache_from) {
  return std::clamp((distance / cache_bytes - cache_from) / (1 - cache_from), 0.0, 1.0);
}

double norm(std::initializer_list<double> times, double power) {
  double sum = 0;
  for (const double time : times) sum += std::pow(time, power);
  return std::pow(sum, 1 / power);
}

double together(const Prediction& p, double power) {
  return norm({p.dram_ms, p.l2_ms, p.l1_ms, p.shared_ms, p.issue_ms, p.latency_ms}, power);
}

double lanes(const DeviceModel& device, ElementType type) {
  return type == ElementType::f64 ? device.f64_lanes : device.f32_lanes;
}

double ready_clocks(const Prediction& p, double ready_share) {
  return 1 - std::pow(1 - ready_share, p.occupancy.warps / kSchedulers);
}

}  // namespace stencil_tune
