// What the mathematics of a scheme says of a run as a whole, however many of its steps are fused.
#pragma once

#include "stencil_tune/grid.hpp"
#include "stencil_tune/stencil.hpp"

#include <functional>
#include <string>
#include <vector>

namespace stencil_tune {

/// All fields of a stencil in dense order, x fastest.
using FieldValues = std::vector<std::vector<double>>;

struct ConservedCase {
  std::string name;
  Stencil stencil;
  Boundaries boundaries;
  std::function<FieldValues(const Extents&)> start;
  /// How far the fields after so many steps are from what they must be, relative to it: rounding alone.
  std::function<double(const FieldValues& start, const FieldValues& now, const Extents&, int steps)> error;
};

/// Mass and momentum of shallow water, periodic; energy of Maxwell's equations on Yee's grid with coefficients that
/// vary, periodic and between held layers of zero; the phase of a plane wave in it. Read from corpus/.
std::vector<ConservedCase> conserved_cases();

/// For each field the one whose buffer it changes places with after a step: u_next for u.
std::vector<int> partners(const Stencil& stencil);

/// Expects of both runs, one fused, one stage by stage, that errors are those of roundings, and of the fields that
/// steps leave that they are the same but for these.
void expect_conserved(const ConservedCase& each, const FieldValues& start, const FieldValues& fused,
                      const FieldValues& stepped, const Extents& extents, int steps);

}  // namespace stencil_tune
