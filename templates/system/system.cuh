// system: several steps of a system of fields, or all stages of one, in one pass over memory. A block walks along z.
//
// A state is one plane of every field that is still needed. A level is one stage of one step. It takes a plane of the
// state, keeps as many planes of each field as it reads around the plane that it updates, and gives a plane of the
// state on, some planes (its lag) behind:
//
//     state in  (z)         E(z)   H(z)                    a level of Yee's scheme that updates H, lag 1
//       | keeps             E(z-1) H(z-1)
//       v updates           H'(z-1), from H(z-1) and E at z-1 and z
//     state out (z-1)       E(z-1) H'(z-1)                 E passes through; the old H ends here
//
// - Registers: a lane has kRegisterX cells of kRegisterY rows of every field. A warp spans the tile in x; neighbours in x
//   come by shuffle.
// - Shared memory: rows at the edge of a warp pass through it, of those fields and planes that the level reads there
//   (system_rows.cuh). Planes of the input arrive there, each warp's rows through its own pipeline of copies.
// - Barrier: warps wait for each other once a step; or, where a level reads other warps' rows of the very plane that
//   enters it, within that level. The other way is to work one plane later, which takes registers.
// - Constants, which no step changes: read at the cell they wait in pipelines of their own until the last level has used
//   them; read beside the cell they travel with the state.
//
// - Choices: warps at a tile's edge rest while all their rows are wrong; in chunks that begin inside the grid levels fill by
//   the plain loop; copies start after the last level; cells beside a thread's own come from published rows.
//
// Tiles overlap by what all levels reach, and end with the grid as those of temporal.cuh.
#pragma once

#include "stencil_tune/system/system_levels.cuh"
#include "stencil_tune/temporal/plane_walk.cuh"

namespace stencil_tune {

/// The steps of a block's walk.
template <class S, class T, class Levels>
struct SystemSteps {
  using Index = typename S::Index;

  const TemporalTile<S, T>& tile;
  SystemInput<S, T>& input;
  Levels& levels;

  /// The tile's plain planes, of which all outputs store those that are the block's.
  STENCIL_DEVICE Index first_plain_plane() const {
    const Arguments<S>& arguments = levels.arguments;
    const Index first = tile.first_plain_plane(), last = tile.last_plane();
    if (static_cast<Index>(arguments.low[2]) <= tile.low_z) return first;
    const Index in_boxes = static_cast<Index>(arguments.low[2]) + T::kDelay;
    return first > in_boxes ? first : in_boxes < last ? in_boxes : last;
  }
  STENCIL_DEVICE Index last_plain_plane() const {
    const Index last = tile.last_plain_plane(), in_boxes = static_cast<Index>(levels.arguments.high[2]) + T::kDelay;
    return last < in_boxes ? last : in_boxes;
  }

  template <Edges kEdges>
  STENCIL_DEVICE void step(Index z) {
    SystemState<S, T, SystemInput<S, T>::kState> state;
    input.take(state);
    levels.begin_step();
    levels.template step<kEdges>(z, state, input);
  }

  STENCIL_DEVICE void leave() { input.leave(); }
};

template <class S, class T, class Kernel>
STENCIL_DEVICE void system(const Kernel& kernel) {
  const Arguments<S>& arguments = plain(kernel);
  const TemporalTile<S, T> tile(arguments);
  SystemInput<S, T> input(arguments, tile, tensor_maps(kernel));
  const SystemOutput<S, T> output(arguments, tile);
  using Levels = SystemLevels<S, T, NoPoints>;
  Levels levels(arguments, tile, output, NoPoints{});
  PlaneWalk<T, SystemSteps<S, T, Levels>>{{tile, input, levels}}.run();
}

}  // namespace stencil_tune
