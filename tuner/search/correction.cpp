#include "tuner/search/correction.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel/source.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>

namespace stencil_tune {
namespace {

// Logarithms of times: 0.01 is one percent.
constexpr double kTermDeviation = 0.04;  // of a term before any trial
constexpr double kNoise = 0.07;          // of a trial, with what no sum of terms can say

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double sum(const std::vector<double>& terms, const Correction::Features& features) {
  double total = 0;
  for (const int term : features) {
    if (static_cast<std::size_t>(term) < terms.size()) total += terms[static_cast<std::size_t>(term)];
  }
  return total;
}

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

double Correction::factor(const Features& features) const { return std::exp(sum(terms_, features)); }

double Correction::drawn_factor(const Features& features) const { return std::exp(sum(drawn_, features)); }

void Correction::begin_to_learn(int term) {
  int& row = row_of_[static_cast<std::size_t>(term)];
  if (row >= 0) return;
  row = static_cast<int>(learned_.size());
  learned_.push_back(term);
  for (std::vector<double>& other : root_) other.push_back(0);
  root_.emplace_back(learned_.size(), 0).back() = kTermDeviation;
}

void Correction::learn(const Features& features, double measured, double predicted) {
  for (const int term : features) begin_to_learn(term);

  std::vector<double> of_sum(learned_.size(), 0);  // the root's row for the sum of this candidate's terms
  for (const int term : features) {
    const std::vector<double>& of_term = root_[static_cast<std::size_t>(row_of_[static_cast<std::size_t>(term)])];
    for (std::size_t i = 0; i < of_sum.size(); ++i) of_sum[i] += of_term[i];
  }
  const double variance = kNoise * kNoise + product(of_sum, of_sum);  // of what is measured
  const double surprise = std::log(measured / predicted) - sum(terms_, features);
  const double certain = 1 / (1 + kNoise / std::sqrt(variance));
  for (std::size_t row = 0; row < root_.size(); ++row) {
    const double gain = product(root_[row], of_sum) / variance;
    terms_[static_cast<std::size_t>(learned_[row])] += gain * surprise;
    for (std::size_t i = 0; i < of_sum.size(); ++i) root_[row][i] -= certain * gain * of_sum[i];
  }
}

void Correction::draw(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> direction(learned_.size());
  for (double& along : direction) along = normal(random);
  drawn_ = terms_;
  for (std::size_t term = 0; term < drawn_.size(); ++term) {
    const int row = row_of_[term];
    drawn_[term] +=
        row < 0 ? kTermDeviation * normal(random) : product(root_[static_cast<std::size_t>(row)], direction);
  }
}

}  // namespace stencil_tune
