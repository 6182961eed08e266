#include "tuner/model/model.hpp"

#include "generator/candidates/family.hpp"

#include "tuner/model/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

namespace stencil_tune {
namespace {

// One sweep. Fitted to 17700 kernels of 47 problems on one NVIDIA H200, 2026-11-21 and 22 (2D and 3D stars and boxes of
// order 1 to 8, all types, boundaries and kinds of rows; of three problems with thousands of kernels the 400 fastest
// and 1100 others): with guessed registers, the best of the twelve that it ranks first is 2.2 % slower than the best of
// all (9 % for the worst problem). Values that no one counter shows are what fits.
constexpr double kNorm = 2.95;
constexpr double kCopyNorm = 6;
constexpr double kDramEfficiency = 0.92;  // of the data sheet's peak, refresh and turn-around taken off
constexpr double kLatencyNs = 25;         // of a load from DRAM, with others on their way
constexpr double kBlockStartNs = 530;     // from a free slot to the first load, and from the last store to a free slot
constexpr double kBarrierNs = 11;
constexpr double kRereadCost = 0.76;     // of a sector read again by another block, one written being 1 ...
constexpr double kFirstReadCost = 0.17;  // ... and of one read for the first time, which DRAM bounds
constexpr double kStridedL1Cost = 1.36;  // of a wavefront, for each vector that a lane skips to its next cells
constexpr double kStridedL2Cost = 0.27;  // of a sector, likewise: parts of it are moved at a time
constexpr double kNearShare = 0.18;  // of the cost of rereads that clusters of blocks with copies on their way save ...
constexpr double kNearShareOfShort = 0.45;  // ... and those of short blocks that load by themselves
constexpr double kGatherNs = 100;  // until a cluster's places are free in one group of SMs, for each doubling ...
constexpr double kGatherOfWalksNs = 290;  // ... of blocks that walk and load by themselves
constexpr double kTurnNs = 1200;          // of a tile of a block that takes several: none starts early in its place
constexpr double kOverlapBetweenBarriers = 1.41;  // of arithmetic and shared memory of warps that wait for no data
constexpr double kReady = 0.095;                  // of the clocks, those in which one warp has an instruction ready
constexpr double kArithmeticClocks = 0.33;        // of a multiply-add, where lanes do one a clock: others hide most
constexpr double kOtherClocks = 2.6;              // of any other instruction, many of them loads ...
constexpr double kWaitingClocks = 4.43;           // ... and where warps wait for what they load
constexpr double kSharedCost = 1.7;               // of a wavefront: warps come to shared memory at the same time
constexpr double kDepthCost = 0.048;              // of DRAM's rate, for each time that a walk is twice as deep
constexpr double kL1Cost = 1.5;                   // of a wavefront: those of one access follow each other closely
constexpr double kSpillCost = 1.8;                // of what is spilled, that is moved at each plane
constexpr double kBeyondCopy = 0.56;              // the power at which a time counts that is longer than the copy's
constexpr double kSchedulers = 4;
constexpr double kBaseRegisters = 18;
constexpr double kCacheFrom = 0.36;  // part of L2 that surely still holds what was touched this many bytes ago

// Fused steps, of which few warps share a scheduler. Fitted to 969 kernels of twelve problems on one NVIDIA H200,
// 2026-11-21: known registers leave a deviation of 8 to 24 % within a problem, guessed ones of 9 to 31 %. What clusters
// cost is fitted to 4400 kernels of two of them, and what warps gain that wait within a step to 140 of twelve,
// 2026-11-22.
namespace fused {
constexpr double kNorm = 3.4;
constexpr double kReady = 0.57;               // of the clocks, those in which one warp has an instruction ready
constexpr double kF32Clocks = 1.25;           // of a scheduler for a multiply-add: operands in one register bank wait
constexpr double kOtherClocks = 0.55;         // for any other instruction; some that are counted never come to be
constexpr double kCachedInstructions = 1300;  // of a loop's body
constexpr double kFetchCost = 0.25;           // of an instruction beyond them, that of issuing it being 1
constexpr double kSpillCost = 0.25;           // of what is spilled, that is moved at each plane
constexpr double kRereadCost = 0.5;           // of a sector read again by another block
constexpr double kDepthCost = 0.01;           // of DRAM's rate, for each time that a walk is twice as deep
constexpr double kApartCost = 1.2;            // of DRAM's time where a column's chunks run at once, in planes far apart
constexpr double kStoredCost = 1.05;          // of it where what is stored stays in L2 in place of halos
constexpr double kBlockStartNs = 150;
constexpr double kTripNs = 840;          // of a group of planes from DRAM, with others on their way
constexpr double kSeamNs = 120;          // for which two blocks of a cluster wait for each other at each plane; of four
                                         // or eight each waits for others that wait: as often as their number halves
constexpr double kOverlapOfWarps = 3.5;  // of arithmetic, shuffles and shared memory
constexpr double kOverlapWithBarriers = 1.44;
constexpr double kSlackOfLastLevel = 0.7;  // by how much more overlaps where warps wait for each other before the last
                                           // level is updated, were that all of the work
}  // namespace fused

// How likely data last touched `distance` bytes ago has left the cache.
double miss_share(double distance, double cache_bytes) {
  return std::clamp((distance / cache_bytes - kCacheFrom) / (1 - kCacheFrom), 0.0, 1.0);
}

// Walking several planes keeps as many distant DRAM pages open at once. Measured with copies done column-wise over z:
// depth 4 loses 1.5 %, 16 loses 4 %, 64 loses 6 %, 512 between 7 and 24 %.
double access_order_efficiency(double depth, double loss) { return 1 - loss * std::log2(std::max(1.0, depth)); }

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
double dram_bytes(const Work& work, const Tuning& tuning, double active_blocks, double l2_bytes) {
  const double block_bytes = work.tile[0] * work.tile[1] * work.tile[2] * work.cell_bytes;
  const auto distances = block_distances(work, tuning.order);
  double reread = 0;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    if (work.tiles[a] <= 1) continue;
    // Blocks that run side by side read a common halo at the same time, unless it is one's end and the other's start.
    const bool together = distances[a] < active_blocks;
    const bool walked = a == 2 && work.steps > 1;
    const double turns = work.tiles_of_block > 1 ? 2 : 1;  // all start at one time: neighbours are a whole wave apart
    const double between = together ? (walked ? turns * active_blocks * block_bytes : 0) : distances[a] * block_bytes;
    reread += work.halo[a] / work.tile[a] * miss_share(between, l2_bytes);
  }
  const double once = work.read_bytes + work.write_bytes;
  return (once + work.read_bytes * reread) * miss_share(once, l2_bytes);
}

int guessed_registers(const Problem& problem, const Work& work) {
  const double words = problem.type == ElementType::f64 ? 2 : 1;
  return static_cast<int>(kBaseRegisters + work.other_registers + words * work.live_values);
}

// Registers the launch bounds leave a thread; the rest is spilled.
int register_limit(const Limits& limits, const Tuning& tuning, int threads) {
  const int blocks = std::max(1, tuning.min_blocks);
  return std::min(limits.max_registers_per_thread, limits.registers_per_sm / (threads * blocks) / 8 * 8);
}

/// The blocks of a cluster run in one group of SMs, of which there are 16 or two more; what is left of a group that
/// clusters do not fill is idle.
int reached_by_clusters(int multiprocessors, int blocks_per_sm, int cluster) {
  constexpr int kGroup = 16;
  const bool fill_groups = 2 * blocks_per_sm % cluster == 0;
  return fill_groups || multiprocessors < kGroup ? multiprocessors : multiprocessors / kGroup * kGroup;
}

/// The times of parts that overlap, together.
double norm(std::initializer_list<double> times, double power) {
  double sum = 0;
  for (const double time : times) sum += std::pow(time, power);
  return std::pow(sum, 1 / power);
}

double lanes(const DeviceModel& device, ElementType type) {
  return type == ElementType::f64 ? device.f64_lanes : device.f32_lanes;
}

}  // namespace

PerformanceModel::PerformanceModel(const Problem& problem, const Limits& limits, DeviceModel device)
    : problem_(problem), limits_(limits), device_(std::move(device)) {}

double PerformanceModel::copy_ceiling_gbs() const {
  const double bytes = 2 * static_cast<double>(problem_.field_bytes());
  const double dram = bytes * miss_share(bytes, device_.l2_mb * (1 << 20)) / (device_.dram_gbs * kDramEfficiency);
  return bytes / norm({dram, bytes / device_.l2_gbs}, kCopyNorm);
}

Prediction PerformanceModel::predict(const Tuning& tuning, const std::optional<KernelResources>& resources) const {
  const Work work = count_work(problem_, tuning);

  Prediction p;
  const int wanted = resources ? resources->registers : guessed_registers(problem_, work);
  p.registers = resources ? wanted : std::min(wanted, register_limit(limits_, tuning, std::max(1, work.threads)));
  const double spill_bytes = resources ? resources->spill_bytes : 8.0 * (wanted - p.registers);
  const std::size_t shared = work.shared_bytes + static_cast<std::size_t>(resources ? resources->static_shared : 0);
  p.occupancy = occupancy_of(limits_, {work.threads, p.registers, shared});
  if (p.occupancy.blocks == 0 || work.cells <= 0) {
    p.time_ms = std::numeric_limits<double>::infinity();
    return p;
  }

  const double active_blocks = static_cast<double>(p.occupancy.blocks) *
                               reached_by_clusters(device_.multiprocessors, p.occupancy.blocks, tuning.cluster);
  Launch launch{};
  const double blocks = work.blocks / work.tiles_of_block;
  launch.waves = std::ceil(blocks / active_blocks);
  const double tail = launch.waves * active_blocks / blocks;  // SMs wait for the last wave; 1: none does
  launch.cycles_per_ms = device_.multiprocessors * device_.clock_ghz * 1e6 / std::min(tail, 2.0);
  launch.shared = static_cast<double>(p.occupancy.blocks) * static_cast<double>(shared);
  launch.spilled = work.blocks * work.threads * spill_bytes * work.steps;

  p.dram_bytes = dram_bytes(work, tuning, active_blocks, device_.l2_mb * (1 << 20));
  const bool steps_are_fused = tuning.family->fuses_steps;
  const double in_order = access_order_efficiency(work.steps, steps_are_fused ? fused::kDepthCost : kDepthCost);
  p.dram_ms = p.dram_bytes / (device_.dram_gbs * kDramEfficiency * in_order) / 1e6;
  if (steps_are_fused && work.tiles[1] > 1) {
    if (tuning.order == BlockOrder::z_first) p.dram_ms *= fused::kApartCost;
    if (tuning.store != StoreHint::streaming) p.dram_ms *= fused::kStoredCost;
  }
  if (steps_are_fused) {
    time_fused_steps(p, work, launch, tuning);
  } else {
    time_sweep(p, work, launch, tuning);
  }
  const std::array<std::pair<double, std::string_view>, 6> parts{{{p.dram_ms, "DRAM"},
                                                                  {p.l2_ms, "L2"},
                                                                  {p.l1_ms, "L1"},
                                                                  {p.shared_ms, "shared memory"},
                                                                  {p.issue_ms, "instructions"},
                                                                  {p.latency_ms, "latency"}}};
  const double together = norm({p.dram_ms, p.l2_ms, p.l1_ms, p.shared_ms, p.issue_ms, p.latency_ms},
                               steps_are_fused ? fused::kNorm : kNorm);
  const double copy_ms = minimal_traffic_bytes(problem_) / copy_ceiling_gbs() / 1e6;
  p.time_ms = steps_are_fused ? together / sweeps_per_launch(tuning)
                              : copy_ms * std::pow(together / copy_ms, kBeyondCopy) + idle_ms(work, launch, tuning);
  p.bound = std::max_element(parts.begin(), parts.end())->second;
  p.gstencils = work.cells / p.time_ms / 1e6;
  p.share = copy_ms / p.time_ms;
  return p;
}

void PerformanceModel::time_l2(Prediction& p, const Work& work, double repeated_sectors, const SectorCosts& costs,
                               double spilled_bytes) const {
  const double once = work.read_bytes / kSectorBytes;
  const double rereads = std::max(0.0, work.l2_read_sectors - once) + repeated_sectors;
  p.l2_bytes =
      (costs.first_read * once + costs.reread * rereads + work.l2_write_sectors) * kSectorBytes + 0.5 * spilled_bytes;
  p.l2_ms = p.l2_bytes / device_.l2_gbs / 1e6;
}

void PerformanceModel::time_sweep(Prediction& p, const Work& work, const Launch& launch, const Tuning& tuning) const {
  // What L1 cannot keep for the block's other threads is asked of L2 again.
  const double l1_bytes = device_.l1_kb * 1024 - launch.shared;
  const double lost = miss_share(p.occupancy.blocks * work.l1_working_set, std::max(1.0, l1_bytes));
  const double repeats = std::max(0.0, work.l1_wavefronts * kWavefrontBytes / kSectorBytes - work.l2_read_sectors);
  const double spilled = kSpillCost * launch.spilled;
  const double near = work.asynchronous ? kNearShare : work.steps > 1 ? 0 : kNearShareOfShort;
  time_l2(p, work, lost * repeats, {kFirstReadCost, kRereadCost * (1 - near * (1 - 1.0 / tuning.cluster))}, spilled);
  const double skipped = static_cast<double>(tuning.register_x) / tuning.vector - 1;  // vectors between a lane's own
  p.l2_ms *= 1 + kStridedL2Cost * skipped;

  p.l1_ms = (work.l1_wavefronts * kL1Cost + spilled / kWavefrontBytes) / launch.cycles_per_ms;
  if (!work.asynchronous) p.l1_ms *= 1 + kStridedL1Cost * skipped;
  p.shared_ms = work.shared_wavefronts * kSharedCost / launch.cycles_per_ms;
  const double clocks = kArithmeticClocks * 32 * kSchedulers / lanes(device_, problem_.type);
  const double others = (work.instructions - work.arithmetic) * (work.asynchronous ? kOtherClocks : kWaitingClocks);
  const double ready = 1 - std::pow(1 - kReady, p.occupancy.warps / kSchedulers);
  p.issue_ms = (work.arithmetic * clocks + others) / kSchedulers / launch.cycles_per_ms / ready;

  // What is resident together overlaps; within one of them trips, transfers and instructions follow each other.
  const double block_ns = kBlockStartNs + work.rounds * kLatencyNs + work.barriers * kBarrierNs;
  p.latency_ms = launch.waves * block_ns / 1e6 + unhidden_ms(p, work);
}

double PerformanceModel::unhidden_ms(const Prediction& p, const Work& work) const {
  const double own_ms = p.issue_ms + p.l1_ms + p.shared_ms;
  const bool meets = work.barriers > 0;
  if (work.asynchronous) return meets ? own_ms / kOverlapBetweenBarriers : 0;
  const int overlapping = meets ? std::min(p.occupancy.blocks, p.occupancy.warps) : p.occupancy.warps;
  return (own_ms + std::max(p.dram_ms, p.l2_ms)) / overlapping;
}

double PerformanceModel::idle_ms(const Work& work, const Launch& launch, const Tuning& tuning) {
  const double turns_ns = work.tiles_of_block > 1 ? work.tiles_of_block * kTurnNs : 0;
  const double gather_ns = work.steps > 1 && !work.asynchronous ? kGatherOfWalksNs : kGatherNs;
  return launch.waves * (gather_ns * std::log2(tuning.cluster) + turns_ns) / 1e6;
}

void PerformanceModel::time_fused_steps(Prediction& p, const Work& work, const Launch& launch,
                                        const Tuning& tuning) const {
  const double spilled = fused::kSpillCost * launch.spilled;
  time_l2(p, work, 0, {1, fused::kRereadCost}, spilled);
  p.l1_ms = (work.l1_wavefronts + spilled / kWavefrontBytes) / launch.cycles_per_ms;
  p.shared_ms = work.shared_wavefronts / launch.cycles_per_ms;

  // A multiply-add of half the rate takes its scheduler's register ports for two clocks, whatever comes between.
  const double clocks = std::max(fused::kF32Clocks, 32 * kSchedulers / lanes(device_, problem_.type));
  const double others = work.instructions - work.arithmetic;
  const double ready = 1 - std::pow(1 - fused::kReady, p.occupancy.warps / kSchedulers);
  const double beyond_cache = std::max(0.0, work.loop_instructions / fused::kCachedInstructions - 1);
  p.issue_ms = (work.arithmetic * clocks + others * fused::kOtherClocks) / kSchedulers / launch.cycles_per_ms *
               (1 + fused::kFetchCost * beyond_cache) / ready;

  // Either the planes' trips from memory follow each other, or what a block's warps do.
  const double trips_ms = launch.waves * work.rounds * fused::kTripNs / 1e6;
  const double seams_ns = work.barriers * fused::kSeamNs * std::log2(tuning.cluster);
  // Groups hand planes over in any case, so that they gain nothing.
  const bool has_slack = tuning.barrier == StepBarrier::split && tuning.groups == 1;
  const double slack = has_slack ? fused::kSlackOfLastLevel / (tuning.steps * tuning.steps) : 0;
  const double overlap = work.barriers > 0 ? fused::kOverlapWithBarriers * (1 + slack) : fused::kOverlapOfWarps;
  const double own_ms = (p.issue_ms + p.l1_ms + p.shared_ms) / overlap;
  p.latency_ms = norm({trips_ms, launch.waves * (fused::kBlockStartNs + seams_ns) / 1e6 + own_ms}, fused::kNorm);
}

}  // namespace stencil_tune
