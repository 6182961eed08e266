// Random search without replacement: what all others are compared with.
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

namespace stencil_tune {
namespace {

class Random : public TableSearch {
 public:
  Random(const ConfigurationTable& table, std::uint64_t seed) : known_(table), random_(seed) {}

  std::string_view name() const override { return "random"; }

  std::optional<Configuration> propose() override {
    const auto drawn = known_.draw(random_);
    if (drawn) known_.take(*drawn);
    return drawn;
  }

  void report(const Configuration& configuration, double time_ms) override { known_.learn(configuration, time_ms); }

 private:
  KnownTimes known_;
  std::mt19937_64 random_;
};

}  // namespace

std::unique_ptr<TableSearch> make_random_search(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<Random>(table, seed);
}

}  // namespace stencil_tune
