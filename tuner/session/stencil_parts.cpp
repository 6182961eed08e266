#include "tuner/session/stencil_parts.hpp"

#include <optional>
#include <utility>

namespace stencil_tune {
namespace {

class ByCode final : public SearchStrategy<std::string> {
 public:
  explicit ByCode(std::unique_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {}

  std::string_view name() const override { return strategy_->name(); }

  std::optional<std::string> propose() override {
    const auto tuning = strategy_->propose();
    return tuning ? std::optional(code(*tuning)) : std::nullopt;
  }

  bool has_more() const override { return strategy_->has_more(); }

  std::optional<Relaunch<std::string>> propose_relaunch(const IsCompiled& is_compiled) override {
    const auto relaunch = strategy_->propose_relaunch([&](const Tuning& tuning) { return is_compiled(code(tuning)); });
    if (!relaunch) return std::nullopt;
    return Relaunch<std::string>{code(relaunch->candidate), code(relaunch->compiled)};
  }

  void report(const std::string& candidate, double time_ms) override {
    strategy_->report(parse_code(candidate), time_ms);
  }

 private:
  std::unique_ptr<Strategy> strategy_;
};

}  // namespace

std::unique_ptr<SearchStrategy<std::string>> by_code(std::unique_ptr<Strategy> strategy) {
  return std::make_unique<ByCode>(std::move(strategy));
}

std::vector<NamedCandidate> named_candidates(std::span<const Baseline> baselines) {
  std::vector<NamedCandidate> named;
  for (const Baseline& baseline : baselines) {
    named.push_back({baseline.name, std::nullopt, baseline.reason});
    if (baseline.tuning) named.back().code = code(*baseline.tuning);
  }
  return named;
}

std::vector<std::string> codes(std::span<const Tuning> tunings) {
  std::vector<std::string> all;
  for (const Tuning& tuning : tunings) all.push_back(code(tuning));
  return all;
}

}  // namespace stencil_tune
