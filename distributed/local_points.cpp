#include "distributed/local_points.hpp"

#include "generator/points/point_checks.hpp"

#include <array>
#include <optional>
#include <vector>

namespace stencil_tune {
namespace {

using Cell = std::array<std::int64_t, kMaxRank>;

bool holds(const Box& box, const Cell& cell) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cell[axis] < box.low[axis] || cell[axis] >= box.high[axis]) return false;
  }
  return true;
}

/// Where the cell of the grid stands in an array: shifted by whole grids along periodic axes.
template <class Visit>
void each_image(const Decomposition& grid, const Box& array, const Cell& cell, Visit visit) {
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        const std::array<int, kMaxRank> turns{x, y, z};
        Cell image = cell;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) image[axis] += turns[axis] * grid.grid().n[axis];
        if (!holds(array, image)) continue;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) image[axis] -= array.low[axis];
        visit(image);
      }
    }
  }
}

/// Cells that the stage writes which writes the field.
Box written_box(const Problem& local, int field) {
  const int stage = writing_stage(local.step, field).value_or(0);
  return updated_box(make_problem(local.stencil, local.type, local.boundaries, local.extents, local.pitch, 1, stage));
}

}  // namespace

PointList points_of_part(const PointList& whole, const Decomposition& grid, int rank, const Problem& local) {
  const Box array = grid.array(rank);
  const Box own = grid.owned(rank);
  PointList part{.sources = whole.sources,
                 .source_cells = {},
                 .receivers = whole.receivers,
                 .receiver_cells = {},
                 .every = whole.every};
  std::vector<std::optional<Box>> written(local.stencil.fields.size());
  for (const PointCell& source : whole.source_cells) {
    auto& box = written[static_cast<std::size_t>(source.field)];
    if (!box) box = written_box(local, source.field);
    each_image(grid, array, source.cell, [&](const Cell& cell) {
      if (!holds(*box, cell)) return;
      part.source_cells.push_back(source);
      part.source_cells.back().cell = cell;
    });
  }
  for (const PointCell& receiver : whole.receiver_cells) {
    if (!holds(own, receiver.cell)) continue;
    part.receiver_cells.push_back(receiver);
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) part.receiver_cells.back().cell[axis] -= array.low[axis];
  }
  return part;
}

}  // namespace stencil_tune
