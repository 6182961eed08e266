// tiled: an input tile with its halo in shared memory, an output tile smaller by the reach on both sides.
#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/single_sweep.hpp"

namespace stencil_tune {
namespace {

void shape_of(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  shape.tile = tile_of_threads(tuning);
  take_off_halo(tuning, shape, kMaxRank);
  shape.shared = rows_with_halo(problem, tuning, shape);
  shape.shared.planes = shape.tile[2] + shape.axes.reach_width(2);
  fill_bytes(shape.shared);
  estimate_rows_at_once(problem, tuning, shape);
}

std::string constants(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const Tuning& tuning = candidate.tuning();
  return tile_constants(candidate) +
         shared_tile_constants(shape.shared, -shape.axes.reach[1].low, -shape.axes.reach[2].low) +
         rows_at_once(candidate, {tuning.register_x, tuning.register_y, tuning.register_z});
}

std::vector<Tuning> defaults(const Problem& problem) {
  const int rank = problem.extents.rank;
  return {rank == 3 ? block(tiled_family(), 32, 4, 4) : flat_block(tiled_family(), rank),
          flat_block(tiled_family(), rank)};
}

}  // namespace

const Family& tiled_family() {
  static const Family entry{
      .name = "tiled",
      .meaning = "An input tile with its halo in shared memory: the textbook's tiled kernels and convolutions.",
      .drawn = false,
      .serves = [](const Problem& problem) { return problem.stage != kWholeStep; },
      .axes = axes_of_the_grid,
      .parameters = {threads_in_x({16, 32, 64, 128, 256, 512}), threads_in_y(), threads_in_z(),
                     register_tile_in_x({1, 2, 4, 8}), register_tile_in_y(), register_tile_in_z(), vector_of_cells(),
                     cluster_of_blocks(), covered_tile(), block_rasterization(), load_hint(), store_hint(),
                     blocks_per_sm()},
      .constraints = {cover_input_one_cell(), covered_tile_not_empty()},
      .kernel_template = [](const Tuning&) { return KernelTemplate{.file = "tiled.cuh", .function = "tiled"}; },
      .shape = shape_of,
      .constants = constants,
      .defaults = defaults,
      .textbook_loads = loads_through_shared_memory,
  };
  return entry;
}

}  // namespace stencil_tune
