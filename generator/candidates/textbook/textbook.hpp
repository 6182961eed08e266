// The textbook's kernels as candidates of our templates, and its arithmetic-intensity formulas.
#pragma once

#include "generator/candidates/limits.hpp"
#include "generator/candidates/shape.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A baseline by name. `tuning` is empty where no legal tile exists for the order ("n/a", with the reason).
struct Baseline {
  std::string name;  ///< "naive", "pmpp-basic", "pmpp-tiled", "pmpp-coarsened", "pmpp-register"
  std::optional<Tuning> tuning;
  std::string reason;
};

/// The textbook's kernels with its blocks, T the input tile:
///   naive           direct, one output a thread, block 32x8 (1D: 256)
///   pmpp-basic      the same with block 8x8x8 (2D: 16x16, 1D: 256)
///   pmpp-tiled      an input tile of 8x8x8 cells (2D: 32x32, 1D: 256), a thread a cell; where such a tile is empty for
///                   the order, the smallest cube (square, line) that is not and that a block can cover
///   pmpp-coarsened  input planes of 32x32 cells all in shared memory, a block walks T - 2*order planes (30 at order
///                   1); on a 2D grid the planes are rows of 256 cells, and the depth stays that of T = 32
///   pmpp-register   the same with only the current plane in shared memory, the others in registers
/// Always these five, in this order.
std::vector<Baseline> textbook_baselines(const Problem& problem, const Limits& limits);

/// Whether one of them has this name.
bool is_baseline(std::string_view name);

/// Block shapes of the one-output-a-thread direct kernel that "naive, best block" is the best of.
std::vector<Tuning> naive_candidates(const Problem& problem, const Limits& limits);

/// The textbook's counts for a candidate: operations per update over bytes loaded from global memory per update.
/// (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th edition, chapters 7 and 8.)
struct Intensity {
  double operations = 0;  ///< per updated cell: the textbook's 13 for seven points (7 multiplications, 6 additions)
  double bytes_loaded =
      0;                  ///< per updated cell, halo included: 28 for the basic kernel, 4T^3/(T-2)^3 for the tiled one
  double ratio = 0;       ///< OP/B
  double bound = 0;       ///< OP/B of an infinitely large tile, each cell loaded once: 13/4 for seven points in f32
  double halo_share = 0;  ///< part of the cells a block loads that lies outside its output tile, 0..1
};

/// All loads that a kernel's threads issue count, whether a cache serves them or not. The tile must not be empty.
Intensity textbook_intensity(const Candidate& candidate);

}  // namespace stencil_tune
