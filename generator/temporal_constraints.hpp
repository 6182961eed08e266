// What makes fused steps legal: rows of the table in constraints.cpp, and what both files name.
#pragma once

#include "generator/constraints.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace stencil_tune {

/// What is violated, with the numbers; nothing when the candidate keeps the constraint.
using Verdict = std::optional<std::string>;

inline constexpr std::array<std::string_view, kMaxRank> kAxisNames{"x", "y", "z"};
inline constexpr int kWarp = 32;
inline constexpr int kFirstWithAsynchronousCopies = 80;  // compute capability

inline bool is_temporal(const Tuning& tuning) { return tuning.family == Family::temporal; }

Verdict temporal_steps(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_architecture(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_fields(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_warps(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_prefetch(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_reach(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_sums(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_groups(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_clusters(const Problem& problem, const Limits& limits, const Tuning& tuning);
Verdict temporal_tile_in_grid(const Problem& problem, const Limits& limits, const Tuning& tuning);

}  // namespace stencil_tune
