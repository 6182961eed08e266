// Which points a stencil can have.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/points.hpp"

#include <optional>

namespace stencil_tune {

/// The stage that writes the field; nothing where none or several do.
std::optional<int> writing_stage(const StepFacts& step, int field);

/// The output that stands for the field after a step: the name that it has within the step. Nothing where the field is
/// none of the state, or no stage of the step writes it.
std::optional<int> recorded_output(const StepFacts& step, int field);

/// Throws Error(invalid_argument) that names the first point that is wrong, and what would be right: a number beyond
/// the list's, a field that sources or receivers cannot have, a cell outside the grid or in held layers, a weight that
/// is no number. problem: of any stage.
void check_points(const Problem& problem, const PointList& points);

}  // namespace stencil_tune
