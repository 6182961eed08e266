// What is exported together with its self-check, and run: on the host executor and on a GPU.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace stencil_tune {

struct ExportCase {
  std::string name;
  Problem problem;
  Tuning tuning;
  std::optional<Tuning> single_steps{};  ///< makes single steps of a run: the file has NAME_advance too

  friend std::ostream& operator<<(std::ostream& out, const ExportCase& each) { return out << each.name; }
};

/// Whole steps of systems: several fields, stages and time levels, intermediates, arrays along one axis, coordinates
/// and the step's number, at all boundaries; and a sweep, runs of sweeps and fused steps of one field.
std::vector<ExportCase> export_cases();

/// A wave of two time levels that its cell's place and the step's number drive. Three fused steps.
ExportCase driven_wave();

}  // namespace stencil_tune
