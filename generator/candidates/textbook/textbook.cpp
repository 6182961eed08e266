#include "generator/candidates/textbook/textbook.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/single_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

constexpr int kLineThreads = 256;  // one-dimensional blocks
constexpr int kPlaneTile = 32;     // input tile of a plane: 32 x 32 = 1024 threads
constexpr int kCubeTile = 8;       // input tile of a cube: 8^3 = 512 threads

Tuning naive(int rank) { return flat_block(direct_family(), rank); }

Tuning basic(int rank) {
  if (rank == 1) return block(direct_family(), kLineThreads, 1, 1);
  return rank == 2 ? block(direct_family(), 16, 16, 1) : block(direct_family(), 8, 8, 8);
}

/// An input tile of `side` cells on each axis, one thread a cell.
Tuning tiled(int rank, int side) {
  Tuning tuning = block(tiled_family(), side, rank > 1 ? side : 1, rank > 2 ? side : 1);
  tuning.cover = Cover::input;
  return tuning;
}

Tuning streaming(const Problem& problem, Planes planes) {
  const Reach x = stage_reach(problem, 0);
  const bool plane = problem.extents.rank == 2;
  Tuning tuning = block(streaming_family(), plane ? kLineThreads : kPlaneTile, plane ? 1 : kPlaneTile, 1);
  tuning.planes = planes;
  tuning.cover = Cover::input;
  tuning.depth = std::max(1, kPlaneTile - (x.high - x.low));
  return tuning;
}

Baseline baseline(std::string_view name, const Problem& problem, const Limits& limits, const Tuning& tuning) {
  const auto violation = first_violation({problem, tuning}, limits);
  if (!violation) return {std::string(name), tuning, {}};
  return {std::string(name), std::nullopt, fmt::format("{}: {}", violation->constraint, violation->message)};
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

bool is_baseline(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{"naive", "pmpp-basic", "pmpp-tiled", "pmpp-coarsened",
                                                   "pmpp-register"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::vector<Tuning> naive_candidates(const Problem& problem, const Limits& limits) {
  constexpr int kFewestThreads = 64;
  std::vector<Tuning> candidates;
  for (const int x : {16, 32, 64, 128, 256, 512, 1024}) {
    for (const int y : {1, 2, 4, 8, 16}) {
      for (const int z : {1, 2, 4}) {
        const Tuning tuning = block(direct_family(), x, y, z);
        if (x * y * z >= kFewestThreads && is_legal({problem, tuning}, limits)) candidates.push_back(tuning);
      }
    }
  }
  return candidates;
}

}  // namespace stencil_tune
