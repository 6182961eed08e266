// What the trials so far teach about the model's errors.
#pragma once

#include "generator/tuning.hpp"

#include <map>
#include <utility>
#include <vector>

namespace stencil_tune {

/// Learns log(measured / predicted) as a sum of one term for each parameter value and one for the family (normalised
/// least mean squares): when streaming stores turn out 7 % slow, all candidates with streaming stores move back.
class Correction {
 public:
  /// The values a candidate has, as indices of terms; computed once for candidates that are ranked again and again.
  using Features = std::vector<int>;

  Features features(const Tuning& tuning);

  /// What to multiply the model's cost by.
  double factor(const Features& features) const;

  /// Failures teach nothing here: both arguments must be finite and positive.
  void learn(const Features& features, double measured, double predicted);

 private:
  double sum(const Features& features) const;

  std::map<std::pair<int, int>, int> term_of_;  // (parameter, value) -> index of term; the family is parameter -1
  std::vector<double> terms_;
};

}  // namespace stencil_tune
