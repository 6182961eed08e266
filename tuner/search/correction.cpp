#include "tuner/search/correction.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel/source.hpp"

#include <cmath>

namespace stencil_tune {
namespace {

// Logarithms of times: 0.01 is one percent.
constexpr double kTermDeviation = 0.04;  // of a term before any trial
constexpr double kNoise = 0.07;          // of a trial, with what no sum of terms can say

}  // namespace

Correction::Features Correction::features(const Tuning& tuning) {
  Features result;
  for (const std::string_view file : {std::string_view(), template_of(tuning)}) {
    const auto add = [&](std::string_view parameter, int value) {
      const auto [place, is_new] = term_of_.emplace(Term{file, parameter, value}, static_cast<int>(terms_.size()));
      if (is_new) terms_.push_back(0), row_of_.push_back(-1);
      result.push_back(place->second);
    };
    add(tuning.family->name, 0);
    for (const Parameter& parameter : tuning.family->parameters) {
      if (parameter.used_by(tuning)) add(parameter.name, parameter.get(tuning));
    }
  }
  return result;
}

double Correction::sum(const Features& features) const {
  double total = 0;
  for (const int term : features) total += terms_[static_cast<std::size_t>(term)];
  return total;
}

double Correction::factor(const Features& features) const { return std::exp(sum(features)); }

void Correction::begin_to_learn(int term) {
  int& row = row_of_[static_cast<std::size_t>(term)];
  if (row >= 0) return;
  row = static_cast<int>(learned_.size());
  learned_.push_back(term);
  for (std::vector<double>& other : covariance_) other.push_back(0);
  covariance_.emplace_back(learned_.size(), 0).back() = kTermDeviation * kTermDeviation;
}

void Correction::learn(const Features& features, double measured, double predicted) {
  for (const int term : features) begin_to_learn(term);
  const auto row_of = [&](int term) { return static_cast<std::size_t>(row_of_[static_cast<std::size_t>(term)]); };

  std::vector<double> with_sum(learned_.size(), 0);  // covariance of each term with the sum of this candidate's
  for (const int term : features) {
    const std::vector<double>& with_term = covariance_[row_of(term)];
    for (std::size_t row = 0; row < with_sum.size(); ++row) with_sum[row] += with_term[row];
  }
  double variance = kNoise * kNoise;  // of what is measured
  for (const int term : features) variance += with_sum[row_of(term)];

  const double surprise = std::log(measured / predicted) - sum(features);
  for (std::size_t row = 0; row < with_sum.size(); ++row) {
    const double gain = with_sum[row] / variance;
    terms_[static_cast<std::size_t>(learned_[row])] += gain * surprise;
    for (std::size_t other = 0; other < with_sum.size(); ++other) covariance_[row][other] -= gain * with_sum[other];
  }
}

}  // namespace stencil_tune
