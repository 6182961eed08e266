// How well the performance model ranks what was measured, as the search depends on it: registers are guessed.
#pragma once

#include "runtime/model/model.hpp"
#include "tuner/replay/recorded_trials.hpp"

#include <span>
#include <vector>

namespace stencil_tune {

/// The model for a problem on the GPU that its trials were made on.
PerformanceModel model_for(const Problem& problem, const DeviceModel& device, const Calibration& calibration);

/// Predicted rates of the problem's candidates, GStencil/s; 0 for those that the model thinks cannot run.
std::vector<double> predicted_rates(const PerformanceModel& model, const MeasuredProblem& measured);

double highest(std::span<const double> rates);

/// How much a candidate counts: fast ones matter, slow ones only have to stay behind.
double weight(double gstencils, double best);

/// Judges predictions of one problem; rates in the order of its candidates.
FitRecord judge(std::span<const double> predicted, std::span<const double> measured);

/// Sums several problems up: how many candidates in all, and means; levels and highest rates by root mean square.
FitRecord mean(std::span<const FitRecord> of_problems);

/// Judges the problems of a file of trials.
FitRecord judge(const std::string& file, std::span<const MeasuredProblem> problems, const DeviceModel& device,
                const Calibration& calibration);

}  // namespace stencil_tune
