// A launch: its geometry, and the kernel's one by-value parameter as templates/arguments.cuh declares it.
#pragma once

#include "generator/candidates/shape.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace stencil_tune {

/// Bytes of a Place in a kernel's parameter, behind the coefficients: four whole numbers of 64 bits.
inline constexpr std::size_t kPlaceBytes = 32;
/// Bytes behind the coefficients where the update asks for its cell's place: the place's, the profiles' addresses, the
/// rows of those along two axes, and where the layers end; else 0.
std::size_t place_bytes(const Problem& problem);

struct LaunchGeometry {
  std::array<unsigned, 3> grid{1, 1, 1};   ///< blocks; all zero when there is nothing to update
  std::array<unsigned, 3> block{1, 1, 1};  ///< threads
  std::size_t shared_bytes = 0;            ///< dynamic shared memory
  unsigned cluster = 1;                    ///< blocks along x that form a cluster; the kernel itself says so to CUDA
  bool together = false;                   ///< blocks wait for each other: a cooperative launch
};

/// Geometry for updating the cells of `box` (a part of updated_box(problem)).
LaunchGeometry launch_geometry(const Candidate& candidate, const Box& box);

/// Output cells of one block, or of a cluster, along the grid's axes; of fused steps the whole tile with the halo, and
/// as many planes as the levels need to fill and run empty.
std::array<int, kMaxRank> output_tile(const Candidate& candidate);

/// A tensor map that the kernel's parameter holds: what the host must encode (cuTensorMapEncodeTiled) before a launch.
/// Three axes, x contiguous; no interleave, no swizzle, cells outside filled with zero.
struct TensorMapRequest {
  std::size_t offset = 0;                  ///< in the parameter, kTensorMapBytes
  std::uint64_t address = 0;               ///< the first cell's; a multiple of 16
  std::array<std::uint64_t, 3> extents{};  ///< cells
  std::array<std::uint64_t, 2> strides{};  ///< bytes from one row, plane to the next
  std::array<std::uint32_t, 3> box{};      ///< cells of one copy
  std::int64_t ahead = 0;                  ///< bytes from the field's first cell to the map's
};

/// The kernel's parameter for one box of cells, packed but for what changes from launch to launch: addresses and
/// coefficients. Does not change after it was made, and needs its candidate no more.
class KernelArguments {
 public:
  KernelArguments(const Candidate& candidate, const Box& box);

  std::size_t bytes() const noexcept { return packed_.size(); }

  /// Encodes a map into its place in the parameter.
  using EncodeMap = std::function<void(const TensorMapRequest&, std::span<std::byte>)>;

  /// Writes the whole parameter to `to`, which has bytes() bytes at least.
  /// inputs and outputs: one address per entry of kernel_inputs(), kernel_outputs(); coefficients: one per
  /// stencil.coefficients, converted to the compute type, or none for the stencil's own values.
  /// place: for stencils that ask for it (StageFacts::asks_place).
  /// Throws Error(invalid_argument) for other counts, and what encode_map throws.
  void write(std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
             std::span<const double> coefficients, const EncodeMap& encode_map, std::span<std::byte> to,
             const Place& place = {}) const;

  /// The parameter as bytes of its own.
  std::vector<std::byte> pack(std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                              std::span<const double> coefficients, const EncodeMap& encode_map,
                              const Place& place = {}) const;

  /// One map an input, without its address; empty for kernels without tensor copies.
  std::span<const TensorMapRequest> tensor_maps() const noexcept { return maps_; }

 private:
  void add_tensor_maps(const Candidate& candidate);
  static TensorMapRequest of_layers(TensorMapRequest request, const Problem& problem, const KernelAxes& axes,
                                    int layers);
  void put_rows_and_layers(const Problem& problem);
  void write_place(const Place& place, std::span<const std::uint64_t> profiles, std::span<std::byte> to) const;

  std::vector<std::byte> packed_;  ///< addresses zero, coefficients the stencil's own
  std::vector<TensorMapRequest> maps_;
  /// Addresses in the parameter that lie before their arrays' first cells, and by how many bytes.
  std::vector<std::pair<std::size_t, std::uint64_t>> arrays_begin_before_;
  std::size_t inputs_at_ = 0, inputs_ = 0;    ///< offset of the first address, how many
  std::size_t profiles_ = 0;                  ///< how many addresses of profiles stand behind the place
  std::size_t outputs_at_ = 0, outputs_ = 0;  ///< the same
  std::size_t coefficients_at_ = 0, coefficients_ = 0;
  bool doubles_ = false;                          ///< coefficients are doubles, not floats
  bool placed_ = false;                           ///< the place stands behind the coefficients
  std::array<int, kMaxRank> grid_axis_{0, 1, 2};  ///< [kernel axis]: the grid axis that it is
};

}  // namespace stencil_tune
