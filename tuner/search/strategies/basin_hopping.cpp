// Basin hopping (Wales and Doye 1997): annealing among the ends of downhill walks. A jump changes some parameters to
// any values; where the walk from there ends is accepted as annealing accepts, else the next jump starts from the old
// end.
#include "tuner/search/strategies/descent.hpp"
#include "tuner/search/strategies/make.hpp"

#include <cmath>

namespace stencil_tune {
namespace {

constexpr double kTemperature = 0.1;  // as a share of the time: twice it slower is accepted once in seven times
constexpr std::size_t kJumpSteps = 3;

class BasinHopping : public Descent {
 public:
  using Descent::Descent;

  std::string_view name() const override { return "basin-hopping"; }

 private:
  Configuration next_start(Configuration end, double time_ms) override {
    const double slower = time_ms / at_time_ - 1;
    if (!(slower > 0) || uniform() < std::exp(-slower / kTemperature)) at_ = end, at_time_ = time_ms;
    return walk(at_, kJumpSteps);
  }

  Configuration at_ = 0;
  double at_time_ = kInfinity;
};

}  // namespace

std::unique_ptr<TableSearch> make_basin_hopping(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<BasinHopping>(table, seed);
}

}  // namespace stencil_tune
