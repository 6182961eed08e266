// Boxes of cells from one array to another, on the GPU: templates/box_copies.cuh.
#pragma once

#include "generator/kernel_source/source.hpp"
#include "runtime/library/launch/loaded_kernel.hpp"
#include "stencil_tune/grid.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace stencil_tune {

/// How an array holds cells.
struct CellRows {
  DevicePointer first = 0;  ///< cell (0, 0, 0)
  std::int64_t row = 0;     ///< cells from one row to the next ...
  std::int64_t plane = 0;   ///< ... and from one plane

  /// The same, counted from another cell.
  CellRows at(const std::array<std::int64_t, kMaxRank>& cell, std::size_t cell_bytes) const {
    const std::int64_t ahead = cell[2] * plane + cell[1] * row + cell[0];
    return {first + static_cast<std::size_t>(ahead) * cell_bytes, row, plane};
  }
};

inline std::array<std::int64_t, kMaxRank> extent_of(const Box& box) {
  return {box.high[0] - box.low[0], box.high[1] - box.low[1], box.high[2] - box.low[2]};
}

/// So many cells along each axis, from the first cell on.
struct BoxCopy {
  CellRows from, to;
  std::array<std::int64_t, kMaxRank> extent{};

  BoxCopy back() const { return {to, from, extent}; }
};

/// The kernel that copies cells of 1, 2, 4 or 8 bytes.
KernelSource box_copy_source(std::size_t cell_bytes);

class BoxCopier {
 public:
  /// kernel: loads box_copy_source() of as many bytes.
  BoxCopier(std::shared_ptr<LoadedKernel> kernel, std::size_t cell_bytes)
      : cell_bytes_(cell_bytes), kernel_(std::move(kernel)) {}

  std::size_t cell_bytes() const { return cell_bytes_; }

  /// Compiles and loads into the current context.
  void prepare() { kernel_->prepare(0); }

  /// Asynchronous, all boxes at once in any order; boxes that are written must not overlap others. Throws
  /// Error(invalid_argument) where it was not prepared in the context.
  void copy(std::uint64_t context, std::span<const BoxCopy> boxes, CUstream_st* stream) const;

 private:
  std::size_t cell_bytes_;
  std::shared_ptr<LoadedKernel> kernel_;
};

}  // namespace stencil_tune
