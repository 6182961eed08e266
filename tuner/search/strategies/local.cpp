// Iterated local search: from a random start to ever better neighbours; where none is better, a few random steps away
// from the best that was found.
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

#include <algorithm>
#include <limits>

namespace stencil_tune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostSteps = 3;   // away from the incumbent at a restart
constexpr double kAcceptWithin = 1.02;  // of the best time: where a basin ends becomes the incumbent

class LocalSearch : public OneByOne {
 public:
  using OneByOne::OneByOne;

  std::string_view name() const override { return "local"; }

 private:
  Configuration next() override {
    if (known().best_time() < best_time_) {  // its own, or found by others
      best_time_ = known().best_time();
      enter(*known().best(), best_time_);
    }
    if (!has_centre_) return anywhere();
    if (neighbours_.empty()) restart();
    return neighbours_.empty() ? anywhere() : neighbours_.back();
  }

  void told(Configuration configuration, double time_ms) override {
    if (!neighbours_.empty()) neighbours_.pop_back();
    if (time_ms < centre_time_) enter(configuration, time_ms);
  }

  void enter(Configuration configuration, double time_ms) {
    has_centre_ = true;
    centre_ = configuration;
    centre_time_ = time_ms;
    neighbours_ = table().neighbours(configuration);
    std::shuffle(neighbours_.begin(), neighbours_.end(), random());
  }

  // Leaves the basin whose centre is its best.
  void restart() {
    if (centre_time_ <= best_time_ * kAcceptWithin) incumbent_ = centre_;
    Configuration start = incumbent_;
    for (std::size_t steps = 1 + below(kMostSteps) + 1; steps > 0; --steps) {
      const auto neighbours = table().neighbours(start);
      start = neighbours.empty() ? anywhere() : neighbours[below(neighbours.size())];
    }
    enter(start, kInfinity);
    neighbours_.push_back(start);
  }

  bool has_centre_ = false;
  Configuration centre_ = 0;
  double centre_time_ = kInfinity;
  std::vector<Configuration> neighbours_;  // in random order, the next one last
  Configuration incumbent_ = 0;
  double best_time_ = kInfinity;
};

}  // namespace

std::unique_ptr<TableSearch> make_local_search(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<LocalSearch>(table, seed);
}

}  // namespace stencil_tune
