// Searches run again on a recorded space.
#pragma once

#include "tuner/replay/score.hpp"
#include "tuner/search/strategies/strategies.hpp"

#include <cstdint>
#include <string_view>

namespace stencil_tune {

/// Until that much has been spent on compiling and running and so many evaluations were made, or nothing is left.
SearchRun replay_run(const RecordedSpace& space, TableSearch& strategy, double budget_ms, std::size_t fewest = 0);

/// As many runs as asked for, each with a seed of its own, for as long as the score's times reach and a tenth longer,
/// and so many evaluations at least. A strategy for tables, or kStencilSearch (recorded_stencil.hpp): throws
/// Error(invalid_argument) where the space is not a stencil's.
std::vector<SearchRun> replay(const RecordedSpace& space, const RandomBaseline& baseline, std::string_view strategy,
                              int repeats, std::uint64_t seed, std::size_t fewest = 0);

}  // namespace stencil_tune
