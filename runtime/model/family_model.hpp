// How the model sees each kernel family: the table that matches the generator's.
#pragma once

#include "runtime/model/launch_time.hpp"

#include <string_view>

namespace stencil_tune {

struct FamilyModel {
  std::string_view family;  ///< its name
  Work (*count)(const Candidate& candidate, const Calibration& calibration);
  void (*time)(const Launch& launch, Prediction& prediction);
};

/// Throws Error(internal) for a family that has none.
const FamilyModel& family_model(std::string_view family);

/// The model of a family of one's own (add_family), for the rest of the process.
void add_family_model(const FamilyModel& model);

}  // namespace stencil_tune
