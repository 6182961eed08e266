// The layers that boundary hold keeps, copied from array to array.
#pragma once

#include "generator/stencil/problem.hpp"
#include "runtime/library/launch/box_copies.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace stencil_tune {

/// The cells that the stage never writes as at most six slabs; empty where boundary hold is on no axis.
std::vector<Box> held_boxes(const Problem& problem);

/// Those of a grid's arrays. One launch copies the layers of all arrays: the driver takes as long for the narrow ones,
/// a cell of each row, as a kernel for the whole field.
class LayerCopier {
 public:
  /// stages: problems of the same grid and element type, each with its own layers. copiers: one for each size of cells.
  LayerCopier(std::vector<BoxCopier> copiers, std::span<const Problem> stages);

  /// Whether any stage has such layers.
  bool any() const;

  /// Compiles and loads into the current context, if there is anything to copy.
  void prepare();

  struct Copy {
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t stage = 0;  ///< the stage whose layers they are
    /// Whose arrays they are, with cells of one size; a spare buffer's number is that of no field.
    int from_field = 0, to_field = 0;
  };

  /// Asynchronous. Throws Error(invalid_argument) where it was not prepared in the context.
  void copy(std::uint64_t context, std::span<const Copy> copies, CUstream_st* stream) const;

 private:
  std::vector<BoxCopier> copiers_;
  Problem grid_;                          ///< any of the stages
  std::vector<std::vector<Box>> layers_;  ///< layers of each stage
};

}  // namespace stencil_tune
