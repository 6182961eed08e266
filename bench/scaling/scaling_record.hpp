// Measured runs over several GPUs, as they are recorded, beside what the model says of them.
#pragma once

#include "tuner/scaling/scaling_model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// How far the model may be from a measured rate: a tenth of it. Bursts of one kernel differ by 2 to 3 %, and the model
/// knows neither clocks nor what neighbours do on a link.
inline constexpr double kMostScalingError = 0.10;

/// A run that was measured, and the prediction for the same cut, kernel and exchanges.
struct MeasuredScaling {
  std::string name;      ///< for people
  double gstencils = 0;  ///< rate of all GPUs, measured
  stencil_tune::ScalingPoint predicted{};

  double error() const { return predicted.gstencils / gstencils - 1; }
  bool is_within_bound() const;
};

/// Reads the text of a record. The links are those that the record says, else the default ones; the kernel's rate is
/// that of one GPU with a part of its own, in the same record. Throws stencil_tune::Error(malformed_definition) for
/// what is no such record.
std::vector<MeasuredScaling> read_scaling_record(std::string_view text);

}  // namespace bench
