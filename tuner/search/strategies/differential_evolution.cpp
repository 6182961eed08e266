// Differential evolution (Storn and Price 1997; best/1/bin): each member is challenged by a mixture of itself and the
// best moved by the difference of two others, and gives way to what is faster.
#include "tuner/search/strategies/continuous.hpp"
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kPopulation = 16;
constexpr double kDifference = 0.8;  // how much of the others' difference is added
constexpr double kCrossing = 0.7;    // chance that a coordinate is the moved one's

class DifferentialEvolution : public OneByOne {
 public:
  using OneByOne::OneByOne;

  std::string_view name() const override { return "differential-evolution"; }

 private:
  Configuration next() override {
    if (members_.size() < kPopulation) return anywhere();
    challenged_ = (challenged_ + 1) % kPopulation;
    Point point = point_of(table(), members_[challenged_].first);
    const Point base = point_of(table(), known().best().value_or(members_[challenged_].first));
    const Point plus = point_of(table(), members_[below(kPopulation)].first);
    const Point minus = point_of(table(), members_[below(kPopulation)].first);
    const std::size_t always = below(point.size());
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (i == always || uniform() < kCrossing) point[i] = base[i] + kDifference * (plus[i] - minus[i]);
    }
    clamp_to(table(), point);
    return configuration_at(table(), point);
  }

  void told(Configuration configuration, double time_ms) override {
    if (members_.size() < kPopulation) {
      members_.emplace_back(configuration, time_ms);
    } else if (time_ms < members_[challenged_].second) {
      members_[challenged_] = {configuration, time_ms};
    }
  }

  void stuck() override { members_.clear(); }

  std::vector<std::pair<Configuration, double>> members_;  // with their times
  std::size_t challenged_ = 0;
};

}  // namespace

std::unique_ptr<TableSearch> make_differential_evolution(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<DifferentialEvolution>(table, seed);
}

}  // namespace stencil_tune
