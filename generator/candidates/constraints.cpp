#include "generator/candidates/constraints.hpp"

#include "generator/candidates/family.hpp"
#include "generator/points/tile_points.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

constexpr int kWidestVectorBytes = 16;
constexpr std::int64_t kMostBlocksX = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kMostBlocksYz = 65535;
constexpr std::int64_t kMostLiveRegisters = 230;    // 255 less those that hold addresses, indices and coefficients
constexpr std::int64_t kMostUnrolledWork = 8000;    // NVRTC needs several seconds for as many multiply-adds
constexpr std::int64_t kMostArgumentBytes = 32764;  // kernel parameters, sm_70 on, CUDA 12.1 on
constexpr std::int64_t kArgumentsBeyondCoefficients = 256;  // extents, strides, tiles; templates/arguments.cuh
constexpr std::int64_t kFewestRegisters = 16;               // addresses and indices alone
constexpr std::int64_t kSharedReservedPerBlock = 1024;      // by the system, compute capability 8.0 on

// ---- what a family can express --------------------------------------------------------------------------------------

Verdict parameter_unused(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  for (const Parameter& parameter : candidate.family().parameters) {
    const int value = parameter.get(tuning);
    if (value == parameter.default_value || parameter.used_by(tuning)) continue;
    return fmt::format("{} is {}, which a kernel with its other values does not use", parameter.name,
                       part(parameter, value));
  }
  return {};
}

Verdict unused_axis(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  const std::array<int, kMaxRank> threads{tuning.block_x, tuning.block_y, tuning.block_z};
  const std::array<int, kMaxRank> outputs{tuning.register_x, tuning.register_y, tuning.register_z};
  const int rank = candidate.problem().extents.rank;
  const auto grid_axis = candidate.family().axes(rank);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (grid_axis[axis] >= 0 || (threads[axis] == 1 && outputs[axis] == 1)) continue;
    return fmt::format(
        "{} threads and {} outputs a thread along the kernel's {}, an axis that {} on a grid of rank {} "
        "does not have",
        threads[axis], outputs[axis], kAxisNames[axis], candidate.family().name, rank);
  }
  return {};
}

Verdict steps_asked(const Candidate& candidate, const Limits& limits) {
  const int steps = sweeps_per_launch(candidate.tuning());
  if (steps >= limits.least_fused_steps) return {};
  return fmt::format("{} steps a launch, where {} are asked for", steps, limits.least_fused_steps);
}

Verdict points_asked(const Candidate& candidate, const Limits& limits) {
  if (!limits.takes_points) return {};
  const std::string obstacle = points_obstacle(candidate, {});
  return obstacle.empty() ? Verdict() : Verdict(obstacle);
}

Verdict one_sweep(const Candidate& candidate, const Limits&) {
  if (candidate.family().fuses_steps || candidate.problem().stage != kWholeStep) return {};
  return fmt::format("{} makes one sweep, a step of '{}' has {} stages", candidate.family().name,
                     candidate.problem().stencil.name, candidate.problem().stencil.stages.size());
}

Verdict turned_once(const Candidate& candidate, const Limits&) {
  const KernelAxes& axes = candidate.shape().axes;
  for (std::size_t axis = 0; axis < kMaxRank && candidate.shape().turns_once; ++axis) {
    const int reach = axes.turned_reach(axis);
    if (axes.extents[axis] > reach) continue;
    return fmt::format("{} cells along the kernel's {}, where taps reach {} beyond an end: as far as round the axis",
                       axes.extents[axis], kAxisNames[axis], reach);
  }
  return {};
}

/// Kernels that load a field's cells by addresses of its own know such arrays.
Verdict layer_arrays(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
  if (!has_slabs(problem)) return {};
  if (!candidate.family().reads_slabs) {
    return fmt::format("{} reads arrays of the whole grid alone; those of fields in layers hold slabs",
                       candidate.family().name);
  }
  if (candidate.family().fuses_steps && has_storage_types(problem)) {
    return "fields are stored in several types; fused steps read slabs of one";
  }
  for (const LayerField& field : problem.stencil.layer_fields) {
    const std::int64_t apart = slab_cells(problem, at(field.axis)).left_out;
    if (!candidate.family().fuses_steps || apart == SlabCells::kNoHighSlab) continue;
    return fmt::format("the grid has layers at both ends of {}, and the array of '{}' leaves out {} cells between",
                       kAxisNames[at(field.axis)], problem.stencil.fields[at(field.field)], apart);
  }
  return {};
}

// ---- how cells are moved --------------------------------------------------------------------------------------------

Verdict vector_divides_register_x(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.register_x % tuning.vector == 0) return {};
  return fmt::format("vectors of {} cells do not divide a register tile of {} in x", tuning.vector, tuning.register_x);
}

Verdict vector_bytes(const Candidate& candidate, const Limits&) {
  const int vector = candidate.tuning().vector;
  const std::int64_t bytes = vector * widest_bytes(candidate.problem());
  const bool power_of_two = (vector & (vector - 1)) == 0;
  if (bytes <= kWidestVectorBytes && power_of_two) return {};
  return fmt::format("a vector of {} {} cells has {} bytes; loads and stores move 1, 2, 4, 8 or {}", vector,
                     name(candidate.problem().type), bytes, kWidestVectorBytes);
}

Verdict rows_aligned(const Candidate& candidate, const Limits&) {
  const std::int64_t pitch = candidate.problem().pitch;
  const int vector = candidate.tuning().vector;
  if (pitch % vector == 0) return {};
  return fmt::format("rows are {} cells apart, no multiple of the vector of {}: most would start off its boundary",
                     pitch, vector);
}

// ---- what the hardware holds ----------------------------------------------------------------------------------------

Verdict block_threads(const Candidate& candidate, const Limits& limits) {
  const std::int64_t threads = threads_per_block(candidate.tuning());
  if (threads < kWarpSize) return fmt::format("{} threads do not fill a warp of {}", threads, kWarpSize);
  if (threads > limits.max_threads_per_block) {
    return fmt::format("{} threads; a block may have {}", threads, limits.max_threads_per_block);
  }
  constexpr int kMostThreadsZ = 64;
  if (candidate.tuning().block_z > kMostThreadsZ) {
    return fmt::format("{} threads along z; a block may have {}", candidate.tuning().block_z, kMostThreadsZ);
  }
  return {};
}

Verdict shared_memory(const Candidate& candidate, const Limits& limits) {
  const SharedTile& tile = candidate.shape().shared;
  if (!candidate.shape().has_tile() || tile.bytes <= limits.shared_per_block) return {};
  if (tile.inputs == 0) {
    return fmt::format("planes on their way and rows that warps exchange are {} bytes; a block may have {}", tile.bytes,
                       limits.shared_per_block);
  }
  return fmt::format("{} fields of {}x{}x{} cells of {} bytes are {} bytes; a block may have {}", tile.inputs,
                     tile.pitch, tile.rows, tile.planes, tile.cell_bytes, tile.bytes, limits.shared_per_block);
}

Verdict register_tile(const Candidate& candidate, const Limits&) {
  const std::int64_t live = candidate.shape().live_registers;
  if (live <= kMostLiveRegisters) return {};
  return fmt::format("a thread's values need about {} registers at once; more than {} would spill", live,
                     kMostLiveRegisters);
}

/// Rejects huge updates before anything is counted that walks over the taps: no more needs to be known of them.
Verdict update_size(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  const auto taps = static_cast<std::int64_t>(candidate.problem().facts.taps.size());
  const std::int64_t terms = saturating_product({taps, tuning.register_x, tuning.register_y, tuning.register_z});
  if (terms <= kMostUnrolledWork) return {};
  return fmt::format(
      "{} taps x {}x{}x{} outputs are {} terms of straight-line code; {} is the most the compiler is given", taps,
      tuning.register_x, tuning.register_y, tuning.register_z, terms, kMostUnrolledWork);
}

Verdict code_size(const Candidate& candidate, const Limits& limits) {
  const Tuning& tuning = candidate.tuning();
  const std::int64_t work = candidate.shape().unrolled_work;
  if (work <= kMostUnrolledWork || update_size(candidate, limits)) return {};
  return fmt::format(
      "{} taps x {}x{}x{} outputs x {} unrolled are {} terms of straight-line code; {} is the most the "
      "compiler is given",
      candidate.problem().facts.taps.size(), tuning.register_x, tuning.register_y, tuning.register_z, tuning.unroll,
      work, kMostUnrolledWork);
}

Verdict argument_bytes(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
  const int steps = sweeps_per_launch(candidate.tuning());
  const std::size_t inputs = kernel_inputs(problem, steps).size();
  const auto fields = static_cast<std::int64_t>(inputs + kernel_outputs(problem, steps).size());
  const auto coefficients = static_cast<std::int64_t>(problem.stencil.coefficients.size());
  const std::size_t maps = candidate.shape().uses_tensor_maps ? inputs * kTensorMapBytes : 0;
  const std::int64_t bytes = kArgumentsBeyondCoefficients + 8 * fields + static_cast<std::int64_t>(maps) +
                             std::max<std::int64_t>(storage_bytes(problem), 4) * coefficients;
  if (bytes <= kMostArgumentBytes) return {};
  return fmt::format(
      "{} coefficients, {} fields and {} bytes of tensor maps need {} bytes of kernel arguments; there are {}",
      coefficients, fields, maps, bytes, kMostArgumentBytes);
}

Verdict clusters(const Candidate& candidate, const Limits& limits) {
  constexpr int kLargestCluster = 8;  // that every GPU with clusters can run
  const int cluster = candidate.tuning().cluster;
  if (cluster == 1) return {};
  if (!limits.has_clusters()) {
    return fmt::format("sm_{} has no clusters; they came with sm_90", limits.compute_capability);
  }
  if (cluster > kLargestCluster) {
    return fmt::format("clusters of {} blocks; up to {} run everywhere", cluster, kLargestCluster);
  }
  return {};
}

Verdict grid_blocks(const Candidate& candidate, const Limits&) {
  if (!candidate.shape().has_tile()) return {};
  const Lengths blocks = blocks_of(candidate.shape().tiles, candidate.tuning());
  if (!numbers_blocks_by_axis(candidate.tuning())) {
    const std::int64_t total = saturating_product({blocks[0], blocks[1], blocks[2]});
    if (total <= kMostBlocksX) return {};
    return fmt::format("{} blocks in one row of block numbers; a launch may have {}", total, kMostBlocksX);
  }
  if (blocks[0] <= kMostBlocksX && blocks[1] <= kMostBlocksYz && blocks[2] <= kMostBlocksYz) return {};
  return fmt::format("{} x {} x {} blocks; a launch may have {} x {} x {}", blocks[0], blocks[1], blocks[2],
                     kMostBlocksX, kMostBlocksYz, kMostBlocksYz);
}

/// Blocks of such launches unfold their number; of rasterization, within a strip of tile rows.
Verdict tile_numbers(const Candidate& candidate, const Limits&) {
  constexpr std::int64_t kMostNumbers = (std::int64_t{1} << 32) - 1;
  const KernelShape& shape = candidate.shape();
  const Tuning& tuning = candidate.tuning();
  if (!shape.has_tile() || numbers_blocks_by_axis(tuning)) return {};
  const std::int64_t strip = tuning.order == BlockOrder::raster ? 8 : tuning.order == BlockOrder::raster32 ? 32 : 1;
  const std::int64_t numbers = saturating_product({shape.tiles[0], std::max(shape.tiles[1], strip), shape.tiles[2]});
  if (numbers <= kMostNumbers) return {};
  return fmt::format("{} x {} x {} tiles{} are not numbered in 32 bits", shape.tiles[0], shape.tiles[1], shape.tiles[2],
                     strip > 1 ? fmt::format(", in strips of {} rows,", strip) : "");
}

Verdict min_blocks_fit(const Candidate& candidate, const Limits& limits) {
  const std::int64_t blocks = candidate.tuning().min_blocks;
  if (blocks == 0) return {};
  if (blocks > limits.max_blocks_per_sm) {
    return fmt::format("{} blocks per SM; an SM holds {}", blocks, limits.max_blocks_per_sm);
  }
  const std::int64_t of_block = threads_per_block(candidate.tuning());
  const std::int64_t threads = saturating_product({blocks, of_block});
  if (threads > limits.max_threads_per_sm) {
    return fmt::format("{} blocks of {} threads are {} threads per SM; an SM holds {}", blocks, of_block, threads,
                       limits.max_threads_per_sm);
  }
  // Half of the estimate: the compiler may keep less alive, and a few spilled values can be worth the occupancy.
  const std::int64_t needed = kFewestRegisters + candidate.shape().live_registers / 2;
  const std::int64_t available = limits.registers_per_sm / threads;
  if (available < needed) {
    return fmt::format("{} threads per SM leave {} registers to each, which needs at least {}", threads, available,
                       needed);
  }
  const auto bytes = static_cast<std::int64_t>(candidate.shape().shared.bytes);
  if (bytes == 0 || !candidate.shape().has_tile()) return {};
  const std::int64_t shared = saturating_product({blocks, saturating_sum(bytes, kSharedReservedPerBlock)});
  if (shared <= static_cast<std::int64_t>(limits.shared_per_sm)) return {};
  return fmt::format("{} blocks with {} bytes of shared memory (and {} reserved) each need {}; an SM has {}", blocks,
                     bytes, kSharedReservedPerBlock, shared, limits.shared_per_sm);
}

// The cheapest and most often broken come first: most candidates of a space end at one of them.
constexpr std::array kBeforeTheFamilys{
    Constraint{"threads_per_block", "A block has at least a warp of threads and at most what the GPU allows.",
               block_threads},
    Constraint{"steps_asked", "A launch makes as many steps as are asked for at least.", steps_asked},
    Constraint{"layer_arrays",
               "Arrays of fields in layers that hold these alone are read by some families; fused steps see one end.",
               layer_arrays},
    Constraint{"one_sweep", "A kernel of one sweep updates one stage.", one_sweep},
    Constraint{"vector_divides_register_x", "A thread's row of outputs is a whole number of vectors.",
               vector_divides_register_x},
    Constraint{"parameter_unused", "A parameter that the kernel does not use keeps its default.", parameter_unused},
    Constraint{"vector_bytes", "A vector is a power of two of cells and at most 16 bytes.", vector_bytes},
    Constraint{"rows_aligned", "The row pitch is a multiple of the vector.", rows_aligned},
    Constraint{"update_size", "The update of a thread's outputs is small enough to compile.", update_size},
    Constraint{"clusters", "Clusters take sm_90 and have up to 8 blocks.", clusters},
};

constexpr std::array kAfterTheFamilys{
    Constraint{"unused_axis", "Threads and register tiles extend only along axes that the kernel has.", unused_axis},
    Constraint{"code_size", "The unrolled update is small enough to compile.", code_size},
    Constraint{"register_tile", "A thread's live values fit in its registers.", register_tile},
    Constraint{"shared_memory", "The tile fits in a block's shared memory.", shared_memory},
    Constraint{"min_blocks_fit", "The blocks per SM promised to the compiler fit in an SM.", min_blocks_fit},
    Constraint{"grid_blocks", "The launch has no more blocks than the hardware counts.", grid_blocks},
    Constraint{"tile_numbers", "Tiles that follow each other in one row are numbered in 32 bits.", tile_numbers},
    Constraint{"points_asked", "The kernel takes points where runs with points are to be made.", points_asked},
    Constraint{"argument_bytes", "Coefficients and fields fit in the kernel's arguments.", argument_bytes},
    Constraint{"turned_once", "Walks answer a read beyond a periodic or reflecting end by one turn or reflection.",
               turned_once},
};

std::optional<Violation> first_of(std::span<const Constraint> constraints, const Candidate& candidate,
                                  const Limits& limits) {
  for (const Constraint& constraint : constraints) {
    if (auto message = constraint.violation(candidate, limits)) return Violation{constraint.name, *message};
  }
  return {};
}

}  // namespace

void for_each_constraint(const Family& family, const std::function<void(const Constraint&)>& visit) {
  for (const Constraint& constraint : kBeforeTheFamilys) visit(constraint);
  for (const Constraint& constraint : family.constraints) visit(constraint);
  for (const Constraint& constraint : kAfterTheFamilys) visit(constraint);
}

std::optional<Violation> first_violation(const Candidate& candidate, const Limits& limits) {
  if (auto broken = first_of(kBeforeTheFamilys, candidate, limits)) return broken;
  if (auto broken = first_of(candidate.family().constraints, candidate, limits)) return broken;
  return first_of(kAfterTheFamilys, candidate, limits);
}

bool is_legal(const Candidate& candidate, const Limits& limits) {
  return !first_violation(candidate, limits).has_value();
}

}  // namespace stencil_tune
