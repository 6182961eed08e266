// Bayesian optimisation: a Gaussian process says what to expect of every configuration, and the one with the greatest
// expected improvement is next (Jones, Schonlau and Welch 1998).
//
// The process sees logarithms of times, failures as the slowest of all. No library that Debian has fits one to a table
// as it grows, so it is our own (gaussian_process.hpp), over Eigen. Its cost grows with observations and candidates:
// beyond kMost observations it keeps the fastest and the latest, and a large table is represented by a sample and the
// neighbours of the fastest.
#include "tuner/search/strategies/gaussian_process.hpp"
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace stencil_tune {
namespace {
constexpr std::size_t kFirst = 3;          // random ones, before there is a process
constexpr double kRefitAfter = 1.5;        // times the observations: lengths are chosen again
constexpr std::size_t kMost = 160;         // observations of a process
constexpr std::size_t kKept = 100;         // those that remain at a fit: half of them the fastest, half the latest
constexpr std::size_t kCandidates = 5000;  // size of the sample where a table is larger
constexpr std::size_t kFastest = 20;       // whose neighbours are candidates too
constexpr double kNegligible = 1e-12;      // a variance of logarithms of times

class Bayesian : public TableSearch {
 public:
  Bayesian(const ConfigurationTable& table, std::uint64_t seed)
      : table_(table), known_(table), random_(seed), process_(table) {}

  std::string_view name() const override { return "bayesian"; }

  std::optional<Configuration> propose() override {
    std::optional<Configuration> chosen;
    if (tried_.size() >= kFirst && known_.best()) {
      catch_up();
      chosen = most_promising();
    }
    if (!chosen) chosen = known_.draw(random_);
    if (chosen) known_.take(*chosen);
    return chosen;
  }

  void report(const Configuration& configuration, double time_ms) override {
    if (known_.knows(configuration)) return;
    known_.learn(configuration, time_ms);
    tried_.push_back(configuration);
  }

 private:
  auto faster() const {
    return [this](Configuration a, Configuration b) { return known_.time(a) < known_.time(b); };
  }

  /// Observes what was reported since the last proposal.
  void catch_up() {
    if (tried_.size() >= next_fit_) {
      fit();
    } else {
      for (; observed_ < tried_.size(); ++observed_) {
        process_.observe(tried_[observed_], value_of(tried_[observed_]));
      }
    }
  }

  void fit() {
    const std::vector<Configuration> observed = worth_observing();
    standardise(observed);
    std::vector<double> values;
    for (const Configuration each : observed) values.push_back(value_of(each));
    process_.fit(observed, values, candidates());
    observed_ = tried_.size();
    const std::size_t grown = static_cast<std::size_t>(kRefitAfter * static_cast<double>(values.size())) + 1;
    next_fit_ = tried_.size() + std::min(grown, kMost) - values.size();
  }

  /// All that were tried, or the fastest and the latest.
  std::vector<Configuration> worth_observing() const {
    std::vector<Configuration> observed = tried_;
    if (observed.size() <= kKept) return observed;
    const auto latest = observed.end() - static_cast<std::ptrdiff_t>(kKept / 2);
    const auto slow = observed.begin() + static_cast<std::ptrdiff_t>(kKept - kKept / 2);
    std::stable_sort(observed.begin(), latest, faster());
    observed.erase(slow, latest);
    return observed;
  }

  void standardise(const std::vector<Configuration>& observed) {
    double sum = 0, squares = 0, count = 0, slowest = -std::numeric_limits<double>::infinity();
    for (const Configuration each : observed) {
      if (!std::isfinite(known_.time(each))) continue;
      const double value = std::log(known_.time(each));
      sum += value, squares += value * value, ++count;
      slowest = std::max(slowest, value);
    }
    centre_ = sum / count;
    const double variance = squares / count - centre_ * centre_;
    spread_ = variance > kNegligible ? std::sqrt(variance) : 1;
    slowest_ = (slowest - centre_) / spread_;
  }

  double value_of(Configuration configuration) const {
    const double time = known_.time(configuration);
    return std::isfinite(time) ? (std::log(time) - centre_) / spread_ : slowest_;
  }

  /// All that is left, or from a large table a sample and the neighbours of the fastest.
  std::vector<Configuration> candidates() {
    std::vector<Configuration> found;
    if (table_.size() <= kCandidates) {
      found.resize(table_.size());
      std::iota(found.begin(), found.end(), Configuration{0});
    } else {
      std::vector<Configuration> fastest = tried_;
      const std::size_t few = std::min(kFastest, fastest.size());
      std::partial_sort(fastest.begin(), fastest.begin() + static_cast<std::ptrdiff_t>(few), fastest.end(), faster());
      for (std::size_t i = 0; i < few; ++i) {
        for (const Configuration neighbour : table_.neighbours(fastest[i])) found.push_back(neighbour);
      }
      std::uniform_int_distribution<std::size_t> any(0, table_.size() - 1);
      while (found.size() < kCandidates) found.push_back(static_cast<Configuration>(any(random_)));
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
    std::erase_if(found, [&](Configuration each) { return known_.taken(each); });
    return found;
  }

  std::optional<Configuration> most_promising() const {
    const double best = value_of(*known_.best());
    std::optional<Configuration> chosen;
    double greatest = -1;
    for (std::size_t i = 0; i < process_.candidates().size(); ++i) {
      const Configuration candidate = process_.candidates()[i];
      if (known_.taken(candidate)) continue;
      const double improvement = expected_improvement(best - process_.mean(i), process_.deviation(i));
      if (improvement > greatest) greatest = improvement, chosen = candidate;
    }
    return chosen;
  }

  /// How far a normal distribution with that mean is expected to lie above 0, nothing counting below.
  static double expected_improvement(double mean, double deviation) {
    const double z = mean / deviation;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    return mean * std::erfc(-z / std::numbers::sqrt2) / 2 + deviation * density;
  }

  const ConfigurationTable& table_;
  KnownTimes known_;
  std::mt19937_64 random_;
  GaussianProcess process_;
  std::vector<Configuration> tried_;
  std::size_t observed_ = 0;                      // how many of these the process has observed
  std::size_t next_fit_ = 0;                      // when so many were tried
  double centre_ = 0, spread_ = 1, slowest_ = 0;  // logarithms' mean, deviation, and the slowest in these units
};

}  // namespace

std::unique_ptr<TableSearch> make_bayesian(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<Bayesian>(table, seed);
}

}  // namespace stencil_tune
