// What a launch of a resident kernel asks of the machine, and how long its steps take: blocks compute in shared memory,
// and wait for each other's halos.
#include "generator/candidates/constraint.hpp"
#include "runtime/model/launch_time.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

// Not measured yet: from the latency of L2 and the rates of one SM.
constexpr double kExchangeNs = 700;  // from a letter's store to its arrival, with the barriers around it
constexpr double kStepNs = 60;       // a barrier, and the first window's latency
constexpr double kLaunchNs = 5000;   // the launch, entering the room of letters, loads and stores of the tile

}  // namespace

Work count_resident_work(const Candidate& candidate, const Calibration&) {
  const Problem& problem = candidate.problem();
  const Tuning& tuning = candidate.tuning();
  const KernelShape& shape = candidate.shape();
  const double words = problem.type == ElementType::f64 ? 2 : 1;
  std::array<double, kMaxRank> reach{};
  for (std::size_t a = 0; a < kMaxRank; ++a) reach[a] = std::max(-shape.axes.reach[a].low, shape.axes.reach[a].high);

  Work work;
  work.threads = static_cast<int>(shape.threads);
  work.shared_bytes = shape.shared.bytes;
  work.blocks = 1;
  double own = 1, whole = 1;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    work.tile[a] = static_cast<double>(shape.tile[a]);
    work.tiles[a] = static_cast<double>(shape.tiles[a]);
    work.halo[a] = 2 * tuning.apart * reach[a];
    work.blocks *= work.tiles[a];
    own *= work.tile[a];
    whole *= work.tile[a] + work.halo[a];
  }
  work.cells = static_cast<double>(updated_box(problem).cells());
  work.cell_bytes = 2 * static_cast<double>(size_of(problem.type));
  work.read_bytes = static_cast<double>(problem.extents.cells()) * work.cell_bytes / 2;
  work.write_bytes = work.cells * work.cell_bytes / 2;

  // Windows of all steps between two exchanges, on regions that shrink; averaged over these steps.
  double windows = 0;
  for (int left = 0; left < tuning.apart; ++left) {
    const auto length = [&](std::size_t a) { return work.tile[a] + 2 * left * reach[a]; };
    windows += std::ceil(length(0) * std::ceil(length(1) / tuning.register_y) *
                         std::ceil(length(2) / tuning.register_z) / work.threads);
  }
  windows *= work.threads / kWarpSize / static_cast<double>(tuning.apart);  // warps' windows, a step and block
  const double cells = tuning.register_y * tuning.register_z;
  const auto grown = [&](std::size_t a, int by) { return by + shape.axes.reach_width(a); };
  const double faces = grown(1, tuning.register_y) * tuning.register_z +
                       tuning.register_y * grown(2, tuning.register_z) - cells + cells * shape.axes.reach_width(0);
  const double inputs = static_cast<double>(problem.facts.inputs.size());
  work.arithmetic = windows * cells * std::ceil(problem.facts.operations / 2.0);
  work.shared_wavefronts = windows * words * (faces + inputs * cells);
  work.instructions = work.arithmetic + windows * (faces + (inputs + 5) * cells + 40);
  const double letters = (whole - own) / kWarpSize * words;  // warps' letters, an exchange
  work.l2_read_sectors = letters * kWarpSize * 8 / kSectorBytes / tuning.apart;
  work.instructions += letters * 6 / tuning.apart;
  work.steps = tuning.steps;
  work.live_values = cells + faces;
  return work;
}

void time_resident_steps(const Launch& launch, Prediction& p) {
  const Work& work = launch.work;
  const double clocks_per_ms = launch.device.clock_ghz * 1e6;  // one SM's: all do the same
  p.issue_ms = work.instructions / kSchedulers / clocks_per_ms;
  p.shared_ms = work.shared_wavefronts / clocks_per_ms;
  const double l2_bytes = work.blocks * work.l2_read_sectors * kSectorBytes;
  p.l2_ms = l2_bytes / (launch.device.l2_gbs * 1e6);
  const double own_threads = std::min(1.0, work.threads / 512.0);  // fewer do not hide what they wait for
  const double waits_ns = kStepNs + kExchangeNs / launch.tuning.apart + kLaunchNs / launch.tuning.steps;
  p.latency_ms = waits_ns / 1e6;
  p.time_ms = std::max(p.issue_ms, p.shared_ms) / own_threads + p.l2_ms + p.latency_ms;
}

}  // namespace stencil_tune
