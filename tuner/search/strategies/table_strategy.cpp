#include "tuner/search/strategies/table_strategy.hpp"

#include <limits>
#include <numeric>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kPatience = 200;  // configurations asked for again before it counts as stuck

}  // namespace

KnownTimes::KnownTimes(const ConfigurationTable& table)
    : times_(table.size(), std::numeric_limits<double>::quiet_NaN()),
      taken_(table.size(), false),
      left_(table.size()),
      best_time_(std::numeric_limits<double>::infinity()) {
  std::iota(left_.begin(), left_.end(), Configuration{0});
}

void KnownTimes::take(Configuration configuration) { taken_[configuration] = true; }

void KnownTimes::learn(Configuration configuration, double time_ms) {
  take(configuration);
  times_[configuration] = time_ms;
  if (time_ms < best_time_) best_time_ = time_ms, best_ = configuration;
}

std::optional<Configuration> KnownTimes::draw(std::mt19937_64& random) {
  while (!left_.empty()) {
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, left_.size() - 1)(random);
    const Configuration drawn = left_[at];
    if (!taken_[drawn]) return drawn;
    left_[at] = left_.back();
    left_.pop_back();
  }
  return std::nullopt;
}

OneByOne::OneByOne(const ConfigurationTable& table, std::uint64_t seed) : table_(table), random_(seed), known_(table) {}

std::optional<Configuration> OneByOne::propose() {
  for (int tries = 0; !awaited_; ++tries) {
    if (tries == kPatience) {
      stuck();
      break;
    }
    const Configuration wanted = next();
    if (known_.knows(wanted)) {
      told(wanted, known_.time(wanted));
      continue;
    }
    awaited_ = wanted;
    if (known_.taken(wanted)) break;  // proposed ahead: its report is on its way
    known_.take(wanted);
    return wanted;
  }
  const auto drawn = known_.draw(random_);
  if (drawn) known_.take(*drawn);
  return drawn;
}

void OneByOne::report(const Configuration& configuration, double time_ms) {
  known_.learn(configuration, time_ms);
  if (awaited_ != configuration) return;
  awaited_.reset();
  told(configuration, time_ms);
}

Configuration OneByOne::anywhere() { return static_cast<Configuration>(below(table_.size())); }

std::size_t OneByOne::below(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

double OneByOne::uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

}  // namespace stencil_tune
