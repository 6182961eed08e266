// How well the performance model ranks what was measured, as the search depends on it: registers are guessed.
#pragma once

#include "tuner/model/model.hpp"
#include "tuner/replay/recorded_trials.hpp"

#include <span>
#include <vector>

namespace stencil_tune {

/// The model for a problem on the GPU that its trials were made on.
PerformanceModel model_for(const Problem& problem, const DeviceModel& device, const Calibration& calibration);

/// Predicted rates of the problem's candidates, GStencil/s; 0 for those that the model thinks cannot run.
std::vector<double> predicted_rates(const PerformanceModel& model, const MeasuredProblem& measured);

struct Ranking {
  double lost = 0;       ///< by the best of the model's first twelve, as a share of the best of all
  double agreement = 0;  ///< rank correlation of predicted and measured rates
};

/// Both rates in the order of the candidates.
Ranking rank(std::span<const double> predicted, std::span<const double> measured);

/// How much a candidate counts: fast ones matter, slow ones only have to stay behind.
double weight(double gstencils, double best);

/// Of log(predicted / measured) over a problem's candidates, each by its weight.
struct Errors {
  double level = 0;      ///< their mean
  double deviation = 0;  ///< from it
};

Errors errors_of(std::span<const double> predicted, std::span<const double> measured);

/// Means over the problems of a file of trials.
FitRecord judge(const std::string& file, std::span<const MeasuredProblem> problems, const DeviceModel& device,
                const Calibration& calibration);

}  // namespace stencil_tune
