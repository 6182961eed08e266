// Which buffers a launch of fused steps writes to, and how all of them change places after it. No GPU.
//
//     acoustic wave, two steps:   field    p_prev  p       p_next  spare 0
//                                 stores                   p       p_prev
//                                 next     spare 0 p_next  p       p_prev
#pragma once

#include "generator/stencil/problem.hpp"

#include <vector>

namespace stencil_tune {

/// Places of buffers: one a field of the stencil, under its number, then spare ones.
struct LaunchBuffers {
  std::vector<int> stored;   ///< kernel_outputs()
  std::vector<int> outputs;  ///< for each of them: the place of the buffer that it is stored to; no input's
  std::vector<int> next;     ///< [place]: the place whose buffer stands here after the launch and its rotations
  int spares = 0;            ///< buffers beyond those of the fields
};

/// The buffers of a launch that makes so many whole steps.
LaunchBuffers launch_buffers(const Problem& problem, int steps);

/// Whether the spare buffers of such a launch, all of the whole grid's size, take turns with fields of the whole grid
/// alone, where arrays of fields in layers hold these alone.
bool keeps_arrays_apart(const Problem& problem, int steps);

/// The most spare buffers that a launch of 1 to `most_steps` steps needs.
int spare_buffers(const Problem& problem, int most_steps);

/// For each place, spares of the launch included: the least place of those that must carry the same held layers when
/// launches follow each other (StepFacts::layers_at).
std::vector<int> layer_classes(const Problem& problem, const LaunchBuffers& buffers);

}  // namespace stencil_tune
