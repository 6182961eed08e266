#include "generator/candidates/textbook.hpp"

#include "generator/candidates/tile.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr int kLineThreads = 256;  // one-dimensional blocks
constexpr int kPlaneTile = 32;     // input tile of a plane: 32 x 32 = 1024 threads
constexpr int kCubeTile = 8;       // input tile of a cube: 8^3 = 512 threads

Tuning direct_block(int x, int y, int z) {
  Tuning tuning;
  tuning.family = Family::direct;
  tuning.block_x = x;
  tuning.block_y = y;
  tuning.block_z = z;
  return tuning;
}

Tuning naive(int rank) { return rank == 1 ? direct_block(kLineThreads, 1, 1) : direct_block(32, 8, 1); }

Tuning basic(int rank) {
  if (rank == 1) return direct_block(kLineThreads, 1, 1);
  return rank == 2 ? direct_block(16, 16, 1) : direct_block(8, 8, 8);
}

/// An input tile of `side` cells on each axis, one thread a cell.
Tuning tiled(int rank, int side) {
  Tuning tuning = direct_block(side, rank > 1 ? side : 1, rank > 2 ? side : 1);
  tuning.family = Family::tiled;
  tuning.cover = Cover::input;
  return tuning;
}

Tuning streaming(const Problem& problem, Planes planes) {
  const Reach x = stage_reach(problem, 0);
  Tuning tuning;
  tuning.family = Family::streaming;
  tuning.planes = planes;
  tuning.cover = Cover::input;
  tuning.block_x = problem.extents.rank == 2 ? kLineThreads : kPlaneTile;
  tuning.block_y = problem.extents.rank == 2 ? 1 : kPlaneTile;
  tuning.depth = std::max(1, kPlaneTile - (x.high - x.low));
  return tuning;
}

Baseline baseline(std::string_view name, const Problem& problem, const Limits& limits, const Tuning& tuning) {
  const auto violation = first_violation(problem, limits, tuning);
  if (!violation) return {name, tuning, {}};
  return {name, std::nullopt, fmt::format("{}: {}", violation->constraint, violation->message)};
}

/// The textbook's tile, or the smallest larger one that is not empty.
Baseline tiled_baseline(const Problem& problem, const Limits& limits) {
  const int rank = problem.extents.rank;
  int side = rank == 1 ? kLineThreads : rank == 2 ? kPlaneTile : kCubeTile;
  for (int axis = 0; axis < rank; ++axis) {
    const Reach reach = stage_reach(problem, axis);
    side = std::max(side, reach.high - reach.low + 1);
  }
  Baseline result = baseline("pmpp-tiled", problem, limits, tiled(rank, side));
  if (!result.tuning) result.reason = fmt::format("smallest tile of {} cells a side: {}", side, result.reason);
  return result;
}

}  // namespace

std::vector<Baseline> textbook_baselines(const Problem& problem, const Limits& limits) {
  const int rank = problem.extents.rank;
  return {
      baseline("naive", problem, limits, naive(rank)),
      baseline("pmpp-basic", problem, limits, basic(rank)),
      tiled_baseline(problem, limits),
      baseline("pmpp-coarsened", problem, limits, streaming(problem, Planes::shared)),
      baseline("pmpp-register", problem, limits, streaming(problem, Planes::mixed)),
  };
}

std::vector<Tuning> naive_candidates(const Problem& problem, const Limits& limits) {
  constexpr int kFewestThreads = 64;
  std::vector<Tuning> candidates;
  for (const int x : {16, 32, 64, 128, 256, 512, 1024}) {
    for (const int y : {1, 2, 4, 8, 16}) {
      for (const int z : {1, 2, 4}) {
        const Tuning tuning = direct_block(x, y, z);
        if (x * y * z >= kFewestThreads && is_legal(problem, limits, tuning)) candidates.push_back(tuning);
      }
    }
  }
  return candidates;
}

}  // namespace stencil_tune
