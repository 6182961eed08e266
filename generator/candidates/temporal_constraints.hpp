// What makes fused steps legal: rows of the table in constraints.cpp.
#pragma once

#include "generator/candidates/verdict.hpp"

namespace stencil_tune {

Verdict temporal_steps(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_architecture(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_fields(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_warps(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_corners(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_prefetch(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_reach(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_sums(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_copies(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_planes(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_barrier(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_groups(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_clusters(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_tile_in_grid(const Problem& problem, const Limits& limits, const Tuning& tuning);

}  // namespace stencil_tune
