#include "tuner/strategies/correction.hpp"

#include "generator/source.hpp"

#include <cmath>

namespace stencil_tune {
namespace {

constexpr double kRate = 0.3;  // of an error is put right at once: trials are noisy and terms are shared

}  // namespace

Correction::Features Correction::features(const Tuning& tuning) {
  Features result;
  for (const std::string_view file : {std::string_view(), template_of(tuning)}) {
    const auto add = [&](int parameter, int value) {
      const auto [place, is_new] = term_of_.emplace(Term{file, parameter, value}, static_cast<int>(terms_.size()));
      if (is_new) terms_.push_back(0);
      result.push_back(place->second);
    };
    add(-1, static_cast<int>(tuning.family));
    int index = 0;
    for (const Parameter& parameter : parameters()) {
      if (parameter.used_by(tuning)) add(index, parameter.get(tuning));
      ++index;
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

void Correction::learn(const Features& features, double measured, double predicted) {
  const double error = std::log(measured / predicted) - sum(features);
  const double step = kRate * error / static_cast<double>(features.size());
  for (const int term : features) terms_[static_cast<std::size_t>(term)] += step;
}

}  // namespace stencil_tune
