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
/// The terms are learned twice from the same trials. No sum is right for slow and fast candidates alike: what makes a
/// slow one slower may do nothing for a fast one. So factor() is of all trials, and says what is known to be slow.
/// factor_of_fast() ranks fast candidates among each other: there a trial counts the less the slower it was. In both,
/// one that is far from fast, because it spills its registers, say, teaches little.
class Correction {
 public:
  /// The values a candidate has, as indices of terms; computed once for candidates that are ranked again and again.
  using Features = std::vector<int>;

  Features features(const Tuning& tuning);

  /// What to multiply the model's cost by.
  double factor(const Features& features) const;

  /// The same for candidates about as fast as the fastest so far.
  double factor_of_fast(const Features& features) const;

  /// Draws terms as they may be by what all trials say: near their expected values where trials taught them, further
  /// away where none did. They deviate less than the terms may: in a large sample the best by a full draw is always a
  /// candidate of which little is known. Work: the square of the number of terms learned so far.
  void draw(std::mt19937_64& random);

  /// The factor by the terms drawn last; those that were not known then count as 0.
  double drawn_factor(const Features& features) const;

  /// Failures teach nothing here: both arguments must be finite and positive. Work: as of draw; times the number of
  /// trials where what counts as fast changed.
  void learn(const Features& features, double measured, double predicted);

 private:
  struct Term {
    std::string_view file;       // the template; empty: all templates
    std::string_view parameter;  // its name, or the family's
    int value;
    auto operator<=>(const Term&) const = default;
  };

  /// Bayesian linear regression by recursive least squares: every term is thought to be near 0 until trials say
  /// otherwise, and where two candidates differ in one value the difference teaches the terms of that value alone. What
  /// is known about the terms is kept as their expected values and a square root of their covariance (Potter's form of
  /// the measurement update: it cannot lose its sign to rounding, and draws from it are cheap).
  class Regression {
   public:
    double sum(const Features& features) const;
    std::vector<double> draw(std::size_t terms, std::mt19937_64& random) const;

    /// The noise is the deviation of what was measured from any sum of terms.
    void learn(const Features& features, double log_ratio, double noise);

   private:
    void begin_to_learn(int term);

    std::vector<double> terms_;              // expected values
    std::vector<int> row_of_;                // for each term; -1: no trial had it
    std::vector<int> learned_;               // the term of each row
    std::vector<std::vector<double>> root_;  // times its transpose: the covariance of the learned terms
  };

  struct Trial {
    Features features;
    double measured;
    double log_ratio;
  };

  void learn_from(const Trial& trial);

  std::map<Term, int> term_of_;
  Regression of_all_;
  Regression of_fast_;
  std::vector<double> drawn_;  // values of the terms drawn last
  std::vector<Trial> trials_;
  std::vector<double> fastest_;  // times of the fastest trials, in order
  double fast_ = 0;              // slower trials count less
};

}  // namespace stencil_tune
