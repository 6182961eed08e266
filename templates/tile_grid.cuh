// How tiles cover the cells of a launch: what the host counts and the kernel goes by. Plain C++ that both compile.
#pragma once

#include "stencil_tune/both_sides.cuh"

namespace stencil_tune {

/// Where the first tile's outputs begin in x: a block's tile starts on a cache line, so that its vectors and rows fill
/// whole sectors.
STENCIL_BOTH_SIDES long long line_before(long long cell, long long cell_bytes) {
  const long long line_cells = 128 / cell_bytes;
  return cell / line_cells * line_cells;
}

/// Tiles of that many cells that cover the cells from `origin` up to `end`.
STENCIL_BOTH_SIDES long long tiles_between(long long origin, long long end, long long tile) {
  return end > origin ? (end - origin + tile - 1) / tile : 0;
}

/// Tiles of `size` cells, halos included, along an axis of n cells: they overlap by their halos, and the first and last
/// end with the grid unless it is periodic. shift: cells that tiles after the first begin earlier. 0 where a tile has no
/// cell of its own.
STENCIL_BOTH_SIDES long long overlapping_tiles(long long n, long long size, int before, int after, int shift,
                                               bool periodic) {
  const long long useful = size - before - after;
  if (useful <= 0) return 0;
  const long long beyond = periodic ? n : n - size + (n > size ? shift : 0);
  const long long more = beyond > 0 ? (beyond + useful - 1) / useful : 0;
  return periodic ? more : more + 1;
}

}  // namespace stencil_tune
