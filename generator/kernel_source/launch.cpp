#include "generator/kernel_source/launch.hpp"

#include "generator/candidates/family.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "stencil_tune/error.hpp"
#include "templates/tile_grid.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace stencil_tune {
namespace {

constexpr std::size_t kTensorMapAlignment = 64;
constexpr std::int64_t kTensorMapAddress = 16;   // bytes that a map's first cell is a multiple of
constexpr std::size_t kNumbersOfLayerArray = 5;  // templates/layer_arrays.cuh

/// The tiles of a launch along the kernel's axes.
struct TileGrid {
  Lengths low{};     ///< first cell of the box
  Lengths high{};    ///< one past the box's last cell
  Lengths origin{};  ///< first output of the first tile
  Lengths tiles{};   ///< cluster_tiles
};

TileGrid tile_grid(const Candidate& candidate, const Box& box) {
  const KernelShape& shape = candidate.shape();
  TileGrid grid;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    const int grid_axis = shape.axes.grid_axis[a];
    grid.low[a] = grid_axis < 0 ? 0 : box.low[static_cast<std::size_t>(grid_axis)];
    grid.high[a] = grid_axis < 0 ? 1 : box.high[static_cast<std::size_t>(grid_axis)];
    grid.origin[a] = grid.low[a];
  }
  if (shape.placement == Placement::inside) {  // tiles have their places whatever is updated
    grid.tiles = shape.tiles;
    return grid;
  }
  grid.origin[0] = line_before(grid.low[0], static_cast<long long>(size_of(candidate.problem().type)));
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    grid.tiles[a] = tiles_between(grid.origin[a], grid.high[a], shape.cluster_tile[a]);
  }
  return grid;
}

/// Members of a structure, one after the other, each on its own boundary.
class Packer {
 public:
  explicit Packer(std::size_t skipped) : bytes_(skipped) {}

  /// Returns where it stands.
  template <class T>
  std::size_t put(T value) {
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return at;
  }

  /// Returns where the first stands.
  template <class T>
  std::size_t put_all(std::span<const T> values) {
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    for (const T& value : values) put(value);
    return at;
  }

  std::vector<std::byte> finish(std::size_t alignment) && {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

template <class Value>
void write_as(std::span<const double> coefficients, std::byte* to) {
  for (const double coefficient : coefficients) {
    const auto value = static_cast<Value>(coefficient);
    std::memcpy(to, &value, sizeof(Value));
    to += sizeof(Value);
  }
}

void require_count(std::string_view what, std::size_t given, std::size_t needed) {
  if (given == needed) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("the stencil has {} {}, {} were given", needed, what, given));
}

}  // namespace

std::size_t place_bytes(const Problem& problem) {
  if (!problem.facts.placed) return 0;
  const std::size_t of_arrays = has_slabs(problem) ? kNumbersOfLayerArray : 0;
  const std::size_t of_layers = asks_layers(problem) ? sizeof(std::int64_t) * (2 + of_arrays) * kMaxRank : 0;
  const std::size_t of_profiles = problem.stencil.profiles.size() + profile_rows(problem).size();
  return kPlaceBytes + of_profiles * sizeof(std::uint64_t) + of_layers;
}

LaunchGeometry launch_geometry(const Candidate& candidate, const Box& box) {
  const Tuning& tuning = candidate.tuning();
  LaunchGeometry geometry;
  geometry.block = {static_cast<unsigned>(tuning.block_x), static_cast<unsigned>(tuning.block_y),
                    static_cast<unsigned>(tuning.block_z * tuning.groups)};
  geometry.shared_bytes = candidate.shape().shared.bytes;
  geometry.together = candidate.shape().together;
  if (box.cells() == 0) {
    geometry.grid = {0, 0, 0};
    return geometry;
  }
  const Lengths blocks = blocks_of(tile_grid(candidate, box).tiles, tuning);
  geometry.cluster = static_cast<unsigned>(tuning.cluster);
  if (numbers_blocks_by_axis(tuning)) {
    for (std::size_t a = 0; a < kMaxRank; ++a) geometry.grid[a] = static_cast<unsigned>(blocks[a]);
  } else {
    geometry.grid = {static_cast<unsigned>(blocks[0] * blocks[1] * blocks[2]), 1, 1};
  }
  return geometry;
}

std::array<int, kMaxRank> output_tile(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const Lengths& tile = shape.placement == Placement::inside ? shape.whole_tile : shape.cluster_tile;
  std::array<int, kMaxRank> result{1, 1, 1};
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    if (shape.axes.has(a)) result[static_cast<std::size_t>(shape.axes.grid_axis[a])] = static_cast<int>(tile[a]);
  }
  return result;
}

KernelArguments::KernelArguments(const Candidate& candidate, const Box& box) {
  const Problem& problem = candidate.problem();
  const KernelAxes& axes = candidate.shape().axes;
  const TileGrid grid = tile_grid(candidate, box);
  const int steps = sweeps_per_launch(candidate.tuning());
  profiles_ = problem.facts.placed ? problem.stencil.profiles.size() : 0;
  inputs_ = kernel_inputs(problem, steps).size() - profiles_;
  outputs_ = kernel_outputs(problem, steps).size();
  coefficients_ = problem.stencil.coefficients.size();
  doubles_ = problem.type == ElementType::f64;
  if (candidate.shape().uses_tensor_maps) add_tensor_maps(candidate);

  Packer packer(maps_.size() * kTensorMapBytes);
  inputs_at_ = packer.put_all(std::span<const std::uint64_t>(std::vector<std::uint64_t>(inputs_)));
  outputs_at_ = packer.put_all(std::span<const std::uint64_t>(std::vector<std::uint64_t>(outputs_)));
  packer.put_all(std::span<const std::int64_t>(grid.low));
  packer.put_all(std::span<const std::int64_t>(grid.high));
  packer.put_all(std::span<const std::int64_t>(grid.origin));
  packer.put_all(std::span<const std::int64_t>(axes.extents));
  packer.put(axes.strides[1]);
  packer.put(axes.strides[2]);
  for (const std::int64_t tiles : grid.tiles) packer.put(static_cast<std::uint32_t>(tiles));
  packer.put(std::uint32_t{0});
  placed_ = problem.facts.placed;
  grid_axis_ = axes.grid_axis;
  std::vector<double> values;
  for (const Coefficient& coefficient : problem.stencil.coefficients) values.push_back(coefficient.value);
  if (placed_) values.resize(values.size() + place_bytes(problem) / (doubles_ ? sizeof(double) : sizeof(float)));
  if (values.empty()) {
    packer.put(0.0);  // an array of none has one
  } else if (doubles_) {
    coefficients_at_ = packer.put_all(std::span<const double>(values));
  } else {
    const std::vector<float> floats(values.begin(), values.end());
    coefficients_at_ = packer.put_all(std::span<const float>(floats));
  }
  if (candidate.shape().together) packer.put(static_cast<std::uint64_t>(steps));
  packed_ = std::move(packer).finish(maps_.empty() ? alignof(std::uint64_t) : kTensorMapAlignment);
  if (placed_) put_rows_and_layers(problem);
  if (!has_slabs(problem)) return;
  const auto begin_before = [&](const std::vector<int>& fields, std::size_t count, std::size_t first) {
    for (std::size_t i = 0; i < count; ++i) {
      const int layers = layer_axis(problem.stencil, fields[i]);
      const std::int64_t before = layers < 0 ? 0 : layer_array(problem, layers).begins_before();
      if (before != 0) {
        arrays_begin_before_.emplace_back(first + i * sizeof(std::uint64_t),
                                          static_cast<std::uint64_t>(before) * size_of(storage_of(problem, fields[i])));
      }
    }
  };
  begin_before(kernel_inputs(problem, steps), inputs_, inputs_at_);
  begin_before(kernel_outputs(problem, steps), outputs_, outputs_at_);
}

/// Behind the profiles' addresses: the rows of those along two axes, then, along each of the kernel's axes, the cells
/// that lie in no layer, which another stage may ask for, and last the arrays of fields in layers.
void KernelArguments::put_rows_and_layers(const Problem& problem) {
  std::vector<std::int64_t> numbers = profile_rows(problem);
  const auto between = between_layers(problem);
  for (std::size_t axis = 0; asks_layers(problem) && axis < kMaxRank; ++axis) {
    const bool is_there = grid_axis_[axis] >= 0;
    const BetweenLayers& cells = between[is_there ? static_cast<std::size_t>(grid_axis_[axis]) : 0];
    numbers.push_back(is_there ? cells.low : 0);
    numbers.push_back(is_there ? cells.high : 0);
  }
  for (std::size_t axis = 0; has_slabs(problem) && axis < kMaxRank; ++axis) {
    const bool is_there = grid_axis_[axis] >= 0;
    const LayerArray array = is_there ? layer_array(problem, grid_axis_[axis]) : LayerArray{};
    for (const std::size_t along : {1, 2}) {
      numbers.push_back(grid_axis_[along] >= 0 ? array.strides[at(grid_axis_[along])] : 0);
    }
    numbers.insert(numbers.end(), {array.cells.first, array.cells.last, array.cells.left_out});
  }
  if (numbers.empty()) return;
  const std::size_t own = coefficients_ * (doubles_ ? sizeof(double) : sizeof(float));
  const std::size_t at = coefficients_at_ + own + kPlaceBytes + profiles_ * sizeof(std::uint64_t);
  std::memcpy(packed_.data() + at, numbers.data(), numbers.size() * sizeof(std::int64_t));
}

void KernelArguments::add_tensor_maps(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const KernelAxes& axes = candidate.shape().axes;
  const CopiedBox& box = candidate.shape().copied_box;
  const auto size = static_cast<std::int64_t>(size_of(problem.type));
  TensorMapRequest request;
  for (std::size_t a = 0; a < kMaxRank; ++a) request.extents[a] = static_cast<std::uint64_t>(axes.extents[a]);
  // A 2D grid has no kernel y: one row a plane, any legal stride.
  const std::int64_t row = axes.has(1) ? axes.strides[1] : problem.pitch;
  request.strides = {static_cast<std::uint64_t>(row * size), static_cast<std::uint64_t>(axes.strides[2] * size)};
  request.box = {static_cast<std::uint32_t>(box.cells), static_cast<std::uint32_t>(box.rows), 1};
  const std::vector<int> inputs = kernel_inputs(problem, sweeps_per_launch(candidate.tuning()));
  for (std::size_t i = 0; i < inputs_; ++i) {
    const int layers = has_slabs(problem) ? layer_axis(problem.stencil, inputs[i]) : -1;
    maps_.push_back(layers < 0 ? request : of_layers(request, problem, axes, layers));
    maps_.back().offset = i * kTensorMapBytes;
  }
}

/// The map of an array of a field in layers: of the cells along their axis that it holds.
TensorMapRequest KernelArguments::of_layers(TensorMapRequest request, const Problem& problem, const KernelAxes& axes,
                                            int layers) {
  const auto size = static_cast<std::int64_t>(size_of(problem.type));
  const LayerArray array = layer_array(problem, layers);
  const std::int64_t together = layers == 0 ? kTensorMapAddress / size : 1;
  const std::int64_t first = array.cells.first / together * together;
  const auto kernel_axis = static_cast<std::size_t>(std::find(axes.grid_axis.begin(), axes.grid_axis.end(), layers) -
                                                    axes.grid_axis.begin());
  request.extents[kernel_axis] = static_cast<std::uint64_t>(std::max<std::int64_t>(1, array.cells.last - first));
  request.ahead = first * array.strides[at(layers)] * size;
  const auto stride = [&](std::size_t axis) { return array.strides[at(axes.grid_axis[axis])] * size; };
  const std::int64_t row = axes.has(1) ? stride(1) : array.strides[1] * size;
  request.strides = {static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(stride(2))};
  return request;
}

void KernelArguments::write(std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                            std::span<const double> coefficients, const EncodeMap& encode_map, std::span<std::byte> to,
                            const Place& place) const {
  require_count("inputs", inputs.size(), inputs_ + profiles_);
  require_count("outputs", outputs.size(), outputs_);
  if (!coefficients.empty()) require_count("coefficients", coefficients.size(), coefficients_);
  std::memcpy(to.data(), packed_.data(), packed_.size());
  std::memcpy(to.data() + inputs_at_, inputs.data(), inputs_ * sizeof(std::uint64_t));
  std::memcpy(to.data() + outputs_at_, outputs.data(), outputs.size_bytes());
  for (const auto& [at, before] : arrays_begin_before_) {
    std::uint64_t address = 0;
    std::memcpy(&address, to.data() + at, sizeof address);
    address -= before;
    std::memcpy(to.data() + at, &address, sizeof address);
  }
  if (doubles_) {
    write_as<double>(coefficients, to.data() + coefficients_at_);
  } else {
    write_as<float>(coefficients, to.data() + coefficients_at_);
  }
  if (placed_) write_place(place, inputs.subspan(inputs_), to);
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    TensorMapRequest map = maps_[i];
    std::memcpy(&map.address, to.data() + inputs_at_ + i * sizeof map.address, sizeof map.address);
    map.address += static_cast<std::uint64_t>(map.ahead);
    encode_map(map, to.subspan(map.offset, kTensorMapBytes));
  }
}

std::vector<std::byte> KernelArguments::pack(std::span<const std::uint64_t> inputs,
                                             std::span<const std::uint64_t> outputs,
                                             std::span<const double> coefficients, const EncodeMap& encode_map,
                                             const Place& place) const {
  std::vector<std::byte> bytes(packed_.size());
  write(inputs, outputs, coefficients, encode_map, bytes, place);
  return bytes;
}

void KernelArguments::write_place(const Place& place, std::span<const std::uint64_t> profiles,
                                  std::span<std::byte> to) const {
  std::array<std::int64_t, kMaxRank + 1> numbers{0, 0, 0, place.step};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (grid_axis_[axis] >= 0) numbers[axis] = place.origin[static_cast<std::size_t>(grid_axis_[axis])];
  }
  static_assert(sizeof numbers == kPlaceBytes);
  const std::size_t own = coefficients_ * (doubles_ ? sizeof(double) : sizeof(float));
  std::memcpy(to.data() + coefficients_at_ + own, numbers.data(), sizeof numbers);
  if (profiles.empty()) return;
  std::memcpy(to.data() + coefficients_at_ + own + sizeof numbers, profiles.data(), profiles.size_bytes());
}

}  // namespace stencil_tune
