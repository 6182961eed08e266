#include "tuner/search/strategies/descent.hpp"

#include <algorithm>

namespace stencil_tune {

Configuration Descent::next() {
  if (known().best_time() < best_time_) {  // found here, or reported by others
    best_time_ = known().best_time();
    enter(*known().best(), best_time_);
  }
  if (!known().best()) return anywhere();
  if (neighbours_.empty()) {
    const Configuration start = next_start(centre_, centre_time_);
    enter(start, kInfinity);
    neighbours_.push_back(start);
  }
  return neighbours_.back();
}

void Descent::told(Configuration configuration, double time_ms) {
  if (!neighbours_.empty()) neighbours_.pop_back();
  if (time_ms < centre_time_) enter(configuration, time_ms);
}

void Descent::enter(Configuration configuration, double time_ms) {
  centre_ = configuration;
  centre_time_ = time_ms;
  neighbours_ = table().neighbours(configuration);
  std::shuffle(neighbours_.begin(), neighbours_.end(), random());
}

Configuration Descent::walk(Configuration from, std::size_t steps) {
  for (; steps > 0; --steps) {
    const auto neighbours = table().neighbours(from);
    from = neighbours.empty() ? anywhere() : neighbours[below(neighbours.size())];
  }
  return from;
}

}  // namespace stencil_tune
