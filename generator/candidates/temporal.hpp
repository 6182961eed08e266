// The temporal family's geometry on the host: the same numbers that templates/temporal/temporal_tile.cuh derives from
// the taps.
#pragma once

#include "generator/candidates/tile.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace stencil_tune {

/// Sweeps that one launch of the candidate makes: its fused steps, 1 for all other families.
int sweeps_per_launch(const Tuning& tuning);

/// The input that the stage's only output takes the place of after a step: its place among facts.inputs. Nothing where
/// the stencil is not one stage of one output, or other fields move too.
std::optional<std::size_t> advanced_input(const Problem& problem);

/// Whether steps of the stencil can be fused: one stage advances one field, and reads others, which no step changes, at
/// the cell itself alone.
bool advances_one_field(const Problem& problem);

struct TemporalShape {
  std::int64_t width = 0;       ///< cells of a tile in x, halo included
  std::int64_t warp_width = 0;  ///< of a warp's part of it
  std::int64_t height = 0;      ///< rows of a tile in y, of all blocks that share it
  std::int64_t block_height = 0;
  int left = 0, right = 0;  ///< halo columns of a tile, rounded up to whole vectors and to what the copy engine takes
  int above = 0, below = 0;
  int levels = 0;          ///< of fused steps that one group of warps has
  int lag = 0;             ///< planes that a level works behind the one before it
  int delay = 0;           ///< planes from the input to the output
  int held = 0;            ///< planes, of cells or of sums, that a level keeps from step to step
  int exchange_slots = 0;  ///< planes of which warps have their edge cells in shared memory; 0: none are exchanged
  int end_rows = 0;        ///< of a warp, of which the ends of each thread's part are exchanged
  std::size_t shared_bytes = 0;
};

/// Warps of a block that have the same levels.
std::int64_t warps_of_group(const Tuning& tuning);

TemporalShape temporal_shape(const Problem& problem, const Tuning& tuning);

/// Cells of which each row of the grid must have a multiple: its last tile ends with it, and starts where the copy
/// engine may, if that brings rows. The pitch is another matter.
std::int64_t row_multiple(const Problem& problem, const Tuning& tuning);

/// Tiles along an axis of n cells: they overlap by their halos, and the first and last end with the grid unless it is
/// periodic. 0 where a tile has no cell of its own.
std::int64_t temporal_tiles(std::int64_t n, std::int64_t size, int before, int after, Boundary boundary);

}  // namespace stencil_tune
