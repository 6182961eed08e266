// The textbook's arithmetic intensity of a candidate.
#include "generator/candidates/temporal.hpp"
#include "generator/candidates/textbook.hpp"
#include "generator/candidates/tile.hpp"

#include <algorithm>
#include <cstdlib>

namespace stencil_tune {
namespace {

using Lengths = std::array<double, kMaxRank>;

double product(const Lengths& lengths) { return lengths[0] * lengths[1] * lengths[2]; }

Lengths sum(const Lengths& a, const Lengths& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

/// Distinct cells that a tile's outputs read: without corners when every tap lies on an axis.
double cells_read(const Lengths& tile, const Lengths& reach, bool star) {
  if (!star) return product(sum(tile, reach));
  return product(tile) + reach[0] * tile[1] * tile[2] + reach[1] * tile[0] * tile[2] + reach[2] * tile[0] * tile[1];
}

struct Geometry {
  Lengths tile;           ///< output cells of a block
  Lengths reach;          ///< low + high
  Lengths register_tile;  ///< outputs of a thread; z: those it walks
};

Geometry geometry(const Problem& problem, const Tuning& tuning) {
  Geometry result{};
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = kernel_tile(problem, tuning);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    result.tile[axis] = static_cast<double>(tile[axis]);
    result.reach[axis] = axes.reach[axis].high - axes.reach[axis].low;
  }
  const int outputs_z = tuning.family == Family::streaming ? tuning.depth : tuning.register_z;
  result.register_tile = {static_cast<double>(tuning.register_x), static_cast<double>(tuning.register_y),
                          static_cast<double>(outputs_z)};
  return result;
}

/// direct, streaming regs: what a thread loads for each of its outputs. Only a row of lanes' ends load their x halo
/// where neighbours come from shuffles.
double loads_per_thread_output(const Problem& problem, const Tuning& tuning, const Geometry& shape) {
  Lengths reach = shape.reach;
  constexpr int kWarp = 32;
  if (tuning.neighbours == Neighbours::shuffle) reach[0] /= std::min(tuning.block_x, kWarp);
  return cells_read(shape.register_tile, reach, problem.facts.star) / product(shape.register_tile);
}

/// Cells of all taps' reads that lie beside the tile: what halo=cache leaves to the cache, once a tap. A ring of planes
/// holds the tile's columns beyond its depth too.
double reads_beside_tile(const Problem& problem, const Tuning& tuning, const Geometry& shape) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const bool ring = tuning.family == Family::streaming;
  double reads = 0;
  for (const Tap& tap : problem.facts.taps) {
    double inside = 1;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      const int grid_axis = axes.grid_axis[axis];
      const int shift = grid_axis < 0 ? 0 : std::abs(tap.offset[static_cast<std::size_t>(grid_axis)]);
      inside *= ring && axis == 2 ? shape.tile[axis] : std::max(0.0, shape.tile[axis] - shift);
    }
    reads += product(shape.tile) - inside;
  }
  return reads / static_cast<double>(std::max<std::size_t>(problem.facts.inputs.size(), 1));
}

/// Cells of one input that a block of a family with shared memory loads.
double loads_per_block(const Problem& problem, const Tuning& tuning, const Geometry& shape) {
  const bool walks = tuning.family == Family::streaming;
  const Lengths along_z{0, 0, shape.reach[2]};
  const double own_columns = walks ? product(sum(shape.tile, along_z)) : product(shape.tile);
  if (tuning.halo == Halo::cache) return own_columns + reads_beside_tile(problem, tuning, shape);
  const Lengths with_halo = sum(shape.tile, shape.reach);
  if (walks && tuning.planes == Planes::mixed && tuning.cover == Cover::output) {
    // The planes ahead are a thread's own cells; the halo is loaded when its plane is the current one.
    return own_columns + (with_halo[0] * with_halo[1] - shape.tile[0] * shape.tile[1]) * shape.tile[2];
  }
  return product(with_halo);
}

/// Cells that a temporal block loads for each output of each of its sweeps.
double temporal_loads(const Problem& problem, const Tuning& tuning) {
  const TemporalShape shape = temporal_shape(problem, tuning);
  const auto own = kernel_tile(problem, tuning);
  const Reach walked = kernel_axes(problem, tuning).reach[2];
  const double planes = static_cast<double>(own[2]) + tuning.steps * (walked.high - walked.low);
  return static_cast<double>(shape.width * shape.height) * planes /
         (static_cast<double>(own[0] * own[1] * own[2]) * tuning.steps);
}

}  // namespace

Intensity textbook_intensity(const Problem& problem, const Tuning& tuning) {
  const Geometry shape = geometry(problem, tuning);
  const bool through_cache =
      tuning.family == Family::direct || (tuning.family == Family::streaming && tuning.planes == Planes::registers);
  const double outputs = product(shape.tile);
  const double loads = tuning.family == Family::temporal ? temporal_loads(problem, tuning)
                       : through_cache                   ? loads_per_thread_output(problem, tuning, shape)
                                                         : loads_per_block(problem, tuning, shape) / outputs;
  const auto cell_bytes = static_cast<double>(problem.facts.inputs.size() * size_of(problem.type));

  Intensity intensity;
  intensity.operations = problem.facts.operations;
  intensity.bytes_loaded = loads * cell_bytes;
  if (cell_bytes > 0) {
    intensity.ratio = intensity.operations / intensity.bytes_loaded;
    intensity.bound = intensity.operations / cell_bytes;
  }
  const bool box = !through_cache && tuning.halo == Halo::shared;
  intensity.halo_share = tuning.family == Family::temporal
                             ? 1 - 1 / (loads * tuning.steps)
                             : 1 - outputs / cells_read(shape.tile, shape.reach, problem.facts.star && !box);
  return intensity;
}

double reuse_bound_by_points(const Problem& problem) {
  const auto cell_bytes = static_cast<double>(problem.facts.inputs.size() * size_of(problem.type));
  return cell_bytes > 0 ? 2.0 * static_cast<double>(problem.facts.taps.size()) / cell_bytes : 0;
}

}  // namespace stencil_tune
