// Warm starts: what a session tries first is what the library runs untuned, then what won for the same stencil
// elsewhere, and for other stencils.
#pragma once

#include "db/records.hpp"
#include "generator/candidates/constraints.hpp"
#include "tuner/search/search.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stencil_tune {

inline constexpr std::size_t kMostWarmStarts = 6;
inline constexpr std::size_t kMostWarmStartsOfOthers = 8;

/// `untuned`, then candidates of the winners that are legal for the problem, each once, in this order:
/// - of the same stencil, then of those of the same form, at most kMostWarmStarts. Winners of the same GPU model come
///   first, then those that are like the problem a run of several steps or one sweep, then those of the same
///   boundaries, then those of the nearest extents.
/// - of other stencils of the same rank and element type, at most kMostWarmStartsOfOthers: those of the least cost by
///   `model`.
/// Winners of other stages and predicted ones are left out. Where the length of rows or the boundary forbids that TMA
/// brings them, a candidate whose rows come another way stands in. On a periodic grid it stands beside a winner that
/// TMA serves and whose grid is not periodic. Of kernels that make whole steps the first one's form of one step
/// comes before all: wide kernels of more compile for 10 s and longer.
std::vector<Tuning> warm_starts(const Problem& problem, const Limits& limits, std::string_view gpu,
                                std::span<const WinnerRecord> winners, const CostModel& model,
                                const std::optional<Tuning>& untuned = std::nullopt);

}  // namespace stencil_tune
