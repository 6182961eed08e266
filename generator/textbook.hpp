// The textbook's kernels as candidates of our templates, and its arithmetic-intensity formulas.
#pragma once

#include "generator/constraints.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A baseline by name. `tuning` is empty where no legal tile exists for the order ("n/a", with the reason).
struct Baseline {
  std::string_view name;  ///< "naive", "pmpp-basic", "pmpp-tiled", "pmpp-coarsened", "pmpp-register"
  std::optional<Tuning> tuning;
  std::string reason;
};

/// Blocks the textbook uses: 8x8x8 (3D), 32x32 (2D), 256 (1D); where a tile of that size is empty for the order, the
/// smallest legal one. "naive" is direct, one output a thread, block 32x8 (1D: 256).
std::vector<Baseline> textbook_baselines(const Problem& problem, const Limits& limits);

/// Block shapes of the one-output-a-thread direct kernel that "naive, best block" is the best of.
std::vector<Tuning> naive_candidates(const Problem& problem, const Limits& limits);

/// The textbook's counts for a candidate: operations per update over bytes loaded from global memory per update.
struct Intensity {
  double operations;    ///< per updated cell: the textbook's 13 for seven points (7 multiplications, 6 additions)
  double bytes_loaded;  ///< per updated cell, halo included: 28 for the basic kernel, 4T^3/(T-2)^3 for the tiled one
  double ratio;         ///< OP/B
  double bound;         ///< OP/B of an infinitely large tile
  double halo_share;    ///< part of the loaded cells that lies outside the output tile, 0..1
};

Intensity textbook_intensity(const Problem& problem, const Tuning& tuning);

}  // namespace stencil_tune
