// What a session tries first: what won for the same stencil elsewhere.
#pragma once

#include "db/records.hpp"
#include "generator/constraints.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace stencil_tune {

inline constexpr std::size_t kMostTips = 6;

/// Candidates of the winners that are legal for the problem, each once, at most kMostTips: those of the same GPU model
/// first, then of runs of several steps for a run and of one sweep for one, then of the same boundaries, then of the
/// nearest extents. Winners of other stencils, stages or element types, and predicted ones, are left out.
std::vector<Tuning> tips(const Problem& problem, const Limits& limits, std::string_view gpu,
                         std::span<const WinnerRecord> winners);

}  // namespace stencil_tune
