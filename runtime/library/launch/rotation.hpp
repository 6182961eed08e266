// How the buffers of a time loop change places, and what boundary hold needs of them. No GPU.
#pragma once

#include "generator/stencil/buffers.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/cuda/driver.hpp"

#include <vector>

namespace stencil_tune {

/// next[f]: the field whose buffer becomes field f after a step. Fields that no rotation moves keep theirs; a buffer
/// that is displaced goes to a field whose own moved on (ping-pong: u takes u_next's, u_next takes u's).
std::vector<int> buffer_rotation(const Stencil& stencil);

/// Copies of the layers that a stage never writes, from one buffer to another.
struct LayerCopy {
  int from = 0;   ///< place of the buffer (generator/stencil/buffers.hpp): a field
  int to = 0;     ///< place: a field or a spare buffer
  int stage = 0;  ///< that writes these buffers: its held layers are copied
};

/// Which never-written layers must be copied before the first step, so that all buffers that take turns carry those of
/// the current field: for each output, from the field it becomes to every other place that its buffer comes to.
std::vector<LayerCopy> layer_copies(const Problem& problem, const LaunchBuffers& buffers);

/// For each field: whether a step leaves something in it that counts. The others' buffers are free after it.
std::vector<bool> fields_that_count(const Problem& problem);

/// All cells of a field, its padding left out.
CopyRegion whole_field(const Problem& problem);

/// Throws Error(invalid_argument) where a step's outputs are not the next one's inputs.
void require_next_step(const Problem& problem);

}  // namespace stencil_tune
