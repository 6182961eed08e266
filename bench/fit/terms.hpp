// Learns the terms that the model's constants leave unsaid (tuner/model/parameter_terms.hpp) from recorded trials.
//
// Ridge regression of log(measured time / predicted time) on the parts of candidates' codes. A problem counts as its
// candidates up to a number, within it a candidate by the square of its rate; what all candidates of a problem share is
// left out. A term that few problems say something about stays near 0.
#pragma once

#include "bench/fit/ranking.hpp"

#include <span>

namespace stencil_tune {

class TermFit {
 public:
  /// By the calibration's constants; its own terms do not count. The device's and the calibration must outlive it.
  TermFit(std::span<const MeasuredProblem> problems, const DeviceModel& device, const Calibration& calibration);
  ~TermFit();

  TermTable terms() const;

  /// How well the constants alone rank the problems, and how well with terms that were learned from the trials of all
  /// other stencils: means over the problems with 20 candidates or more.
  struct LeftOut {
    int problems = 0;
    Ranking without, with;
  };
  LeftOut left_out() const;

 private:
  struct Equations;
  struct OfProblem;
  std::vector<OfProblem> problems_;
  std::vector<std::pair<std::string, std::string>> parts_;  // family and part of each unknown
};

}  // namespace stencil_tune
