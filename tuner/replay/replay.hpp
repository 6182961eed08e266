// Searches run again on a recorded space.
#pragma once

#include "tuner/replay/score.hpp"
#include "tuner/search/strategies/strategies.hpp"

#include <cstdint>
#include <string_view>

namespace stencil_tune {

/// Until that much has been spent on compiling and running, or nothing is left.
SearchRun replay_run(const RecordedSpace& space, SearchStrategy<Configuration>& strategy, double budget_ms);

/// As many runs as asked for, each with a seed of its own, for as long as the score's times reach and a tenth longer.
std::vector<SearchRun> replay(const RecordedSpace& space, const RandomBaseline& baseline, std::string_view strategy,
                              int repeats, std::uint64_t seed);

}  // namespace stencil_tune
