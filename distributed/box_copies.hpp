// Boxes of fields to dense arrays and back, on the GPU: templates/box_copies.cuh.
#pragma once

#include "generator/kernel/source.hpp"
#include "runtime/library/launch/loaded_kernel.hpp"
#include "stencil_tune/grid.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stencil_tune {

/// One box, of a field or of a dense array of its cells.
struct PackedBox {
  DevicePointer field = 0;  ///< of cell (0, 0, 0)
  DevicePointer dense = 0;  ///< of the box's first cell
  Box cells;
};

/// The kernel that packs, or unpacks, cells of 2, 4 or 8 bytes.
KernelSource box_copy_source(bool pack, std::size_t cell_bytes);

class BoxCopier {
 public:
  /// Of fields of that many bytes a cell and cells from one row, plane to the next. plain: any kernel for the GPU.
  BoxCopier(const LoadedKernel& plain, std::size_t cell_bytes, std::int64_t pitch, std::int64_t plane);

  /// Compiles and loads into the current context.
  void prepare();

  /// Asynchronous; boxes that are written must not overlap. Throws Error(invalid_argument) where it was not prepared in
  /// the current context.
  void pack(Driver& driver, std::span<const PackedBox> boxes, CUstream_st* stream) const;
  void unpack(Driver& driver, std::span<const PackedBox> boxes, CUstream_st* stream) const;

 private:
  void launch(Driver& driver, const LoadedKernel& kernel, std::span<const PackedBox> boxes, CUstream_st* stream) const;

  std::size_t cell_bytes_;
  std::int64_t pitch_, plane_;
  std::shared_ptr<LoadedKernel> pack_, unpack_;
};

}  // namespace stencil_tune
