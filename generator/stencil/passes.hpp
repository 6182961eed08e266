// Stages of a step that share a pass over memory, and how a step is best divided into passes.
//
//     three stages    0 | 1 | 2      stage by stage: three passes
//                     0   1 | 2      stages 0 and 1 share one
//                     0 | 1   2
//                     0   1   2      the whole step in one pass
#pragma once

#include "generator/stencil/problem.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// Neighbouring stages of a step.
struct StageRange {
  int first = 0;
  int count = 1;

  int end() const noexcept { return first + count; }
};

/// The stages of the range as a step of its own, on the same grid: it stores what is needed after the range, and its
/// fields have the numbers that they have in the whole step. A range of one stage is that stage.
Problem pass_problem(const Problem& step, const StageRange& range);

/// Two or more neighbours, but not all, of a step of up to four stages: those whose results may go straight to their
/// own buffers. None for a step of two stages, or of more than four.
std::vector<StageRange> shared_passes(const Problem& step);

/// Milliseconds of a pass; nothing where it is not known.
using PassTime = std::function<std::optional<double>(const StageRange&)>;

/// The passes that a step of so many stages takes the least time in, in order, the whole step in one pass left out; of
/// equals the one of shorter passes. Empty where there is none whose times are known.
std::vector<StageRange> best_passes(int stages, const PassTime& time);

/// "stages 0-1" or "stage 2".
std::string to_string(const StageRange& range);

}  // namespace stencil_tune
