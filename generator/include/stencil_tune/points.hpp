// Points of a run: sources, which add a time series at cells, and receivers, which record fields at cells.
#pragma once

#include "stencil_tune/grid.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace stencil_tune {

/// One cell of a source or a receiver. A point off the grid has several (spread()).
struct PointCell {
  int point = 0;                                     ///< number of the source or receiver, from 0
  int field = 0;                                     ///< index into Stencil::fields
  std::array<std::int64_t, kMaxRank> cell{0, 0, 0};  ///< x, y, z; 0 beyond the rank
  double weight = 1;                                 ///< what the cell takes or gives is multiplied by it
};

/// What runs do at points, for any number of steps. Step s counts from the first step of a call, 0.
///
/// Sources: at step s `field[cell] += weight * series[s][point]`, right after the stage that writes the field and
/// before anything reads it. The field is one that a stage writes, under that name ("u_next", "ez_next"). Entries for
/// one cell add in the order of the list.
///
/// Receivers: after every `every`th step, the steps with (s + 1) % every == 0, `records[record][point]` is the sum of
/// weight * field[cell] over the point's entries, in the order of the list. The field is one of the state that the step
/// has changed, under the name that it has after the step ("u", "ez").
///
/// No cell may lie in the layers that boundary hold keeps there.
struct PointList {
  int sources = 0;                          ///< columns of the series
  std::vector<PointCell> source_cells{};    ///< in any order
  int receivers = 0;                        ///< columns of the records
  std::vector<PointCell> receiver_cells{};  ///< in any order; a receiver without any records 0
  int every = 1;                            ///< steps from one record to the next
};

/// The cells around a position between them, weighted linearly along each axis: one, two, four or eight of them,
/// without those of weight 0. position: in cells, (0, 0, 0) is the middle of the first one.
std::vector<PointCell> spread(int point, int field, const std::array<double, kMaxRank>& position);

}  // namespace stencil_tune
