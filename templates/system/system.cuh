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

namespace stencil_tune {

/// A block's walk along z. First the levels fill, and may update planes outside the grid. Then all are inside, and plain
/// steps are enough. Last, the levels run empty.
template <class S, class T, class Levels>
struct SystemWalk {
  using Index = typename S::Index;

  const TemporalTile<S, T>& tile;
  SystemInput<S, T>& input;
  Levels& levels;

  STENCIL_DEVICE void run() {
    Index z = tile.first_plane();
    input.start(z);
    z = walk(z, levels.first_plain_plane());
    if (tile.at_edge) {
      z = walk_plain<Edges::cells>(z, levels.last_plain_plane());
    } else {
      assume(!tile.grid_ends_within);
      z = walk_plain<Edges::none>(z, levels.last_plain_plane());
    }
    walk(z, tile.last_plane());
    input.leave();
  }

 protected:
  STENCIL_DEVICE Index walk(Index z, Index end) {
#pragma unroll 1
    for (; z < end; ++z) step<Edges::all>(z);
    return z;
  }

  /// Makes as many whole groups of kUnroll steps as there are before `end`.
  template <Edges kEdges>
  STENCIL_DEVICE Index walk_plain(Index z, Index end) {
#pragma unroll 1
    for (; z + T::kUnroll <= end; z += T::kUnroll) {
      STENCIL_UNROLL
      for (int u = 0; u < T::kUnroll; ++u) step<kEdges>(z + u);
    }
    return z;
  }

  template <Edges kEdges>
  STENCIL_DEVICE void step(Index z) {
    SystemState<S, T, SystemInput<S, T>::kState> state;
    input.take(state);
    levels.begin_step();
    levels.template step<kEdges>(z, state, input);
  }
};

template <class S, class T, class Kernel>
STENCIL_DEVICE void system(const Kernel& kernel) {
  const Arguments<S>& arguments = plain(kernel);
  const TemporalTile<S, T> tile(arguments);
  SystemInput<S, T> input(arguments, tile, tensor_maps(kernel));
  const SystemOutput<S, T> output(arguments, tile);
  using Levels = SystemLevels<S, T, NoPoints>;
  Levels levels(arguments, tile, output, NoPoints{});
  SystemWalk<S, T, Levels>{tile, input, levels}.run();
}

}  // namespace stencil_tune
