// What families have in common whose kernels make several levels in one pass over memory: tiles that overlap and end
// with the grid, walked through in chunks, and rows that each warp copies for itself.
#pragma once

#include "generator/candidates/family.hpp"

#include <array>

namespace stencil_tune {

inline constexpr std::int64_t kBarrierBytes = 8;
inline constexpr std::int64_t kWordBytes = 16;

/// Whether TMA brings the rows (`copies_of_rows`), wherever those of the last tile end.
bool copied_by_tma(const Tuning& tuning);

// ---- parameters -----------------------------------------------------------------------------------------------------

/// The values of a parameter of walks: one on a line, which is not walked along.
std::vector<int> of_walks(std::vector<int> values, const Problem& problem, const Limits& limits,
                          const KernelAxes& axes);

Parameter one_thread_in_y();
/// others: further ways of TMA that a family's kernels know.
Parameter copies_of_rows(const std::vector<EnumWord<Copies>>& others = {});
Parameter rims_of_tiles();
Parameter chunks_of_planes();
Parameter tile_borders();

// ---- constraints: each family names them itself ---------------------------------------------------------------------

/// Steps are `least` at least, and no more than the run has.
Verdict steps_from(const Candidate& candidate, int least);
/// Steps are two at least, and no more than the run has.
Verdict steps_of_run(const Candidate& candidate, const Limits& limits);
Verdict steps_shared_out_evenly(const Candidate& candidate, const Limits& limits);
/// Planes beyond an end of the walk are none that sums could be given again, nor is what is not linear 0 where they are
/// 0.
Verdict sums_along_the_walk(const Candidate& candidate, const Limits& limits);
/// Warps that have arrived at a barrier sleep until the others have.
Verdict splits_barrier(const Candidate& candidate, const Limits& limits);
/// Neighbouring lanes and warps hold all that a thread reads beyond its own cells; mirrored rows are its own.
/// farthest: that an update reads, in x and y.
Verdict held_by_neighbours(const Candidate& candidate, const std::array<int, 2>& farthest);
/// The reference of as many steps fits on the device.
Verdict verifiable_steps(const Candidate& candidate, const Limits& limits);
Verdict asynchronous_copies(const Candidate& candidate, const Limits& limits);
Verdict planes_on_their_way(const Candidate& candidate, const Limits& limits);
/// TMA fills cells outside the grid with zeros, and places of shared memory that are multiples of 128 bytes.
Verdict tensor_copies_of_rows(const Candidate& candidate, const Limits& limits);
/// A warp copies the rows of a rim and publishes them. Where held layers would lie in one, a tile leaves so many of its
/// own rows to the next (leave_to_last in templates/temporal/), which has to reach them.
Verdict rims_read(const Candidate& candidate, const Limits& limits);
/// Registers are shared out among the threads of the blocks that an SM holds at least. others: that a thread needs
/// beside the values that are estimated.
Verdict registers_suffice(const Candidate& candidate, const Limits& limits, std::int64_t others);
/// Planes, or rows, that a walk updates; 1 where the grid has no such axis.
std::int64_t walked_planes(const Candidate& candidate);
Verdict fused_tile_in_grid(const Candidate& candidate, const Limits& limits);
Verdict fused_tile_not_empty(const Candidate& candidate, const Limits& limits);

// ---- shape ----------------------------------------------------------------------------------------------------------

/// Sets a tile's halo in x: `left` and `right`, in whole vectors and as TMA takes them, and `shift`; and where rows of
/// tiles end (`row_multiple`). low, high: cells that the tile needs beyond its own.
void place_halo_in_x(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, int low, int high,
                     FusedLevels& fused);

/// Whether the last tile would start where TMA cannot, if its rows ended with the grid's.
bool rows_start_off_the_copies(const Problem& problem, const KernelAxes& axes);

/// Sets the cells that a block stores, and where tiles lie, from `shape.fused`. Whole tiles with their halos lie inside
/// the grid, and its planes are shared out among chunks.
void place_fused_tiles(const Problem& problem, const Tuning& tuning, KernelShape& shape);

/// Shared memory of barriers that count what TMA brings to so many warps.
std::int64_t arrival_bytes(const Tuning& tuning, std::int64_t warps);

/// Cells of a field that a block loads for each output of each of its steps. planes_more: that a chunk walks through
/// beyond those that it stores.
TextbookLoads fused_loads(const Candidate& candidate, double planes_more);

}  // namespace stencil_tune
