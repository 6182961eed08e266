#include "runtime/model/parameter_terms.hpp"

#include "generator/candidates/family.hpp"

#include <cmath>

namespace stencil_tune {

ParameterTerms::ParameterTerms(const TermTable& table) {
  for (const Family* family : families()) {
    const auto found = table.find(std::string(family->name));
    if (found == table.end()) continue;
    OfFamily& of_family = of_families_[family];
    const auto own = found->second.find(std::string(family->name));
    if (own != found->second.end()) of_family.own = own->second;
    for (const Parameter& parameter : family->parameters) {
      OfValues& of_values = of_family.of_parameters.emplace_back();
      const auto add = [&](int value) {
        const auto term = found->second.find(part(parameter, value));
        if (term != found->second.end()) of_values[value] = term->second;
      };
      add(parameter.default_value);
      for (const int value : parameter.values) add(value);
    }
  }
}

double ParameterTerms::factor(const Tuning& tuning) const {
  const auto found = of_families_.find(tuning.family);
  if (found == of_families_.end()) return 1;
  const auto& [own, of_parameters] = found->second;
  double sum = own;
  for (std::size_t i = 0; i < of_parameters.size(); ++i) {
    const Parameter& parameter = tuning.family->parameters[i];
    if (!parameter.used_by(tuning)) continue;
    const OfValues& of_values = of_parameters[i];
    const auto term = of_values.find(parameter.get(tuning));
    if (term != of_values.end()) sum += term->second;
  }
  return std::exp(sum);
}

std::vector<std::string> parts_with_terms(const Tuning& tuning) {
  std::vector<std::string> parts{std::string(tuning.family->name)};
  for (const Parameter& parameter : tuning.family->parameters) {
    if (parameter.used_by(tuning)) parts.push_back(part(parameter, parameter.get(tuning)));
  }
  return parts;
}

}  // namespace stencil_tune
