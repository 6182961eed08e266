// What families of one sweep have in common.
#pragma once

#include "generator/candidates/family.hpp"
#include "generator/candidates/row_reads.hpp"

namespace stencil_tune {

/// Kernel axes that are the grid's own.
std::array<int, kMaxRank> axes_of_the_grid(int rank);
/// Kernel axes of walks: the grid's last axis is z.
std::array<int, kMaxRank> axes_of_a_walk(int rank);

/// Outputs of a block whose threads hold a register tile each.
Lengths tile_of_threads(const Tuning& tuning);

/// Takes the reach off the tile on the first `axes` axes where threads cover the input.
void take_off_halo(const Tuning& tuning, KernelShape& shape, std::size_t axes);

/// Rows of a tile with its halo in shared memory: left_pad, pitch, rows. Whole vectors on both sides keep the first
/// output cell of every row on a vector boundary.
SharedTile rows_with_halo(const Problem& problem, const Tuning& tuning, const KernelShape& shape);

/// Bytes of a tile of `planes` planes.
void fill_bytes(SharedTile& shared);

/// Values and work of a thread that reads its rows as they come, one after the other.
void estimate_rows_at_once(const Problem& problem, const Tuning& tuning, KernelShape& shape);

/// Estimates from what a thread holds of one input at a time.
void estimate(const Problem& problem, const Tuning& tuning, std::int64_t input_values, KernelShape& shape);

/// Updates' worth of code for one output.
std::int64_t work_of_an_output(const Problem& problem);

/// "kTileX, kTileY, kTileZ" and the cluster's axis.
std::string tile_constants(const Candidate& candidate);
/// The rows of a register tile, which a thread reads at once.
std::string rows_at_once(const Candidate& candidate, const ThreadTile& tile);
/// "kInsideX, kInsideY, kInsideZ" of threads that read global memory themselves, and may leave when they have nothing
/// to write. Under hold an output reads only inside the array, which settles every axis on which a thread has one
/// output; with more, those beyond the edge read too. Lanes that shuffle stay for their neighbours, outputs or not.
std::string inside_constants(const Candidate& candidate, const ThreadTile& tile, int planes_ahead);
/// The constants of a tile in shared memory: see shared_tile.cuh. `below`: planes of halo before the first output's.
std::string shared_tile_constants(const SharedTile& shared, int top, int below);

/// Loads of threads that read global memory themselves; `outputs_z` a thread along z.
TextbookLoads loads_through_cache(const Candidate& candidate, int outputs_z);
/// Loads of a block that brings its tile with the halo to shared memory.
TextbookLoads loads_through_shared_memory(const Candidate& candidate);

/// Blocks that suit most problems.
Tuning block(const Family& family, int x, int y, int z);
Tuning flat_block(const Family& family, int rank);

Constraint shuffle_in_warp();
Constraint cover_input_one_cell();
Constraint covered_tile_not_empty();

}  // namespace stencil_tune
