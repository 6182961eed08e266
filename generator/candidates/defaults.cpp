// default_candidate: what a family runs when nothing was tuned.
#include "generator/candidates/space.hpp"

namespace stencil_tune {
namespace {

Tuning block(Family family, int x, int y, int z) {
  Tuning tuning;
  tuning.family = family;
  tuning.block_x = x;
  tuning.block_y = y;
  tuning.block_z = z;
  return tuning;
}

Tuning flat_block(Family family, int rank) { return rank == 1 ? block(family, 256, 1, 1) : block(family, 32, 8, 1); }

/// Few fused steps; tiles of 64 columns that walk, of 256 on a line, smaller ones for small grids.
std::vector<Tuning> temporal_choices(const Problem& problem) {
  const int rank = problem.extents.rank;
  std::vector<Tuning> choices;
  for (const int warps : {16, 8, 4, 2, 1}) {
    if (rank < 3 && warps > 1) continue;
    for (const int columns : {8, 2}) {
      if (rank > 1 && columns > 2) continue;
      for (const int steps : {4, 2}) {
        Tuning tuning = block(Family::temporal, 32, warps, 1);
        tuning.steps = steps;
        tuning.register_x = columns;
        tuning.register_y = rank < 3 ? 1 : 4;
        tuning.vector = problem.pitch % 2 == 0 ? 2 : 1;
        tuning.prefetch = rank > 1 ? 3 : 1;
        tuning.unroll = rank > 1 ? 2 : 1;
        tuning.chunks = rank == 3 ? 3 : rank == 2 ? 16 : 1;
        choices.push_back(tuning);
      }
    }
  }
  return choices;
}

/// The candidate that suits most problems first.
std::vector<Tuning> choices(Family family, int rank) {
  if (family == Family::direct) return {flat_block(family, rank)};
  if (family == Family::tiled) {
    const Tuning with_halo = rank == 3 ? block(family, 32, 4, 4) : flat_block(family, rank);
    Tuning without = with_halo;  // a tile with a wide halo may not fit in shared memory
    without.halo = Halo::cache;
    return {with_halo, without};
  }
  Tuning in_registers = rank == 2 ? block(family, 128, 1, 1) : block(family, 32, 8, 1);
  in_registers.depth = 16;
  Tuning in_shared = in_registers;  // the rows of a wide box overflow the registers ...
  in_shared.planes = Planes::shared;
  Tuning without_halo = in_shared;  // ... and its planes with their halo may overflow shared memory
  without_halo.halo = Halo::cache;
  return {in_registers, in_shared, without_halo};
}

}  // namespace

std::optional<Tuning> default_candidate(Family family, const Problem& problem, const Limits& limits) {
  const int rank = problem.extents.rank;
  for (const Tuning& tuning : family == Family::temporal ? temporal_choices(problem) : choices(family, rank)) {
    if (is_legal(problem, limits, tuning)) return tuning;
  }
  return {};
}

}  // namespace stencil_tune
