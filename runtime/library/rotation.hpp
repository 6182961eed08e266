// How the buffers of a time loop change places, and what boundary hold needs of them. No GPU.
#pragma once

#include "generator/stencil/problem.hpp"
#include "runtime/cuda/driver.hpp"

#include <vector>

namespace stencil_tune {

/// next[f]: the field whose buffer becomes field f after a step. Fields that no rotation moves keep theirs; a buffer
/// that is displaced goes to a field whose own moved on (ping-pong: u takes u_next's, u_next takes u's).
/// Throws Error(invalid_argument) when the stencil has no rotations.
std::vector<int> buffer_rotation(const Stencil& stencil);

/// Copies of one field's layers into another field's buffer.
struct LayerCopy {
  int from = 0;   ///< field
  int to = 0;     ///< field
  int stage = 0;  ///< that writes these buffers: its held layers are copied
};

/// Which fields' never-written layers must be copied before the first step, so that all buffers that take turns carry
/// those of the current field: for each output, from the field it becomes to every other in the cycle.
std::vector<LayerCopy> layer_copies(const Stencil& stencil);

/// The cells that the stage never writes as at most six slabs, in the units of CopyRegion; empty where boundary hold is
/// on no axis.
std::vector<CopyRegion> held_regions(const Problem& problem);

}  // namespace stencil_tune
