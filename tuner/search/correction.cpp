#include "tuner/search/correction.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel_source/source.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace stencil_tune {
namespace {

// Logarithms of times: 0.01 is one percent.
constexpr double kTermDeviation = 0.05;  // standard deviation of a term before any trial
constexpr double kNoise = 0.07;          // the same of a trial, with what no sum of terms can say
constexpr double kNoiseOfSlower = 1;     // what is added to it for each unit that a trial is slower than the limit:
constexpr double kSlower = 1.5;          // times the fast ones; in the regression of fast trials 1
constexpr double kDrawn = 0.5;           // share of the terms' deviation by which draws deviate

// Fast are so many trials, and all that are no slower; among few trials the faster half.
constexpr std::size_t kFastTrials = 10;
// Relative change of the time of the slowest of them, for all to be learned again.
constexpr double kFastMoved = 0.01;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double sum_of(const std::vector<double>& terms, const Correction::Features& features) {
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
      result.push_back(term_of_.emplace(Term{file, parameter, value}, static_cast<int>(term_of_.size())).first->second);
    };
    add(tuning.family->name, 0);
    for (const Parameter& parameter : tuning.family->parameters) {
      if (parameter.used_by(tuning)) add(parameter.name, parameter.get(tuning));
    }
  }
  return result;
}

double Correction::factor(const Features& features) const { return std::exp(of_all_.sum(features)); }

double Correction::factor_of_fast(const Features& features) const { return std::exp(of_fast_.sum(features)); }

double Correction::drawn_factor(const Features& features) const { return std::exp(sum_of(drawn_, features)); }

void Correction::draw(std::mt19937_64& random) { drawn_ = of_all_.draw(term_of_.size(), random); }

void Correction::learn(const Features& features, double measured, double predicted) {
  trials_.push_back({features, measured, std::log(measured / predicted)});
  fastest_.insert(std::upper_bound(fastest_.begin(), fastest_.end(), measured), measured);
  if (fastest_.size() > kFastTrials) fastest_.pop_back();
  const double fast = fastest_[std::min(kFastTrials, (trials_.size() + 1) / 2) - 1];
  if (std::abs(fast - fast_) <= kFastMoved * fast_) return learn_from(trials_.back());
  fast_ = fast;
  of_all_ = of_fast_ = Regression{};
  for (const Trial& trial : trials_) learn_from(trial);
}

void Correction::learn_from(const Trial& trial) {
  const auto noise = [&](double limit) {
    return kNoise + kNoiseOfSlower * std::max(0.0, std::log(trial.measured / (limit * fast_)));
  };
  of_all_.learn(trial.features, trial.log_ratio, noise(kSlower));
  of_fast_.learn(trial.features, trial.log_ratio, noise(1));
}

double Correction::Regression::sum(const Features& features) const { return sum_of(terms_, features); }

void Correction::Regression::begin_to_learn(int term) {
  const auto index = static_cast<std::size_t>(term);
  if (index >= terms_.size()) terms_.resize(index + 1, 0), row_of_.resize(index + 1, -1);
  int& row = row_of_[index];
  if (row >= 0) return;
  row = static_cast<int>(learned_.size());
  learned_.push_back(term);
  for (std::vector<double>& other : root_) other.push_back(0);
  root_.emplace_back(learned_.size(), 0).back() = kTermDeviation;
}

void Correction::Regression::learn(const Features& features, double log_ratio, double noise) {
  for (const int term : features) begin_to_learn(term);

  std::vector<double> of_sum(learned_.size(), 0);  // the root's row for the sum of this candidate's terms
  for (const int term : features) {
    const std::vector<double>& of_term = root_[static_cast<std::size_t>(row_of_[static_cast<std::size_t>(term)])];
    for (std::size_t i = 0; i < of_sum.size(); ++i) of_sum[i] += of_term[i];
  }
  const double variance = noise * noise + product(of_sum, of_sum);  // variance of what is measured
  const double surprise = log_ratio - sum(features);
  const double certain = 1 / (1 + noise / std::sqrt(variance));
  for (std::size_t row = 0; row < root_.size(); ++row) {
    const double gain = product(root_[row], of_sum) / variance;
    terms_[static_cast<std::size_t>(learned_[row])] += gain * surprise;
    for (std::size_t i = 0; i < of_sum.size(); ++i) root_[row][i] -= certain * gain * of_sum[i];
  }
}

std::vector<double> Correction::Regression::draw(std::size_t terms, std::mt19937_64& random) const {
  std::normal_distribution<double> normal;
  std::vector<double> direction(learned_.size());
  for (double& along : direction) along = kDrawn * normal(random);
  std::vector<double> drawn(terms);
  for (std::size_t term = 0; term < terms; ++term) {
    const int row = term < row_of_.size() ? row_of_[term] : -1;
    drawn[term] = row < 0 ? kDrawn * kTermDeviation * normal(random)
                          : terms_[term] + product(root_[static_cast<std::size_t>(row)], direction);
  }
  return drawn;
}

}  // namespace stencil_tune
