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

/// Of a candidate of fused steps whose rows TMA brings, those like it for where TMA may not, the fastest first: rows
/// that end beyond the grid (systems, Copies::tma_beyond), and copies by threads. None of others.
std::vector<Tuning> with_other_copies(const Tuning& tuning);

}  // namespace stencil_tune
