// The geometry of fused steps, as numbers: what the host plans with and the kernel is built from. Plain C++ that both
// compile; nothing in here touches memory.
//
//     |<- left ->|<-------- stored -------->|<- right ->|         one tile in x; in y above and below are its halo
//                               |<- left ->|<-------- stored -------->|<- right ->|         its neighbour
//     grid: the first tile begins, the last one ends with it, so that only inner halos are computed twice
#pragma once

#include "stencil_tune/both_sides.cuh"

namespace stencil_tune {

/// Of one axis: how far the stencil reaches (not negative).
struct TemporalAxis {
  int low;
  int high;
};

/// What the geometry follows from. Cells of other warps are read at planes first_exchanged .. last_exchanged of the
/// reach (0: the lowest); last < first: nowhere.
struct TemporalPlan {
  TemporalAxis x, y, z;
  long long block_x, block_y, register_x, register_y, cluster;
  int steps, groups;
  int alignment;  ///< cells of which a tile's first column is a multiple: whole vectors, and where TMA may start
  bool keeps_sums, splits_barrier;
  bool maps_planes;  ///< planes beyond an end of the walk are answered by planes inside: clamp, reflect
  int first_exchanged, last_exchanged;
};

struct TemporalGeometry {
  long long width;         ///< cells of a tile in x, halo included
  long long warp_width;    ///< of a warp's part of it
  long long height;        ///< rows of a tile in y, of all blocks that share it
  long long block_height;
  int left, right, above, below;  ///< halo
  int first_exchanged, last_exchanged;  ///< planes of which warps have their edge cells in shared memory at one time
  bool exchanges;
  bool splits_sums;  ///< sums take of a plane what other warps' cells have no part in at once, the rest a step later
  bool fresh;        ///< the newest plane is used in the step that brings it: no cells of other warps are read of it
  int kept;          ///< planes, of cells or of sums, that a level keeps from step to step
  int lag;           ///< planes from a level to the next
  int levels;        ///< of a group of warps
  int hand_over;     ///< steps until a group takes what another completed
  int group_delay;   ///< planes from a group's input to the next group's
  int delay;         ///< planes from the input to the output
};

STENCIL_BOTH_SIDES TemporalGeometry temporal_geometry(const TemporalPlan& plan) {
  TemporalGeometry g{};
  g.width = plan.block_x * plan.register_x;
  g.warp_width = 32 * plan.register_x;
  g.block_height = plan.block_y * plan.register_y;
  g.height = plan.cluster * g.block_height;
  const auto aligned = [&](int cells) { return (cells + plan.alignment - 1) / plan.alignment * plan.alignment; };
  g.left = aligned(plan.steps * plan.x.low);
  g.right = aligned(plan.steps * plan.x.high);
  g.above = plan.steps * plan.y.low;
  g.below = plan.steps * plan.y.high;

  // Levels that keep sums read one plane at a time; clamp and reflect answer with any of those in reach.
  const int planes = plan.z.low + plan.z.high + 1;
  const int centre = plan.z.low;
  g.exchanges = plan.last_exchanged >= plan.first_exchanged;
  const bool all = g.exchanges && plan.maps_planes && !plan.keeps_sums &&
                   (plan.first_exchanged != centre || plan.last_exchanged != centre);
  g.first_exchanged = all || plan.keeps_sums ? 0 : plan.first_exchanged;
  g.last_exchanged = plan.keeps_sums ? 0 : all ? planes - 1 : plan.last_exchanged;

  // A star's sums take at once what lies ahead of their outputs.
  g.splits_sums = plan.keeps_sums && g.exchanges && plan.z.high > 0 && plan.last_exchanged <= centre;
  g.fresh = plan.keeps_sums ? !g.exchanges || g.splits_sums : !g.exchanges || g.last_exchanged < planes - 1;
  g.kept = g.fresh ? planes - 1 : planes;
  g.lag = plan.z.high + (g.fresh ? 0 : 1);

  // What one group completes in a step the next takes in the one after, or, where warps wait for each other within a
  // step, in the one after that.
  g.levels = plan.steps / plan.groups;
  g.hand_over = plan.splits_barrier ? 2 : 1;
  g.group_delay = g.levels * g.lag + g.hand_over;
  g.delay = plan.steps * g.lag + (plan.groups - 1) * g.hand_over;
  return g;
}

/// Tiles along an axis of n cells: they overlap by their halos, and the first and last end with the grid unless it is
/// periodic. 0 where a tile has no cell of its own.
STENCIL_BOTH_SIDES long long temporal_tiles(long long n, long long size, int before, int after, bool periodic) {
  const long long useful = size - before - after;
  if (useful <= 0) return 0;
  const long long beyond = periodic ? n : n - size;
  const long long more = beyond > 0 ? (beyond + useful - 1) / useful : 0;
  return periodic ? more : more + 1;
}

}  // namespace stencil_tune
