// What a session tries first: what won for the same stencil elsewhere, and for others.
#pragma once

#include "db/records.hpp"
#include "generator/candidates/constraints.hpp"
#include "tuner/search/search.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace stencil_tune {

inline constexpr std::size_t kMostTips = 6;
inline constexpr std::size_t kMostTipsOfOthers = 8;

/// Candidates of the winners that are legal for the problem, each once. First, at most kMostTips, those of the same
/// stencil: of the same GPU model first, then of runs of several steps for a run and of one sweep for one, then of the
/// same boundaries, then of the nearest extents. Then, at most kMostTipsOfOthers, those of other stencils of the same
/// rank and element type that `model` believes in most. Other stages and predicted winners are left out.
std::vector<Tuning> tips(const Problem& problem, const Limits& limits, std::string_view gpu,
                         std::span<const WinnerRecord> winners, const CostModel& model);

}  // namespace stencil_tune
