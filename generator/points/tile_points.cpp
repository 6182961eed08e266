#include "generator/points/tile_points.hpp"

#include "generator/candidates/family.hpp"
#include "generator/points/block_points.hpp"
#include "generator/points/point_checks.hpp"
#include "generator/points/tile_span.hpp"
#include "generator/stencil/indices.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

namespace stencil_tune {
namespace {

constexpr std::int64_t kMostPlanes = std::numeric_limits<int>::max();
constexpr std::int64_t kMostTableBytes = std::int64_t{1} << 33;  // beyond it tables are refused rather than allocated

constexpr unsigned kMaskBits = 32;  // bits of ReceiverMask::cells
constexpr int kWarpLanes = 32;

/// The tiles of a kernel along one of its axes.
class TileAxis {
 public:
  TileAxis(const Candidate& candidate, std::size_t axis) {
    const KernelShape& shape = candidate.shape();
    const FusedLevels& fused = shape.fused;
    n_ = shape.axes.extents[axis];
    tiles_ = shape.tiles[axis];
    size_ = static_cast<int>(axis == 0 ? fused.width : fused.height);
    before_ = axis == 0 ? fused.left : fused.above;
    after_ = axis == 0 ? fused.right : fused.below;
    shift_ = axis == 0 ? fused.shift : 0;
    rim_ = axis == 0 ? 0 : fused.rim_rows;
    periodic_ = shape.axes.boundaries[axis] == Boundary::periodic;
  }

  std::int64_t tiles() const { return tiles_; }

  /// Where a tile has a cell.
  struct Place {
    std::int64_t tile;
    std::int64_t offset;  ///< from the tile's first cell
    bool stored;          ///< by that tile
  };

  /// The cell's place in each tile that has it, halos included.
  std::vector<Place> places_of(std::int64_t cell) const {
    std::vector<Place> places;
    for (const std::int64_t alike : {cell - n_, cell, cell + n_}) {  // what a periodic tile beyond the grid's end has
      if (alike != cell && !periodic_) continue;
      const std::int64_t useful = size_ - before_ - after_;
      const std::int64_t first = std::max<std::int64_t>(0, (alike - size_) / useful - 1);
      const std::int64_t last = std::min(tiles_ - 1, (alike + shift_ + before_) / useful + 1);
      for (std::int64_t tile = first; tile <= last; ++tile) add(tile, cell, alike, places);
      if (!periodic_ && last < tiles_ - 1) add(tiles_ - 1, cell, alike, places);
    }
    return places;
  }

 private:
  void add(std::int64_t tile, std::int64_t cell, std::int64_t alike, std::vector<Place>& places) const {
    const auto span = tile_span<std::int64_t>(tile, tiles_, n_, size_, before_, after_, shift_, rim_, periodic_);
    const std::int64_t offset = alike - span.origin;
    if (offset < 0 || offset >= size_) return;
    places.push_back({tile, offset, alike == cell && cell >= span.low && cell < span.high});
  }

  std::int64_t n_ = 0, tiles_ = 0;
  int size_ = 0, before_ = 0, after_ = 0, shift_ = 0, rim_ = 0;
  bool periodic_ = false;
};

/// A point's cell in one tile.
struct InTile {
  std::int64_t tile;
  std::int64_t plane;
  int warp;
  int lane;
  unsigned short cell;  ///< place among the lane's cells
  std::size_t entry;    ///< place in the list of points
  unsigned field;

  auto warp_key() const { return std::tuple(tile, plane, warp); }
  auto source_key() const { return std::tuple_cat(warp_key(), std::tuple(entry)); }
  auto receiver_key() const { return std::tuple_cat(warp_key(), std::tuple(field, cell / kMaskBits, lane, cell)); }
};

class TileSorter {
 public:
  explicit TileSorter(const Candidate& candidate)
      : candidate_(candidate),
        tuning_(candidate.tuning()),
        axes_(candidate.shape().axes),
        x_(candidate, 0),
        y_(candidate, 1) {}

  TilePoints sort(const std::vector<PointCell>& sources, const std::vector<PointCell>& receivers) {
    std::vector<InTile> adding = place(sources, false);
    std::vector<InTile> captured = place(receivers, true);
    // In the order of the tables.
    std::sort(adding.begin(), adding.end(), [](auto& a, auto& b) { return a.source_key() < b.source_key(); });
    std::sort(captured.begin(), captured.end(), [](auto& a, auto& b) { return a.receiver_key() < b.receiver_key(); });
    TilePoints result;
    find_planes(adding, captured, result);
    write_rounds(adding, captured, sources, result);
    result.places.resize(receivers.size());
    for (std::size_t place = 0; place < captured.size(); ++place) {
      result.places[captured[place].entry] = static_cast<unsigned>(place);
    }
    return result;
  }

 private:
  int warps() const { return tuning_.block_x / kWarpLanes * tuning_.block_y; }

  std::int64_t index_on(std::size_t axis, const PointCell& cell) const {
    return axes_.has(axis) ? cell.cell[static_cast<std::size_t>(axes_.grid_axis[axis])] : 0;
  }

  std::vector<InTile> place(const std::vector<PointCell>& cells, bool stored_alone) const {
    std::vector<InTile> placed;
    for (std::size_t entry = 0; entry < cells.size(); ++entry) {
      const auto columns = x_.places_of(index_on(0, cells[entry]));
      for (const TileAxis::Place& row : y_.places_of(index_on(1, cells[entry]))) {
        for (const TileAxis::Place& column : columns) {
          if (stored_alone && !(row.stored && column.stored)) continue;
          placed.push_back(in_tile(cells[entry], entry, column, row));
        }
      }
    }
    return placed;
  }

  InTile in_tile(const PointCell& cell, std::size_t entry, const TileAxis::Place& column,
                 const TileAxis::Place& row) const {
    const std::int64_t block_height = candidate_.shape().fused.block_height;
    const std::int64_t block_row = row.tile * tuning_.cluster + row.offset / block_height;
    const std::int64_t thread_x = column.offset / tuning_.register_x;
    const std::int64_t thread_y = row.offset % block_height / tuning_.register_y;
    const std::int64_t i = column.offset % tuning_.register_x;
    const std::int64_t j = row.offset % block_height % tuning_.register_y;
    return {.tile = block_row * x_.tiles() + column.tile,
            .plane = index_on(2, cell),
            .warp = static_cast<int>(thread_y * (tuning_.block_x / kWarpLanes) + thread_x / kWarpLanes),
            .lane = static_cast<int>(thread_x % kWarpLanes),
            .cell = static_cast<unsigned short>(j * tuning_.register_x + i),
            .entry = entry,
            .field = static_cast<unsigned>(cell.field)};
  }

  void find_planes(const std::vector<InTile>& adding, const std::vector<InTile>& captured, TilePoints& result) {
    for (const auto* each : {&adding, &captured}) {
      for (const InTile& point : *each) rows_.try_emplace({point.tile, point.plane}, 0);
    }
    result.tiles.assign(at(x_.tiles() * y_.tiles() * tuning_.cluster), -1);
    int tiles = 0;
    int row = 0;
    for (auto& [place, number] : rows_) {
      number = row++;
      int& tile = result.tiles[at(place.first)];
      if (tile < 0) tile = tiles++;
    }
    const std::int64_t planes = axes_.extents[2];
    if (tiles * planes > kMostTableBytes / static_cast<std::int64_t>(sizeof(PointPlane))) {
      throw Error(
          ErrorCode::exceeds_device_memory,
          fmt::format("points lie in {} tiles of {} planes: their tables would be larger than 8 GiB", tiles, planes));
    }
    result.planes.assign(at(tiles * planes), {static_cast<int>(planes), 0});
    std::int64_t tile_before = -1;
    std::int64_t z = 0;
    for (const auto& [place, number] : rows_) {
      const auto [tile, plane] = place;
      if (tile != tile_before) z = 0;
      const std::int64_t own = result.tiles[at(tile)] * planes;
      for (; z <= plane; ++z) result.planes[at(own + z)] = {static_cast<int>(plane), number};
      tile_before = tile;
    }
  }

  /// The rounds of one table, warp by warp.
  template <class Entry>
  class Rounds {
   public:
    Rounds(const std::vector<InTile>& points, std::vector<Entry>& table) : points_(points), table_(table) {}

    unsigned count() const { return static_cast<unsigned>(table_.size() / kWarpLanes); }

    /// The next point of the warp, if there is one more.
    const InTile* next(std::int64_t tile, std::int64_t plane, int warp) {
      if (next_ == points_.size() || points_[next_].warp_key() != std::tuple(tile, plane, warp)) return nullptr;
      return &points_[next_++];
    }
    std::size_t place() const { return next_ - 1; }  ///< where the last one stands in the list

    /// A lane's entry of a round, of which the table may have one too few.
    Entry& entry(std::size_t round, int lane, const Entry& none) {
      const std::size_t wanted = (round + 1) * kWarpLanes;
      if (wanted > table_.size()) {
        if (wanted * sizeof(Entry) > kMostTableBytes) {
          throw Error(ErrorCode::exceeds_device_memory,
                      "points lie so far apart that their tables would be larger than 8 GiB");
        }
        table_.resize(wanted, none);
      }
      return table_[round * kWarpLanes + at(lane)];
    }

   private:
    const std::vector<InTile>& points_;
    std::vector<Entry>& table_;
    std::size_t next_ = 0;
  };

  void write_rounds(const std::vector<InTile>& adding, const std::vector<InTile>& captured,
                    const std::vector<PointCell>& sources, TilePoints& result) const {
    Rounds<SourceCell<double>> of_sources(adding, result.sources);
    Rounds<ReceiverMask> of_receivers(captured, result.receivers);
    for (const auto& [place, row] : rows_) {
      for (int warp = 0; warp < warps(); ++warp) {
        result.warps.push_back({of_sources.count(), of_receivers.count()});
        write_sources(place.first, place.second, warp, sources, of_sources);
        write_receivers(place.first, place.second, warp, of_receivers);
      }
    }
    result.warps.push_back({of_sources.count(), of_receivers.count()});
  }

  /// A lane's sources, in the order of the list, are of one round after the other.
  static void write_sources(std::int64_t tile, std::int64_t plane, int warp, const std::vector<PointCell>& sources,
                            Rounds<SourceCell<double>>& rounds) {
    const std::size_t first = rounds.count();
    std::array<std::size_t, kWarpLanes> used{};  // rounds of each lane
    while (const InTile* point = rounds.next(tile, plane, warp)) {
      const PointCell& source = sources[point->entry];
      rounds.entry(first + used[at(point->lane)]++, point->lane, {kNoCell, 0, 0, 0}) = {
          point->cell, static_cast<unsigned short>(source.field), source.point, source.weight};
    }
  }

  /// A round for each field and each group of a thread's cells.
  static void write_receivers(std::int64_t tile, std::int64_t plane, int warp, Rounds<ReceiverMask>& rounds) {
    const InTile* before = nullptr;
    while (const InTile* point = rounds.next(tile, plane, warp)) {
      const unsigned group = point->cell / kMaskBits;
      const bool same_round = before && before->field == point->field && before->cell / kMaskBits == group;
      const std::size_t round = rounds.count() - (same_round ? 1 : 0);
      ReceiverMask& mask = rounds.entry(round, point->lane, {0, 0, point->field, group});
      if (mask.cells == 0) mask.place = static_cast<unsigned>(rounds.place());
      mask.cells |= 1u << point->cell % kMaskBits;
      before = point;
    }
  }

  const Candidate& candidate_;
  const Tuning& tuning_;
  const KernelAxes& axes_;
  TileAxis x_, y_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> rows_;  ///< [tile, plane that has points]: its number
};

}  // namespace

ReceiverCells receiver_cells(const PointList& points) {
  ReceiverCells result;
  std::map<std::pair<int, std::array<std::int64_t, kMaxRank>>, std::size_t> known;
  for (const PointCell& cell : points.receiver_cells) {
    const auto [place, is_new] = known.try_emplace({cell.field, cell.cell}, result.cells.size());
    if (is_new) result.cells.push_back(cell);
    result.of_entries.push_back(place->second);
  }
  return result;
}

std::string points_obstacle(const Candidate& candidate, const PointList& points) {
  const Family& family = candidate.family();
  if (family.kernel_template(candidate.tuning()).points_file.empty()) {
    return fmt::format("the family {} has no template with points for it", family.name);
  }
  constexpr int kMostRecorded = 32;  // bits of PointTables::recorded
  if (candidate.shape().together && candidate.tuning().steps > kMostRecorded) {
    return fmt::format("{} steps in a launch, of which {} can be recorded", candidate.tuning().steps, kMostRecorded);
  }
  if (candidate.shape().axes.extents[2] >= kMostPlanes) return "the grid has more planes than tables of points number";
  const FusedSystem& system = candidate.shape().system();
  const StepFacts& step = candidate.problem().step;
  const auto stages = static_cast<int>(tuned_step(candidate.problem(), candidate.tuning()).step.stages.size());
  for (const PointCell& receiver : points.receiver_cells) {
    const int output = recorded_output(step, receiver.field).value_or(-1);
    for (const SystemLevel& level : system.levels) {
      const bool ends_step = level.stage == stages - 1;
      if (!ends_step || std::count(level.out.begin(), level.out.end(), output) > 0) continue;
      return fmt::format("field '{}' does not leave every step that the kernel fuses",
                         candidate.problem().stencil.fields[static_cast<std::size_t>(receiver.field)]);
    }
  }
  return "";
}

TilePoints sort_by_tiles(const Candidate& candidate, const PointList& points, const ReceiverCells& receivers) {
  if (candidate.shape().together) return sort_by_blocks(candidate, points, receivers);
  return TileSorter(candidate).sort(points.source_cells, receivers.cells);
}

}  // namespace stencil_tune
