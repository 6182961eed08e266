// The entries of the table of families.
#pragma once

#include "generator/candidates/family.hpp"

#include <vector>

namespace stencil_tune {

const Family& streaming_family();
const Family& tiled_family();
const Family& temporal_family();
const Family& system_family();
const Family& systolic_family();
const Family& resident_family();

/// Substitutes for a candidate of fused steps whose rows TMA brings, for problems where TMA may not bring them. The
/// fastest comes first: rows that end beyond the grid (systems, Copies::tma_beyond), then copies by threads. Empty for
/// all other candidates.
std::vector<Tuning> with_other_copies(const Tuning& tuning);

}  // namespace stencil_tune
