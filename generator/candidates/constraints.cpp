#include "generator/candidates/constraints.hpp"

#include "generator/candidates/estimate.hpp"
#include "generator/candidates/streaming_constraints.hpp"
#include "generator/candidates/temporal.hpp"
#include "generator/candidates/temporal_constraints.hpp"
#include "generator/candidates/tile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

constexpr int kWidestVectorBytes = 16;
constexpr std::int64_t kMostBlocksX = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kMostBlocksYz = 65535;
constexpr std::int64_t kMostLiveRegisters = 230;    // of 255: the rest holds addresses, indices and coefficients
constexpr std::int64_t kMostUnrolledWork = 8000;    // NVRTC needs several seconds for as many multiply-adds
constexpr std::int64_t kMostArgumentBytes = 32764;  // kernel parameters, sm_70 on, CUDA 12.1 on
constexpr std::int64_t kArgumentsBeyondCoefficients = 256;  // extents, strides, tiles; templates/arguments.cuh
constexpr std::int64_t kFewestRegisters = 16;               // addresses and indices alone
constexpr std::int64_t kSharedReservedPerBlock = 1024;      // by the system, compute capability 8.0 on

bool uses_shared_memory(const Tuning& tuning) {
  return tuning.family == Family::tiled || tuning.family == Family::temporal ||
         (tuning.family == Family::streaming && tuning.planes != Planes::registers);
}

bool has_tile(const Problem& problem, const Tuning& tuning) {
  const auto tile = kernel_tile(problem, tuning);
  return std::all_of(tile.begin(), tile.end(), [](std::int64_t cells) { return cells > 0; });
}

// ---- what a family can express --------------------------------------------------------------------------------------

Verdict parameter_unused(const Problem&, const Limits&, const Tuning& tuning) {
  for (const Parameter& parameter : parameters()) {
    const int value = parameter.get(tuning);
    if (value == parameter.default_value || parameter.used_by(tuning)) continue;
    const bool walks = tuning.family == Family::streaming;
    return fmt::format("{} is {}, which {}{} does not use", parameter.name, part(parameter, value), name(tuning.family),
                       walks && parameter.used_by(tuning.family) ? " with these planes" : "");
  }
  return {};
}

Verdict unused_axis(const Problem& problem, const Limits&, const Tuning& tuning) {
  const auto axes = kernel_axes(problem, tuning);
  const std::array<int, kMaxRank> threads{tuning.block_x, tuning.block_y, tuning.block_z};
  const std::array<int, kMaxRank> outputs{tuning.register_x, tuning.register_y, tuning.register_z};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (axes.grid_axis[axis] >= 0 || (threads[axis] == 1 && outputs[axis] == 1)) continue;
    return fmt::format(
        "{} threads and {} outputs a thread along the kernel's {}, an axis that {} on a grid of rank {} "
        "does not have",
        threads[axis], outputs[axis], kAxisNames[axis], name(tuning.family), problem.extents.rank);
  }
  return {};
}

Verdict cover_input_holds_halo(const Problem&, const Limits&, const Tuning& tuning) {
  if (tuning.cover != Cover::input || tuning.halo == Halo::shared) return {};
  return "cover is cin, the input tile, but halo is hcache, which keeps the halo out of it";
}

Verdict cover_input_one_cell(const Problem&, const Limits&, const Tuning& tuning) {
  const bool one = tuning.register_x == 1 && tuning.register_y == 1 && tuning.register_z == 1 && tuning.vector == 1;
  if (tuning.cover != Cover::input || one) return {};
  return fmt::format("a thread covers one input cell, but its register tile is {}x{}x{} and its vector {}",
                     tuning.register_x, tuning.register_y, tuning.register_z, tuning.vector);
}

Verdict tile_not_empty(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (has_tile(problem, tuning)) return {};
  const auto axes = kernel_axes(problem, tuning);
  if (tuning.family == Family::temporal) {
    const TemporalShape shape = temporal_shape(problem, tuning);
    return fmt::format("{} fused steps use up a tile of {}x{} cells: its halo is {}+{} columns, {}+{} rows",
                       tuning.steps, shape.width, shape.height, shape.left, shape.right, shape.above, shape.below);
  }
  return fmt::format("the input tile of {}x{}x{} cells is no larger than the reach of {}x{}x{}", tuning.block_x,
                     tuning.block_y, tuning.family == Family::streaming ? 1 : tuning.block_z,
                     reach_width(axes.reach[0]), reach_width(axes.reach[1]),
                     tuning.family == Family::streaming ? 0 : reach_width(axes.reach[2]));
}

// ---- how cells are moved --------------------------------------------------------------------------------------------

Verdict vector_divides_register_x(const Problem&, const Limits&, const Tuning& tuning) {
  if (tuning.register_x % tuning.vector == 0) return {};
  return fmt::format("vectors of {} cells do not divide a register tile of {} in x", tuning.vector, tuning.register_x);
}

Verdict vector_bytes(const Problem& problem, const Limits&, const Tuning& tuning) {
  const std::int64_t bytes = tuning.vector * storage_bytes(problem);
  const bool power_of_two = (tuning.vector & (tuning.vector - 1)) == 0;
  if (bytes <= kWidestVectorBytes && power_of_two) return {};
  return fmt::format("a vector of {} {} cells has {} bytes; loads and stores move 1, 2, 4, 8 or {}", tuning.vector,
                     name(problem.type), bytes, kWidestVectorBytes);
}

Verdict rows_aligned(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (problem.pitch % tuning.vector == 0) return {};
  return fmt::format("rows are {} cells apart, no multiple of the vector of {}: most would start off its boundary",
                     problem.pitch, tuning.vector);
}

Verdict shuffle_in_warp(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (tuning.neighbours != Neighbours::shuffle) return {};
  const int lanes = tuning.block_x;
  if (lanes != 8 && lanes != 16 && lanes % kWarp != 0) {
    return fmt::format("rows of {} threads are not split evenly over warps; shuffles need 8, 16 or a multiple of {}",
                       lanes, kWarp);
  }
  if (threads_per_block(tuning) % kWarp != 0) {
    return fmt::format("{} threads leave the last warp incomplete; shuffles need whole warps",
                       threads_per_block(tuning));
  }
  const Reach reach = stage_reach(problem, 0);
  const int widest = std::max(-reach.low, reach.high);
  if (widest <= tuning.register_x) return {};
  return fmt::format("the stencil reaches {} cells along x, but the next lane holds only {}", widest,
                     tuning.register_x);
}

// ---- what the hardware holds ----------------------------------------------------------------------------------------

Verdict block_threads(const Problem&, const Limits& limits, const Tuning& tuning) {
  const std::int64_t threads = threads_per_block(tuning);
  if (threads < kWarp) return fmt::format("{} threads do not fill a warp of {}", threads, kWarp);
  if (threads > limits.max_threads_per_block) {
    return fmt::format("{} threads; a block may have {}", threads, limits.max_threads_per_block);
  }
  constexpr int kMostThreadsZ = 64;
  if (tuning.block_z > kMostThreadsZ) {
    return fmt::format("{} threads along z; a block may have {}", tuning.block_z, kMostThreadsZ);
  }
  return {};
}

Verdict shared_memory(const Problem& problem, const Limits& limits, const Tuning& tuning) {
  if (!uses_shared_memory(tuning) || !has_tile(problem, tuning)) return {};
  const SharedTile tile = shared_tile(problem, tuning);
  if (tile.bytes <= limits.shared_per_block) return {};
  if (tuning.family == Family::temporal) {
    return fmt::format("input planes on their way and rows that warps exchange are {} bytes; a block may have {}",
                       tile.bytes, limits.shared_per_block);
  }
  return fmt::format("{} fields of {}x{}x{} cells of {} bytes are {} bytes; a block may have {}", tile.inputs,
                     tile.pitch, tile.rows, tile.planes, tile.cell_bytes, tile.bytes, limits.shared_per_block);
}

Verdict register_tile(const Problem& problem, const Limits&, const Tuning& tuning) {
  const std::int64_t live = live_registers(problem, tuning);
  if (live <= kMostLiveRegisters) return {};
  return fmt::format("a thread's values need about {} registers at once; more than {} would spill", live,
                     kMostLiveRegisters);
}

Verdict code_size(const Problem& problem, const Limits&, const Tuning& tuning) {
  const std::int64_t work = unrolled_work(problem, tuning);
  if (work <= kMostUnrolledWork) return {};
  return fmt::format(
      "{} taps x {}x{}x{} outputs x {} unrolled are {} terms of straight-line code; {} is the most the "
      "compiler is given",
      problem.facts.taps.size(), tuning.register_x, tuning.register_y, tuning.register_z, tuning.unroll, work,
      kMostUnrolledWork);
}

Verdict argument_bytes(const Problem& problem, const Limits&, const Tuning&) {
  const auto fields = static_cast<std::int64_t>(problem.facts.inputs.size() + problem.facts.outputs.size());
  const auto coefficients = static_cast<std::int64_t>(problem.stencil.coefficients.size());
  const std::int64_t bytes =
      kArgumentsBeyondCoefficients + 8 * fields + std::max<std::int64_t>(storage_bytes(problem), 4) * coefficients;
  if (bytes <= kMostArgumentBytes) return {};
  return fmt::format("{} coefficients and {} fields need {} bytes of kernel arguments; there are {}", coefficients,
                     fields, bytes, kMostArgumentBytes);
}

Verdict clusters(const Problem&, const Limits& limits, const Tuning& tuning) {
  constexpr int kLargestCluster = 8;  // that every GPU with clusters can run
  if (tuning.cluster == 1) return {};
  if (!limits.has_clusters()) {
    return fmt::format("sm_{} has no clusters; they came with sm_90", limits.compute_capability);
  }
  if (tuning.cluster > kLargestCluster) {
    return fmt::format("clusters of {} blocks; up to {} run everywhere", tuning.cluster, kLargestCluster);
  }
  return {};
}

Verdict grid_blocks(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!has_tile(problem, tuning)) return {};
  const auto blocks = blocks_of(kernel_tiles(problem, tuning), tuning);
  if (!numbers_blocks_by_axis(tuning)) {
    const std::int64_t total = saturating_product({blocks[0], blocks[1], blocks[2]});
    if (total <= kMostBlocksX) return {};
    return fmt::format("{} blocks in one row of block numbers; a launch may have {}", total, kMostBlocksX);
  }
  if (blocks[0] <= kMostBlocksX && blocks[1] <= kMostBlocksYz && blocks[2] <= kMostBlocksYz) return {};
  return fmt::format("{} x {} x {} blocks; a launch may have {} x {} x {}", blocks[0], blocks[1], blocks[2],
                     kMostBlocksX, kMostBlocksYz, kMostBlocksYz);
}

Verdict min_blocks_fit(const Problem& problem, const Limits& limits, const Tuning& tuning) {
  const std::int64_t blocks = tuning.min_blocks;
  if (blocks == 0) return {};
  if (blocks > limits.max_blocks_per_sm) {
    return fmt::format("{} blocks per SM; an SM holds {}", blocks, limits.max_blocks_per_sm);
  }
  const std::int64_t threads = saturating_product({blocks, threads_per_block(tuning)});
  if (threads > limits.max_threads_per_sm) {
    return fmt::format("{} blocks of {} threads are {} threads per SM; an SM holds {}", blocks,
                       threads_per_block(tuning), threads, limits.max_threads_per_sm);
  }
  // Half of the estimate: the compiler may keep less alive, and a few spilled values can be worth the occupancy.
  const std::int64_t needed = kFewestRegisters + live_registers(problem, tuning) / 2;
  const std::int64_t available = limits.registers_per_sm / threads;
  if (available < needed) {
    return fmt::format("{} threads per SM leave {} registers to each, which needs at least {}", threads, available,
                       needed);
  }
  if (!uses_shared_memory(tuning) || !has_tile(problem, tuning)) return {};
  const auto bytes = static_cast<std::int64_t>(shared_tile(problem, tuning).bytes);
  const std::int64_t shared = saturating_product({blocks, saturating_sum(bytes, kSharedReservedPerBlock)});
  if (shared <= static_cast<std::int64_t>(limits.shared_per_sm)) return {};
  return fmt::format("{} blocks with {} bytes of shared memory (and {} reserved) each need {}; an SM has {}", blocks,
                     bytes, kSharedReservedPerBlock, shared, limits.shared_per_sm);
}

// The cheapest and most often broken come first: most points of a space end at one of them.
constexpr std::array kConstraints{
    Constraint{"threads_per_block", "A block has at least a warp of threads and at most what the GPU allows.",
               block_threads},
    Constraint{"vector_divides_register_x", "A thread's row of outputs is a whole number of vectors.",
               vector_divides_register_x},
    Constraint{"cover_input_one_cell", "Threads that cover the input tile hold one cell each.", cover_input_one_cell},
    Constraint{"cover_input_holds_halo", "An input tile in shared memory includes its halo.", cover_input_holds_halo},
    Constraint{"unroll_within_depth", "No more iterations are unrolled together than the walk has.",
               unroll_within_depth},
    Constraint{"sums_unroll",
               "Walks with sums, and no others, have a loop of turns or of steps in place of an unrolled one.",
               sums_unroll},
    Constraint{"tile_queue", "Blocks take several tiles where the copy engine brings planes for sums.", tile_queue},
    Constraint{"sums_prefetch", "Sums without a ring read no plane ahead.", sums_prefetch},
    Constraint{"parameter_unused", "A parameter that the kernel does not use keeps its default.", parameter_unused},
    Constraint{"vector_bytes", "A vector is a power of two of cells and at most 16 bytes.", vector_bytes},
    Constraint{"rows_aligned", "The row pitch is a multiple of the vector.", rows_aligned},
    Constraint{"streaming_needs_rank_2", "Streaming walks along the last axis and spreads threads over the others.",
               streaming_needs_rank_2},
    Constraint{"unused_axis", "Threads and register tiles extend only along axes that the kernel has.", unused_axis},
    Constraint{"ring_copies",
               "The block's threads fill rings of sums, on sm_80 and newer, with 4 bytes or more a copy.", ring_copies},
    Constraint{"code_size", "The unrolled update is small enough to compile.", code_size},
    Constraint{"sums_of_planes", "Sums need a stencil that reads several planes.", sums_of_planes},
    Constraint{"ring_architecture", "The copy engine brings planes on sm_90 and newer.", ring_architecture},
    Constraint{"ring_prefetch", "A ring has at least one plane on its way.", ring_prefetch},
    Constraint{"ring_warps", "A ring's slots are given back by whole warps.", ring_warps},
    Constraint{"ring_rows", "Tensor copies need rows that start on multiples of 16 bytes.", ring_rows},
    Constraint{"ring_box", "A plane with its halo is one tensor copy of at most 256 cells along an axis.", ring_box},
    Constraint{
        "ring_edges",
        "Tensor copies answer reads beyond an edge under hold and zero only, except along the walk and with sums.",
        ring_edges},
    Constraint{"temporal_steps", "Fused steps are 2 at least and no more than the run has.", temporal_steps},
    Constraint{"temporal_architecture", "Asynchronous copies bring the planes of fused steps on sm_80 and newer.",
               temporal_architecture},
    Constraint{"temporal_warps", "Whole warps span a temporal tile in x; on a line, one.", temporal_warps},
    Constraint{"temporal_corners",
               "A temporal tile that is several warps wide reads no cell beyond an edge in y and beside a row at once.",
               temporal_corners},
    Constraint{"temporal_prefetch", "A temporal kernel has at least one plane on its way.", temporal_prefetch},
    Constraint{"temporal_fields",
               "Fused steps advance one field by one stage; they read others at the cell itself alone.",
               temporal_fields},
    Constraint{"temporal_reach", "What a thread of a temporal kernel reads beyond its cells, its neighbours hold.",
               temporal_reach},
    Constraint{"temporal_sums",
               "Fused steps keep sums of linear stencils, where planes beyond the walk's ends are 0 or not read.",
               temporal_sums},
    Constraint{"temporal_copies",
               "Tensor copies bring a temporal warp rows that start on 16 bytes, none from across a periodic grid.",
               temporal_copies},
    Constraint{"temporal_planes", "Planes that wait in shared memory are among those that a level holds.",
               temporal_planes},
    Constraint{"temporal_barrier", "A barrier that is split parts warps that wait for each other, on sm_90 and newer.",
               temporal_barrier},
    Constraint{"temporal_groups", "Fused steps of a walk are shared out evenly among groups of warps.",
               temporal_groups},
    Constraint{"clusters", "Clusters take sm_90 and have up to 8 blocks.", clusters},
    Constraint{"temporal_clusters",
               "A temporal tile is shared by blocks of two warps or more, under a stencil that reaches both ways in y.",
               temporal_clusters},
    Constraint{"temporal_tile_in_grid", "A temporal tile is no larger than the grid.", temporal_tile_in_grid},
    Constraint{"tile_not_empty", "An input tile is larger than the stencil's reach on every axis it covers.",
               tile_not_empty},
    Constraint{"shuffle_in_warp",
               "Shuffles need rows split evenly over whole warps and a reach within the next lane's cells.",
               shuffle_in_warp},
    Constraint{"register_tile", "A thread's live values fit in its registers.", register_tile},
    Constraint{"shared_memory", "The tile fits in a block's shared memory.", shared_memory},
    Constraint{"min_blocks_fit", "The blocks per SM promised to the compiler fit in an SM.", min_blocks_fit},
    Constraint{"grid_blocks", "The launch has no more blocks than the hardware counts.", grid_blocks},
    Constraint{"mixed_needs_axis_taps", "With one plane in shared memory, reads off the plane stay in their column.",
               mixed_needs_axis_taps},
    Constraint{"argument_bytes", "Coefficients and fields fit in the kernel's arguments.", argument_bytes},
};

}  // namespace

std::span<const Constraint> constraints() { return kConstraints; }

std::optional<Violation> first_violation(const Problem& problem, const Limits& limits, const Tuning& tuning) {
  for (const Constraint& constraint : kConstraints) {
    if (auto message = constraint.violation(problem, limits, tuning)) return Violation{constraint.name, *message};
  }
  return {};
}

bool is_legal(const Problem& problem, const Limits& limits, const Tuning& tuning) {
  return !first_violation(problem, limits, tuning).has_value();
}

}  // namespace stencil_tune
