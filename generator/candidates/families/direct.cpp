// direct: a thread an output or a small register tile of them, cells straight from global memory.
#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/single_sweep.hpp"

namespace stencil_tune {
namespace {

TextbookLoads textbook_loads(const Candidate& candidate) {
  return loads_through_cache(candidate, candidate.tuning().register_z);
}

std::string constants(const Candidate& candidate) {
  const Tuning& tuning = candidate.tuning();
  const ThreadTile tile{tuning.register_x, tuning.register_y, tuning.register_z,
                        tuning.neighbours == Neighbours::shuffle};
  return tile_constants(candidate) + inside_constants(candidate, tile, 0) + rows_at_once(candidate, tile);
}

std::vector<Tuning> defaults(const Problem& problem) { return {flat_block(direct_family(), problem.extents.rank)}; }

}  // namespace

const Family& direct_family() {
  static const Family entry{
      .name = "direct",
      .meaning = "Cells straight from global memory, each thread a small register tile in x, y and z.",
      .reads_slabs = true,
      .serves = [](const Problem& problem) { return problem.stage != kWholeStep; },
      .axes = axes_of_the_grid,
      .parameters = {threads_in_x({16, 32, 64, 128, 256, 512}), threads_in_y(), threads_in_z(),
                     register_tile_in_x({1, 2, 4, 8}), register_tile_in_y(), register_tile_in_z(), vector_of_cells(),
                     cluster_of_blocks(), neighbours_in_x(), block_rasterization(), load_hint(), store_hint(),
                     blocks_per_sm()},
      .constraints = {shuffle_in_warp()},
      .kernel_template =
          [](const Tuning&) {
            return KernelTemplate{.file = "direct.cuh", .function = "direct", .sets = {"kInsideX"}};
          },
      .shape =
          [](const Problem& problem, const Tuning& tuning, KernelShape& shape) {
            shape.tile = tile_of_threads(tuning);
            estimate_rows_at_once(problem, tuning, shape);
          },
      .constants = constants,
      .defaults = defaults,
      .textbook_loads = textbook_loads,
  };
  return entry;
}

}  // namespace stencil_tune
