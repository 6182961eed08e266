// Corrections that the model's constants leave out, learned from recorded trials: how much longer than predicted
// candidates of a family took that have a certain value of a parameter, all else taken into account.
#pragma once

#include "generator/candidates/tuning.hpp"

#include <map>
#include <string>
#include <vector>

namespace stencil_tune {

/// Terms of log(measured time / predicted time): for each family, then for each part of its candidates' codes
/// ("temporal", "ry4", "tmarows"; also for parts that codes leave out).
using TermTable = std::map<std::string, std::map<std::string, double>>;

class ParameterTerms {
 public:
  /// Families and values that there are no more are passed over.
  explicit ParameterTerms(const TermTable& table);

  /// What to multiply the candidate's predicted time by.
  double factor(const Tuning& tuning) const;

 private:
  using OfValues = std::map<int, double>;
  struct OfFamily {
    double own = 0;
    std::vector<OfValues> of_parameters;  // in the family's order
  };
  std::map<const Family*, OfFamily> of_families_;
};

/// The parts of a candidate that terms are of: its family, and those of all parameters that it uses.
std::vector<std::string> parts_with_terms(const Tuning& tuning);

}  // namespace stencil_tune
