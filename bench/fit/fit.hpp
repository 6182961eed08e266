// Fits the performance model's constants to recorded trials.
//
// Weighted least squares. Registers come first, on what the compiler reported; then all other constants, on
// log(predicted time / measured time) with guessed registers, as the search predicts. Each problem counts the same, and
// within it a candidate by the square of its rate. An error that all candidates of a problem share counts as one
// candidate's, since it does not change their order.
//
// What the trials say little about stays near the constants that the fit starts from: twice or half a constant costs as
// much as one candidate that is one deviation off.
#pragma once

#include "runtime/model/calibration.hpp"
#include "tuner/replay/recorded_trials.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace stencil_tune {

struct FitOptions {
  std::size_t fastest = 400;  ///< a problem's fastest candidates take part
  std::size_t others = 1100;  ///< and so many of the rest, evenly by rate
  int rounds = 30;            ///< at most; a fit ends when a round gains less than a thousandth
};

/// Says after each round how large the sum of squares still is.
using FitProgress = std::function<void(int round, double squares)>;

Calibration fit_constants(const Calibration& start, std::span<const MeasuredProblem> problems,
                          const DeviceModel& device, const FitOptions& options, const FitProgress& progress = {});

}  // namespace stencil_tune
