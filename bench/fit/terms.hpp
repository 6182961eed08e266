// Learns the terms that the model's constants leave unsaid (runtime/model/parameter_terms.hpp) from recorded trials.
//
// Ridge regression of log(measured time / predicted time) on the parts of candidates' codes. A problem counts as many
// candidates as it has, 300 at most. Within it a candidate counts by the square of its rate, and what all candidates of
// the problem share is taken out first. A term of which few trials say something stays near 0. Last, the terms of
// families are moved so that the highest rate predicted for a problem is on average the highest that was measured: what
// a search will come to. By one sum for families that fuse steps, and one for the others.
#pragma once

#include "bench/fit/ranking.hpp"

#include <Eigen/Core>

#include <span>
#include <string_view>

namespace stencil_tune {

class TermFit {
 public:
  /// Fits terms on top of the calibration's constants. The terms that the calibration has do not count.
  TermFit(std::span<const MeasuredProblem> problems, const DeviceModel& device, const Calibration& calibration);
  ~TermFit();

  TermTable terms() const;

  /// How well the constants alone predict the problems, and how well with terms that were learned from the trials of
  /// all other stencils. Problems with 20 candidates or more count.
  struct LeftOut {
    FitRecord without, with;
  };
  LeftOut left_out() const;

 private:
  struct Equations;
  struct OfProblem;
  /// left_out: a stencil whose problems do not count.
  Eigen::VectorXd solve(const Equations& equations, std::string_view left_out = {}) const;

  std::vector<OfProblem> problems_;
  std::vector<std::pair<std::string, std::string>> parts_;  // family and part of each unknown
};

}  // namespace stencil_tune
