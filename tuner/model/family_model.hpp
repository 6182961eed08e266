// How the model sees each kernel family: the table that matches the generator's.
#pragma once

#include "tuner/model/launch_time.hpp"

#include <string_view>

namespace stencil_tune {

struct FamilyModel {
  std::string_view family;  ///< its name
  Work (*count)(const Candidate& candidate, const Calibration& calibration);
  void (*time)(const Launch& launch, Prediction& prediction);
};

/// A family without an entry is taken for `direct`, whose counts ask for no more than blocks, tiles and reads, so that
/// a new one is predicted, if roughly, before it has a model.
const FamilyModel& family_model(std::string_view family);

}  // namespace stencil_tune
