// What makes walks through the grid legal, their rings and their sums: rows of the table in constraints.cpp.
#pragma once

#include "generator/candidates/verdict.hpp"

namespace stencil_tune {

Verdict streaming_needs_rank_2(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict mixed_needs_axis_taps(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict ring_architecture(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict ring_prefetch(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict ring_warps(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict ring_rows(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict ring_box(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict ring_edges(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict ring_copies(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict unroll_within_depth(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict sums_of_planes(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict sums_unroll(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict tile_queue(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict sums_prefetch(const Problem& problem, const Limits& limits, const Tuning& tuning);

}  // namespace stencil_tune
