// Tunes the zones of a grid with layers (generator/cut/zones.hpp): for some numbers of steps, each zone's problem in a
// session of its own. Lookups take the steps whose zones take least time together.
#pragma once

#include "tuner/session/assembly.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// What zones' sessions found for so many steps at once.
struct ZonedSteps {
  int steps = 1;  ///< or kByStages
  struct Part {
    std::string name;  ///< Zone::name
    int zones = 1;     ///< how many the problem stands for
    Problem problem;
    int beside = 1;  ///< so many run at once while one is timed: two, or as many as fill what stands in layers
    std::optional<TrialRecord> winner;
    bool is_largest = false;  ///< of its launch: the inside, where the grid has room for one
  };
  std::vector<Part> parts;  ///< those of most cells first, of each stage; the smallest are not tuned
};

/// "2 steps", "stages".
std::string said(int steps);

/// Whether the step's grid has zones.
bool has_zones(const Problem& step);

/// Whether each zone has a candidate that makes so many steps in one launch.
bool have_kernels(const Problem& step, int steps, Limits limits);

/// For how many steps the largest zone is tuned next: first, then more while they promise more, else fewer; at most so
/// many. Nothing where all around the most promising are known.
std::optional<int> next_steps(int first, int most, const Problem& step, const std::vector<ZonedSteps>& tried);

/// Until the budget is spent. The largest zone says how many steps are made at once: their number climbs for as long as
/// more promises more. The others are tuned for that number alone. Stage by stage where no kernel fuses the stages of
/// each zone.
std::vector<ZonedSteps> tune_in_zones(const Problem& step, const Target& target, const TuningSettings& settings,
                                      Database& database, SessionObserver& observer);

/// As a trial of the step, which no database has: the zones' times add up, with those of zones that were not tuned
/// as estimated. Nothing where one has no winner.
std::optional<TrialRecord> in_zones(const Problem& step, const ZonedSteps& zoned);

/// The fastest of those.
std::optional<TrialRecord> in_zones(const Problem& step, const std::vector<ZonedSteps>& all);

}  // namespace stencil_tune
