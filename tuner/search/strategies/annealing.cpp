// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): a walk over random neighbours that takes steps uphill the
// less often, the more they cost and the longer it lasts. Cold, it is heated again at the best configuration.
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

#include <cmath>
#include <limits>

namespace stencil_tune {
namespace {

constexpr double kHot = 0.3;  // temperatures, as a share of the time of the configuration
constexpr double kCold = 0.003;
constexpr double kCooling = 0.97;  // a step

class Annealing : public OneByOne {
 public:
  using OneByOne::OneByOne;

  std::string_view name() const override { return "annealing"; }

 private:
  Configuration next() override {
    if (!std::isfinite(at_time_)) return anywhere();
    const auto neighbours = table().neighbours(at_);
    return neighbours.empty() ? anywhere() : neighbours[below(neighbours.size())];
  }

  void told(Configuration configuration, double time_ms) override {
    const double slower = time_ms / at_time_ - 1;
    if (!(slower > 0) || uniform() < std::exp(-slower / temperature_)) at_ = configuration, at_time_ = time_ms;
    temperature_ *= kCooling;
    if (temperature_ < kCold && known().best()) {
      temperature_ = kHot;
      at_ = *known().best();
      at_time_ = known().best_time();
    }
  }

  Configuration at_ = 0;
  double at_time_ = std::numeric_limits<double>::infinity();
  double temperature_ = kHot;
};

}  // namespace

std::unique_ptr<TableSearch> make_annealing(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<Annealing>(table, seed);
}

}  // namespace stencil_tune
