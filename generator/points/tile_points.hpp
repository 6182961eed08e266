// Points sorted by the tiles of a kernel of fused steps: what templates/points/point_tables.cuh has in device memory.
#pragma once

#include "generator/candidates/shape.hpp"
#include "stencil_tune/points.hpp"
#include "templates/points/point_tables.cuh"

#include <cstdint>
#include <string>
#include <vector>

namespace stencil_tune {

/// A cell that receivers read, once for all of them.
struct ReceiverCells {
  std::vector<PointCell> cells;         ///< different ones; points and weights have no meaning
  std::vector<std::size_t> of_entries;  ///< for each of PointList::receiver_cells: its place among `cells`
};

ReceiverCells receiver_cells(const PointList& points);

struct TilePoints {
  std::vector<int> tiles;
  std::vector<PointPlane> planes;
  std::vector<WarpPoints> warps;
  std::vector<SourceCell<double>> sources;  ///< for kernels of any type
  std::vector<ReceiverMask> receivers;
  std::vector<unsigned> places;  ///< for each of the receiver cells: its place among those that are captured
};

/// Why the candidate's kernel cannot have points, "" where it can. Templates of single sweeps have none.
std::string points_obstacle(const Candidate& candidate, const PointList& points);

/// The points were checked, and there is no obstacle.
TilePoints sort_by_tiles(const Candidate& candidate, const PointList& points, const ReceiverCells& receivers);

}  // namespace stencil_tune
