// What the strategies for tables share.
#pragma once

#include "tuner/search/strategies/strategies.hpp"

#include <optional>
#include <random>
#include <vector>

namespace stencil_tune {

/// What is known of a table so far, and which configurations are left.
class KnownTimes {
 public:
  explicit KnownTimes(const ConfigurationTable& table);

  /// Proposed or known.
  bool taken(Configuration configuration) const { return taken_[configuration]; }
  void take(Configuration configuration);

  void learn(Configuration configuration, double time_ms);
  /// NaN where it is not known.
  double time(Configuration configuration) const { return times_[configuration]; }
  bool knows(Configuration configuration) const { return times_[configuration] == times_[configuration]; }

  double best_time() const { return best_time_; }
  /// Nothing while none works.
  std::optional<Configuration> best() const { return best_; }

  /// One that is not taken, drawn uniformly; nothing when all are.
  std::optional<Configuration> draw(std::mt19937_64& random);

 private:
  std::vector<double> times_;
  std::vector<bool> taken_;
  std::vector<Configuration> left_;  // those not taken, and some that were
  double best_time_;
  std::optional<Configuration> best_;
};

/// A strategy that asks for one time after the other, known ones too. What it asks again costs nothing. Where it asks
/// for nothing new for long, and where proposals run ahead of the report that it waits for, a random one is proposed.
class OneByOne : public TableSearch {
 public:
  OneByOne(const ConfigurationTable& table, std::uint64_t seed);

  std::optional<Configuration> propose() final;
  void report(const Configuration& configuration, double time_ms) final;

 protected:
  /// The configuration whose time it needs next. Each is followed by told() before the next is asked for.
  virtual Configuration next() = 0;
  virtual void told(Configuration configuration, double time_ms) = 0;
  /// It has asked for nothing new for long. A population that has converged begins anew.
  virtual void stuck() {}

  const ConfigurationTable& table() const { return table_; }
  std::mt19937_64& random() { return random_; }
  const KnownTimes& known() const { return known_; }

  /// Any configuration.
  Configuration anywhere();
  /// 0 to count - 1.
  std::size_t below(std::size_t count);
  /// 0 to 1.
  double uniform();

 private:
  const ConfigurationTable& table_;
  std::mt19937_64 random_;
  KnownTimes known_;
  std::optional<Configuration> awaited_;
};

}  // namespace stencil_tune
