// What the trials so far teach about the model's errors.
#pragma once

#include "generator/candidates/tuning.hpp"

#include <compare>
#include <map>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Learns log(measured / predicted) as a sum of terms: one for each parameter value and one for the family, and the
/// same once more for candidates of the same template alone. When streaming stores turn out 7 % slow, all candidates
/// with streaming stores move back; when planes ahead do in one kind of ring, they may stay good in others.
///
/// This is Bayesian linear regression by recursive least squares: every term is thought to be near 0 until trials say
/// otherwise, and of two candidates that differ in one value the difference teaches the terms of that value alone.
class Correction {
 public:
  /// The values a candidate has, as indices of terms; computed once for candidates that are ranked again and again.
  using Features = std::vector<int>;

  Features features(const Tuning& tuning);

  /// What to multiply the model's cost by.
  double factor(const Features& features) const;

  /// Failures teach nothing here: both arguments must be finite and positive. Work: the square of the number of terms
  /// learned so far.
  void learn(const Features& features, double measured, double predicted);

 private:
  struct Term {
    std::string_view file;       // the template; empty: of all templates
    std::string_view parameter;  // its name, or the family's
    int value;
    auto operator<=>(const Term&) const = default;
  };

  double sum(const Features& features) const;
  void begin_to_learn(int term);

  std::map<Term, int> term_of_;
  std::vector<double> terms_;                    // expected values
  std::vector<int> row_of_;                      // of a term; -1: no trial had it
  std::vector<int> learned_;                     // the term of each row
  std::vector<std::vector<double>> covariance_;  // of the learned terms
};

}  // namespace stencil_tune
