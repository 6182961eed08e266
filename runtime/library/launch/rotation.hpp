// How the buffers of a time loop change places, and what boundary hold needs of them. No GPU.
#pragma once

#include "generator/stencil/buffers.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/cuda/driver.hpp"

#include <vector>

namespace stencil_tune {

/// next[f]: the field whose buffer becomes field f after a step. Fields that no rotation moves keep theirs; the
/// buffer that falls out at the end of a chain goes to its beginning (u_next -> u -> u_prev: u_next takes u_prev's).
std::vector<int> buffer_rotation(const Stencil& stencil);

/// A buffer that a launch stores to, and whose held layers it must carry by then.
struct HeldOutput {
  int place = 0;          ///< the buffer's (generator/stencil/buffers.hpp): a field or a spare buffer
  int layers_of = 0;      ///< the field whose buffer has them
  std::size_t stage = 0;  ///< the stage that writes what is stored: these are the layers that it keeps
  bool between = false;   ///< an intermediate, which has them in single steps too
  bool follows = false;   ///< they are others in each step
};

/// Those of a launch that stores these fields, under their names before the last rotation, to these places; others
/// carry their own. step: the whole one.
std::vector<HeldOutput> held_outputs(const Problem& step, const std::vector<int>& stored,
                                     const std::vector<int>& places);

/// What the caller's arrays carry in their held layers at the start of a run.
enum class RunLayers {
  differ,  ///< each its own
  alike,   ///< those that take turns the same, as after a run
};

/// For each field: the one whose held layers its buffer carries then.
std::vector<int> carried_layers(const Problem& step, RunLayers layers);

/// For each field: whether a step leaves something in it that counts. The others' buffers are free after it.
std::vector<bool> fields_that_count(const Problem& problem);

/// All cells of a field, its padding left out.
CopyRegion whole_field(const Problem& problem, int field);

/// Throws Error(invalid_argument) where a step's outputs are not the next one's inputs.
void require_next_step(const Problem& problem);

}  // namespace stencil_tune
