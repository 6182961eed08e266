// The configurations that keep all rules, found without looking at every combination.
#include "generator/user_kernel/configuration.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostVisited = 1U << 26;  // some minutes

/// Gives parameters their values one after the other, and looks at a rule as soon as all its names have one.
class Enumeration {
 public:
  explicit Enumeration(const UserKernel& kernel) : kernel_(kernel), values_(kernel.size_values()) {
    rules_after_.resize(kernel.parameters.size() + 1);
    for (const Rule& rule : kernel.rules) rules_after_[last_of(rule)].push_back(&rule);
  }

  std::vector<ParameterValues> run() {
    if (!breaks_rule(0)) extend(0);
    if (legal_.empty()) reject();
    return std::move(legal_);
  }

 private:
  /// So many parameters must have their values before the rule can be looked at.
  std::size_t last_of(const Rule& rule) const {
    std::size_t last = 0;
    for (const std::string& name : rule.condition.names()) {
      for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        if (kernel_.parameters[i].name == name) last = std::max(last, i + 1);
      }
    }
    return last;
  }

  bool breaks_rule(std::size_t given) {
    for (const Rule* rule : rules_after_[given]) {
      if (rule->condition.evaluate(values_) != 0) continue;
      ++broken_[rule->name];
      return true;
    }
    return false;
  }

  void extend(std::size_t given) {
    if (given == kernel_.parameters.size()) return add();
    const UserKernelParameter& parameter = kernel_.parameters[given];
    for (const std::int64_t value : parameter.values) {
      if (++visited_ > kMostVisited || legal_.size() > kMostConfigurations) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{} has more configurations than can be looked at; shorten lists of values, or add "
                                "rules of its first parameters",
                                kernel_.name));
      }
      values_[parameter.name] = value;
      chosen_.push_back(value);
      if (!breaks_rule(given + 1)) extend(given + 1);
      chosen_.pop_back();
    }
  }

  void add() {
    if (const auto broken = broken_rule(kernel_, chosen_)) {
      ++broken_[broken->rule];
      example_ = broken->message;
      return;
    }
    legal_.push_back(chosen_);
  }

  [[noreturn]] void reject() const {
    const auto most = std::max_element(broken_.begin(), broken_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    throw Error(ErrorCode::illegal_candidate,
                fmt::format("no configuration of {} keeps all rules with {}; what most break is '{}'{}", kernel_.name,
                            sizes_text(kernel_), most->first, example_.empty() ? "" : " (" + example_ + ")"));
  }

  const UserKernel& kernel_;
  WholeValues values_;
  std::vector<std::vector<const Rule*>> rules_after_;  ///< by how many parameters have values
  ParameterValues chosen_;
  std::vector<ParameterValues> legal_;
  std::map<std::string, std::size_t> broken_;
  std::string example_;  ///< a message of one of CUDA's limits that was broken
  std::size_t visited_ = 0;
};

}  // namespace

std::vector<ParameterValues> legal_configurations(const UserKernel& kernel) { return Enumeration(kernel).run(); }

}  // namespace stencil_tune
