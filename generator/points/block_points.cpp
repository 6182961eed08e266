#include "generator/points/block_points.hpp"

#include "generator/stencil/indices.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace stencil_tune {
namespace {

/// Where a block has a cell, along one axis.
struct OnAxis {
  std::int64_t block;
  std::int64_t place;  ///< from the first cell of its halo
  bool own;            ///< it lies in the tile
};

std::vector<OnAxis> places_on(const KernelShape& shape, std::size_t axis, std::int64_t cell) {
  const std::int64_t n = shape.axes.extents[axis], tile = shape.tile[axis], whole = shape.whole_tile[axis];
  const std::int64_t halo = (whole - tile) / 2;
  const bool periodic = shape.axes.boundaries[axis] == Boundary::periodic;
  std::vector<OnAxis> places;
  for (std::int64_t block = 0; block < shape.tiles[axis]; ++block) {
    const std::int64_t first = block * tile - halo;
    const std::int64_t before = periodic ? (cell - first) % n : cell - first;  // an image of it, or the cell
    for (std::int64_t place = before < 0 && periodic ? before + n : before; place >= 0 && place < whole; place += n) {
      places.push_back({block, place, first + place == cell && cell / tile == block});
      if (!periodic) break;
    }
  }
  return places;
}

struct InBlock {
  std::int64_t block;
  std::int64_t place;
  std::size_t entry;  ///< place in the list of points

  auto key() const { return std::tuple(block, place, entry); }
};

std::vector<InBlock> sorted(const KernelShape& shape, const std::vector<PointCell>& cells, bool own_alone) {
  std::vector<InBlock> result;
  for (std::size_t entry = 0; entry < cells.size(); ++entry) {
    std::array<std::vector<OnAxis>, kMaxRank> on;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) on[axis] = places_on(shape, axis, cells[entry].cell[axis]);
    for (const OnAxis& z : on[2]) {
      for (const OnAxis& y : on[1]) {
        for (const OnAxis& x : on[0]) {
          if (own_alone && !(x.own && y.own && z.own)) continue;
          const std::int64_t block = (z.block * shape.tiles[1] + y.block) * shape.tiles[0] + x.block;
          const std::int64_t place = (z.place * shape.whole_tile[1] + y.place) * shape.whole_tile[0] + x.place;
          result.push_back({block, place, entry});
        }
      }
    }
  }
  std::sort(result.begin(), result.end(), [](const InBlock& a, const InBlock& b) { return a.key() < b.key(); });
  return result;
}

}  // namespace

TilePoints sort_by_blocks(const Candidate& candidate, const PointList& points, const ReceiverCells& receivers) {
  const KernelShape& shape = candidate.shape();
  const std::vector<InBlock> adding = sorted(shape, points.source_cells, false);
  const std::vector<InBlock> captured = sorted(shape, receivers.cells, true);
  TilePoints result;
  for (const InBlock& each : adding) {
    const PointCell& source = points.source_cells[each.entry];
    result.sources.push_back({static_cast<unsigned short>(each.place), static_cast<unsigned short>(source.field),
                              source.point, source.weight});
  }
  result.places.resize(receivers.cells.size());
  for (const InBlock& each : captured) {
    const auto place = static_cast<unsigned>(result.receivers.size());
    const auto field = static_cast<unsigned>(receivers.cells[each.entry].field);
    result.receivers.push_back({static_cast<unsigned>(each.place), place, field, 0});
    result.places[each.entry] = place;
  }
  const std::int64_t blocks = saturating_product({shape.tiles[0], shape.tiles[1], shape.tiles[2]});
  const auto before = [](const std::vector<InBlock>& all, std::int64_t block) {
    const auto first = std::find_if(all.begin(), all.end(), [&](const InBlock& each) { return each.block >= block; });
    return static_cast<unsigned>(first - all.begin());
  };
  for (std::int64_t block = 0; block <= blocks; ++block) {
    result.warps.push_back({before(adding, block), before(captured, block)});
  }
  return result;
}

}  // namespace stencil_tune
