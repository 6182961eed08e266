// What a row of the table of constraints says, and what the files that judge candidates name.
#pragma once

#include "generator/candidates/constraints.hpp"

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
inline constexpr int kFirstWithTensorCopies = 90;        // and with barriers at which warps can sleep

inline bool is_temporal(const Tuning& tuning) { return tuning.family == Family::temporal; }

inline int reach_width(const Reach& reach) { return reach.high - reach.low; }

inline std::int64_t storage_bytes(const Problem& problem) { return static_cast<std::int64_t>(size_of(problem.type)); }

}  // namespace stencil_tune
