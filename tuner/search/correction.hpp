// What the trials so far teach about the model's errors.
#pragma once

#include "generator/candidates/tuning.hpp"

#include <compare>
#include <map>
#include <random>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Learns log(measured / predicted) as a sum of terms: one for each parameter value and one for the family, and the
/// same once more for candidates of the same template alone. When streaming stores turn out 7 % slow, all candidates
/// with streaming stores move back; when planes ahead do in one kind of ring, they may stay good in others.
///
/// This is Bayesian linear regression by recursive least squares: every term is thought to be near 0 until trials say
/// otherwise, and of two candidates that differ in one value the difference teaches the terms of that value alone. What
/// is known of the terms is kept as their expected values and a square root of their covariance (Potter's form of the
/// measurement update: it cannot lose its sign to rounding, and draws from it are cheap).
class Correction {
 public:
  /// The values a candidate has, as indices of terms; computed once for candidates that are ranked again and again.
  using Features = std::vector<int>;

  Features features(const Tuning& tuning);

  /// What to multiply the model's cost by.
  double factor(const Features& features) const;

  /// Draws terms as they may be by what is known: near their expected values where trials taught them, anywhere within
  /// the model's usual errors where none did. Work: as of learn.
  void draw(std::mt19937_64& random);

  /// The factor by the terms drawn last; those that were not known then count as 0.
  double drawn_factor(const Features& features) const;

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

  void begin_to_learn(int term);

  std::map<Term, int> term_of_;
  std::vector<double> terms_;              // expected values
  std::vector<double> drawn_;              // values drawn last
  std::vector<int> row_of_;                // of a term; -1: no trial had it
  std::vector<int> learned_;               // the term of each row
  std::vector<std::vector<double>> root_;  // times its transpose: the covariance of the learned terms
};

}  // namespace stencil_tune
