#include "runtime/model/model.hpp"

#include "generator/candidates/family.hpp"
#include "runtime/model/family_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace stencil_tune {
namespace {

/// The blocks of a cluster run in one GPC, which has 16 SMs or two more; what is left of a GPC that clusters do not
/// fill is idle.
int reached_by_clusters(int multiprocessors, int blocks_per_sm, int cluster) {
  constexpr int kGpc = 16;
  const bool fill_groups = 2 * blocks_per_sm % cluster == 0;
  return fill_groups || multiprocessors < kGpc ? multiprocessors : multiprocessors / kGpc * kGpc;
}

/// The power of the norm by which a candidate's time and the copy's become one: a time that is a tenth longer than the
/// copy's stays as it is, shorter ones come to the copy's in their order.
constexpr double kLeastTimeNorm = 40;

std::string_view slowest_part(const Prediction& p) {
  const std::array<std::pair<double, std::string_view>, 6> parts{{{p.dram_ms, "DRAM"},
                                                                  {p.l2_ms, "L2"},
                                                                  {p.l1_ms, "L1"},
                                                                  {p.shared_ms, "shared memory"},
                                                                  {p.issue_ms, "instructions"},
                                                                  {p.latency_ms, "latency"}}};
  return std::max_element(parts.begin(), parts.end())->second;
}

/// Fills what the launch's times depend on, by how many blocks run at once.
void count_waves(const Occupancy& occupancy, double spill_bytes, Launch& launch) {
  const Work& work = launch.work;
  const DeviceModel& device = launch.device;
  launch.active_blocks = static_cast<double>(occupancy.blocks) *
                         reached_by_clusters(device.multiprocessors, occupancy.blocks, launch.tuning.cluster);
  const double blocks = work.blocks / work.tiles_of_block;
  launch.waves = std::ceil(blocks / launch.active_blocks);
  const double tail = launch.waves * launch.active_blocks / blocks;  // SMs wait for the last wave; 1: none does
  launch.cycles_per_ms = device.multiprocessors * device.clock_ghz * 1e6 / std::min(tail, 2.0);
  launch.spilled = work.blocks * work.threads * spill_bytes * work.steps;
}

}  // namespace

double needed_registers(const Problem& problem, const Work& work, const RegisterConstants& c) {
  const double words = problem.type == ElementType::f64 ? 2 : 1;
  return c.base + work.other_registers + words * work.live_values;
}

int register_limit(const Limits& limits, const Tuning& tuning, int threads) {
  const int blocks = std::max(1, tuning.min_blocks);
  return std::min(limits.max_registers_per_thread, limits.registers_per_sm / (std::max(1, threads) * blocks) / 8 * 8);
}

PerformanceModel::PerformanceModel(const Problem& problem, const Limits& limits, DeviceModel device)
    : PerformanceModel(problem, limits, device, calibration_of(device)) {}

PerformanceModel::PerformanceModel(const Problem& problem, const Limits& limits, DeviceModel device,
                                   const Calibration& calibration)
    : problem_(problem),
      limits_(limits),
      device_(std::move(device)),
      calibration_(calibration),
      terms_(calibration_.terms) {}

double PerformanceModel::copy_ceiling_gbs() const {
  const MemoryConstants& c = calibration_.memory;
  const double bytes = 2 * static_cast<double>(problem_.field_bytes());
  const double dram =
      bytes * miss_share(bytes, device_.l2_mb * (1 << 20), c.cache_from) / (device_.dram_gbs * c.dram_efficiency);
  return bytes / norm({dram, bytes / (device_.l2_gbs * c.l2_efficiency)}, c.copy_norm);
}

Prediction PerformanceModel::predict(const Tuning& tuning, const std::optional<KernelResources>& resources) const {
  const FamilyModel& family = family_model(tuning.family->name);
  const Work work = family.count({problem_, tuning}, calibration_);

  Prediction p;
  const int wanted =
      resources ? resources->registers : static_cast<int>(needed_registers(problem_, work, calibration_.registers));
  p.registers = resources ? wanted : std::min(wanted, register_limit(limits_, tuning, work.threads));
  const double spill_bytes = resources ? resources->spill_bytes : 8.0 * (wanted - p.registers) * work.spilling_levels;
  const std::size_t shared = work.shared_bytes + static_cast<std::size_t>(resources ? resources->static_shared : 0);
  p.occupancy = occupancy_of(limits_, {work.threads, p.registers, shared});
  if (p.occupancy.blocks == 0 || work.cells <= 0) {
    p.time_ms = std::numeric_limits<double>::infinity();
    return p;
  }

  const double copy_ms = minimal_traffic_bytes(problem_) / copy_ceiling_gbs() / 1e6;
  Launch launch{problem_, tuning, work, device_, calibration_, copy_ms};
  launch.shared = static_cast<double>(p.occupancy.blocks) * static_cast<double>(shared);
  count_waves(p.occupancy, spill_bytes, launch);
  family.time(launch, p);
  // Terms know no limits, but a launch that reads and writes each cell once takes as long as a copy does.
  p.time_ms = norm({copy_ms / sweeps_per_launch(tuning), p.time_ms * terms_.factor(tuning)}, kLeastTimeNorm);
  p.bound = slowest_part(p);
  p.gstencils = work.cells / p.time_ms / 1e6;
  p.share = copy_ms / p.time_ms;
  return p;
}

}  // namespace stencil_tune
