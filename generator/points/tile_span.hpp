// Where an overlapping tile lies along one axis, for the host, which looks for the tiles that have a cell: TemporalSpan
// and leave_to_last() (templates/temporal/temporal_tile.cuh) with sizes that are known as it runs.
#pragma once

namespace stencil_tune {

/// One axis of a tile, its halo included.
template <class Index>
struct TileSpan {
  Index origin;  ///< first cell of the tile; negative only under periodic
  Index low;     ///< first cell that the tile stores
  Index high;    ///< one past the last
  bool at_low;   ///< the tile starts with the grid
  bool at_high;  ///< the tile ends with the grid
};

/// The span of `tile` among `tiles` along an axis of n cells. before, after: halo cells within `size`. Tiles after the
/// first begin `shift` cells earlier than where the one before ends its own cells. rim: cells beyond the tile that it
/// reads.
template <class Index>
TileSpan<Index> tile_span(Index tile, Index tiles, Index n, int size, int before, int after, int shift, int rim,
                          bool periodic) {
  TileSpan<Index> span{};
  const Index useful = size - before - after;
  if (periodic) {
    span.origin = tile * useful - before;
    span.low = tile * useful;
    span.high = span.low + useful < n ? span.low + useful : n;
  } else {
    span.at_low = tile == 0;
    span.at_high = tile == tiles - 1;
    span.origin = span.at_high ? n - size : tile * useful - (shift == 0 || span.at_low ? Index(0) : Index(shift));
    span.low = span.at_low ? Index(0) : tile * useful + before - shift;
    span.high = span.at_high ? n : tile * useful + size - after - shift;
    if (tiles > 1 && n - size - (tiles - 2) * useful < rim) {
      if (span.at_high) span.low -= rim;
      if (tile == tiles - 2) span.high -= rim;
    }
  }
  return span;
}

}  // namespace stencil_tune
