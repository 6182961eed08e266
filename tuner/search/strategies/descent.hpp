// Walks from neighbour to better neighbour, again and again: what local search and basin hopping share.
#pragma once

#include "tuner/search/strategies/table_strategy.hpp"

#include <limits>
#include <vector>

namespace stencil_tune {

class Descent : public OneByOne {
 public:
  using OneByOne::OneByOne;

 protected:
  /// Where the next walk starts after one that ended there: no neighbour is better. The first starts anywhere.
  virtual Configuration next_start(Configuration end, double time_ms) = 0;

  /// So many steps to random neighbours away.
  Configuration walk(Configuration from, std::size_t steps);

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

 private:
  Configuration next() final;
  void told(Configuration configuration, double time_ms) final;
  void enter(Configuration configuration, double time_ms);

  Configuration centre_ = 0;
  double centre_time_ = kInfinity;
  std::vector<Configuration> neighbours_;  // in random order, the next one last
  double best_time_ = kInfinity;           // best of all when it was last looked at
};

}  // namespace stencil_tune
