// Launch geometry and packed arguments: the host's half of templates/arguments.cuh.
#include "generator/candidates/temporal.hpp"
#include "generator/candidates/tile.hpp"
#include "generator/kernel/source.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

namespace stencil_tune {
namespace {

/// A block's tile starts on a cache line, so that its vectors and rows fill whole sectors.
constexpr std::int64_t kLineBytes = 128;

constexpr std::size_t kTensorMapBytes = 128;
constexpr std::size_t kTensorMapAlignment = 64;

struct TileGrid {
  std::array<std::int64_t, kMaxRank> low{};  ///< of the box, kernel axes
  std::array<std::int64_t, kMaxRank> high{};
  std::array<std::int64_t, kMaxRank> origin{};  ///< first output of the first tile
  std::array<std::int64_t, kMaxRank> tiles{};   ///< cluster_tile()'s
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

TileGrid tile_grid(const Problem& problem, const Tuning& tuning, const Box& box) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = cluster_tile(problem, tuning);
  TileGrid grid;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    const int grid_axis = axes.grid_axis[a];
    grid.low[a] = grid_axis < 0 ? 0 : box.low[static_cast<std::size_t>(grid_axis)];
    grid.high[a] = grid_axis < 0 ? 1 : box.high[static_cast<std::size_t>(grid_axis)];
    grid.origin[a] = grid.low[a];
  }
  if (tuning.family == Family::temporal) {  // tiles have their places whatever is updated
    grid.tiles = kernel_tiles(problem, tuning);
    return grid;
  }
  const auto line_cells = kLineBytes / static_cast<std::int64_t>(size_of(problem.type));
  grid.origin[0] = grid.low[0] / line_cells * line_cells;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    grid.tiles[a] = std::max<std::int64_t>(0, ceil_div(grid.high[a] - grid.origin[a], tile[a]));
  }
  return grid;
}

class Packer {
 public:
  template <class T>
  void put(T value) {
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }

  void skip(std::size_t bytes) { bytes_.resize(bytes_.size() + bytes); }

  std::vector<std::byte> finish(std::size_t alignment) && {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Cells from one index to the next along a kernel axis.
std::int64_t stride(const Problem& problem, int grid_axis) {
  if (grid_axis < 0) return 0;
  return grid_axis == 1 ? problem.pitch : problem.pitch * problem.extents.n[1];
}

void require_count(std::string_view what, std::size_t given, std::size_t needed) {
  if (given == needed) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("the stencil has {} {}, {} were given", needed, what, given));
}

}  // namespace

LaunchGeometry launch_geometry(const Problem& problem, const Tuning& tuning, const Box& box) {
  LaunchGeometry geometry;
  geometry.block = {static_cast<unsigned>(tuning.block_x), static_cast<unsigned>(tuning.block_y),
                    static_cast<unsigned>(tuning.block_z * tuning.groups)};
  geometry.shared_bytes = shared_tile(problem, tuning).bytes;
  if (box.cells() == 0) {
    geometry.grid = {0, 0, 0};
    return geometry;
  }
  const auto blocks = blocks_of(tile_grid(problem, tuning, box).tiles, tuning);
  geometry.cluster = static_cast<unsigned>(tuning.cluster);
  if (numbers_blocks_by_axis(tuning)) {
    for (std::size_t a = 0; a < kMaxRank; ++a) geometry.grid[a] = static_cast<unsigned>(blocks[a]);
  } else {
    geometry.grid = {static_cast<unsigned>(blocks[0] * blocks[1] * blocks[2]), 1, 1};
  }
  return geometry;
}

std::array<int, kMaxRank> output_tile(const Problem& problem, const Tuning& tuning) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = cluster_tile(problem, tuning);
  std::array<int, kMaxRank> result{1, 1, 1};
  if (tuning.family == Family::temporal) {
    const TemporalShape shape = temporal_shape(problem, tuning);
    const std::array<std::int64_t, kMaxRank> whole{shape.width, shape.height, tuning.chunks + 4 * (shape.delay + 1)};
    for (std::size_t a = 0; a < kMaxRank; ++a) {
      if (axes.grid_axis[a] >= 0) result[static_cast<std::size_t>(axes.grid_axis[a])] = static_cast<int>(whole[a]);
    }
    return result;
  }
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    if (axes.grid_axis[a] >= 0) result[static_cast<std::size_t>(axes.grid_axis[a])] = static_cast<int>(tile[a]);
  }
  return result;
}

std::vector<TensorMapRequest> tensor_maps(const Problem& problem, const Tuning& tuning,
                                          std::span<const std::uint64_t> inputs) {
  if (!uses_tensor_maps(tuning)) return {};
  const KernelAxes axes = kernel_axes(problem, tuning);
  const CopiedBox box = copied_box(problem, tuning);
  const auto size = static_cast<std::int64_t>(size_of(problem.type));
  std::vector<TensorMapRequest> requests;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TensorMapRequest request;
    request.offset = i * kTensorMapBytes;
    request.address = inputs[i];
    for (std::size_t a = 0; a < kMaxRank; ++a) request.extents[a] = static_cast<std::uint64_t>(axes.extents[a]);
    // A 2D grid has no kernel y: one row a plane, any legal stride.
    const std::int64_t row = axes.grid_axis[1] < 0 ? problem.pitch : stride(problem, axes.grid_axis[1]);
    request.strides = {static_cast<std::uint64_t>(row * size),
                       static_cast<std::uint64_t>(stride(problem, axes.grid_axis[2]) * size)};
    request.box = {static_cast<std::uint32_t>(box.cells), static_cast<std::uint32_t>(box.rows), 1};
    requests.push_back(request);
  }
  return requests;
}

std::vector<std::byte> pack_arguments(const Problem& problem, const Box& box, const Tuning& tuning,
                                      std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                                      std::span<const double> coefficients) {
  require_count("inputs", inputs.size(), problem.facts.inputs.size());
  require_count("outputs", outputs.size(), problem.facts.outputs.size());
  require_count("coefficients", coefficients.size(), problem.stencil.coefficients.size());
  const KernelAxes axes = kernel_axes(problem, tuning);
  const TileGrid grid = tile_grid(problem, tuning, box);

  Packer packer;
  if (uses_tensor_maps(tuning)) packer.skip(kTensorMapBytes * inputs.size());
  for (const std::uint64_t address : inputs) packer.put(address);
  for (const std::uint64_t address : outputs) packer.put(address);
  for (const std::int64_t low : grid.low) packer.put(low);
  for (const std::int64_t high : grid.high) packer.put(high);
  for (const std::int64_t origin : grid.origin) packer.put(origin);
  for (const std::int64_t extent : axes.extents) packer.put(extent);
  packer.put(stride(problem, axes.grid_axis[1]));
  packer.put(stride(problem, axes.grid_axis[2]));
  for (const std::int64_t tiles : grid.tiles) packer.put(static_cast<std::uint32_t>(tiles));
  packer.put(std::uint32_t{0});
  for (const double coefficient : coefficients) {
    if (problem.type == ElementType::f64) {
      packer.put(coefficient);
    } else {
      packer.put(static_cast<float>(coefficient));
    }
  }
  if (coefficients.empty()) packer.put(0.0);
  return std::move(packer).finish(uses_tensor_maps(tuning) ? kTensorMapAlignment : alignof(std::uint64_t));
}

}  // namespace stencil_tune
