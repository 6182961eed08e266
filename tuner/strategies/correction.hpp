// What the trials so far teach about the model's errors.
#pragma once

#include "generator/tuning.hpp"

#include <compare>
#include <map>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Learns log(measured / predicted) as a sum of terms (normalised least mean squares): one for each parameter value and
/// one for the family, and the same once more for candidates of the same template alone. When streaming stores turn out
/// 7 % slow, all candidates with streaming stores move back; when planes ahead do in one kind of ring, they may stay
/// good in others.
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
  struct Term {
    std::string_view file;  // the template; empty: of all templates
    int parameter;          // place in parameters(); -1: the family
    int value;
    auto operator<=>(const Term&) const = default;
  };

  double sum(const Features& features) const;

  std::map<Term, int> term_of_;
  std::vector<double> terms_;
};

}  // namespace stencil_tune
