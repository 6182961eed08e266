// The default strategy: starts the model believes in, then basin hopping.
//
//   starts    the model's optima of every kind of kernel, the best ones that lie apart
//   basin     neighbours of the best candidate found since the last hop; a better one becomes the new centre
//   hop       when a basin is exhausted: to a few random steps away from a kind's home, its best basin accepted so far;
//             every third time to a rival, the fastest candidate that lies far from the centres of all basins so far
//   pool      every other proposal, from a large random sample: downhill from its best, or its best itself
//
// A kind of kernel is a template: from one to another all parameters have other good values, and optima are many steps
// apart. Each kind whose best is not far from the best of all is hopped from: where the model is wrong about one, its
// first basins may be poor ones.
//
// Neighbours and pool are ranked by the model's cost, corrected by what the trials so far taught (correction.hpp).
// Neighbours that should be slower than the centre are left alone: a change that was bad in one basin seldom is good in
// the next.
#include "generator/kernel/source.hpp"
#include "tuner/search/candidate_set.hpp"
#include "tuner/search/correction.hpp"
#include "tuner/search/optima.hpp"
#include "tuner/search/scan.hpp"
#include "tuner/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

namespace stencil_tune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kPoolSamples = 6000;
constexpr int kStartsPerKind = 2;
constexpr int kStartsOverall = 10;
constexpr int kRivalEvery = 3;        // every third hop leads to a rival
constexpr int kRivalsApart = 6;       // parameters that differ from the centres of all basins
constexpr double kRivalWithin = 1.1;  // times the best time
constexpr int kPoolEvery = 2;         // every other proposal comes from the pool
constexpr int kPoolWalks = 3;         // most for one proposal
constexpr int kFillEvery = 100;       // proposals at least between two samples; twice as many after one without a find
constexpr double kPoolSlower = 1.05;  // than the best, by corrected cost: not proposed
constexpr int kHopSteps = 4;          // most random steps of a hop
constexpr int kHopTries = 50;
constexpr double kAcceptSlower = 1.02;    // a basin may be this much slower than its kind's best and still become home
constexpr double kHomeSlower = 1.1;       // kinds whose best is this much slower than the best of all are given up
constexpr double kHomeScale = 0.03;       // a kind this much slower than the best one is hopped from e times less often
constexpr double kHopelessAfter = 8;      // trials of a basin before it may be given up
constexpr double kHopelessFactor = 1.25;  // slower than the best: given up
constexpr double kWorthTrying = 1.06;     // neighbours beyond this times the centre's corrected cost are left alone,
constexpr double kWorthMeanwhile = 1.5;   // but for these, while nothing better is left and reports are waited for

class Local : public Strategy {
 public:
  Local(const Space& space, const CostModel& model, std::uint64_t seed)
      : space_(space), model_(model), random_(seed), scan_(space) {}

  std::string_view name() const override { return "local"; }

  std::optional<Tuning> propose() override {
    if (!prepared_) prepare();
    while (!starts_.empty()) {
      const Tuning start = starts_.front();
      starts_.pop_front();
      if (taken_.add(start)) return start;
    }
    if (++turn_ % kPoolEvery == 0) {
      if (auto tuning = propose_from_pool()) return tuning;
    }
    if (auto tuning = propose_from_basin(kWorthTrying)) return tuning;
    if (auto tuning = propose_from_pool()) return tuning;
    if (auto tuning = propose_from_basin(kWorthMeanwhile)) return tuning;
    if (auto tuning = take_best(pool_, kInfinity)) return tuning;
    while (auto tuning = scan_.next()) {
      if (taken_.add(*tuning)) return tuning;
    }
    return std::nullopt;
  }

  void report(const Tuning& tuning, double time_ms) override {
    taken_.add(tuning);
    Home& home = homes_[template_of(tuning)];
    ++home.trials;
    if (time_ms < home.best_time) home.best_time = time_ms, home.tuning = tuning;
    const double predicted = model_.cost(tuning);
    if (std::isfinite(time_ms) && std::isfinite(predicted) && time_ms > 0 && predicted > 0) {
      correction_.learn(correction_.features(tuning), time_ms, predicted);
    }
    bool of_basin = false;
    const auto asked = asked_in_basin_.find(code(tuning));
    if (asked != asked_in_basin_.end()) {
      of_basin = asked->second == basin_.number;
      if (of_basin) --basin_.pending, ++basin_.trials;
      asked_in_basin_.erase(asked);
    }
    if (std::isfinite(time_ms) && far_from_centres(tuning)) rivals_.push_back({tuning, time_ms});
    // What lies elsewhere draws the search to it only when it is the best of all.
    if (time_ms < (of_basin ? basin_.time : std::min(basin_.time, best_time_))) enter(tuning, time_ms);
    best_time_ = std::min(best_time_, time_ms);
  }

 private:
  struct Ranked {
    Tuning tuning;
    double cost;  // the model's, not corrected
    Correction::Features features;
  };

  struct Basin {
    int number = 0;
    double time = kInfinity;  // of its best candidate
    Ranked centre;
    std::vector<Ranked> neighbours;
    int pending = 0;  // proposed and not yet reported
    int trials = 0;   // reported
  };

  struct Tried {
    Tuning tuning;
    double time_ms;
  };

  /// Of a kind: how many of its candidates were reported, the best time of them, and where hops start from.
  struct Home {
    int trials = 0;
    double best_time = kInfinity;
    Tuning tuning;
  };

  Ranked rank(const Tuning& tuning) { return {tuning, model_.cost(tuning), correction_.features(tuning)}; }
  double corrected(const Ranked& ranked) const { return ranked.cost * correction_.factor(ranked.features); }

  void prepare() {
    prepared_ = true;
    fill_pool();
    choose_starts();
  }

  void fill_pool() {
    filled_at_ = turn_;
    pool_.clear();
    CandidateSet sampled;
    for (int i = 0; i < kPoolSamples; ++i) {
      const auto tuning = space_.sample(random_);
      if (!tuning) break;
      if (sampled.add(*tuning) && !taken_.contains(*tuning)) pool_.push_back(rank(*tuning));
    }
    sort_by_cost(pool_);
  }

  static void sort_by_cost(std::vector<Ranked>& list) {
    std::stable_sort(list.begin(), list.end(), [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  }

  // In turn where a walk leads and the best of the sample itself; of another sample where neither is worth a trial.
  std::optional<Tuning> propose_from_pool() {
    pool_walks_ = !pool_walks_;
    const auto propose = [&] { return pool_walks_ ? walk_from_pool() : take_best(pool_, kPoolSlower * best_time_); };
    auto tuning = propose();
    if (!tuning && turn_ - filled_at_ >= fill_every_) {
      fill_pool();
      tuning = propose();
      if (!tuning) fill_every_ *= 2;
    }
    return tuning;
  }

  // The lowest candidate that nobody has proposed on the way downhill from the best remaining of the sample.
  std::optional<Tuning> walk_from_pool() {
    const auto cost = [&](const Tuning& tuning) { return corrected(rank(tuning)); };
    for (int walk = 0; walk < kPoolWalks; ++walk) {
      const auto best = remove_best(pool_, kInfinity);
      if (!best) return std::nullopt;
      std::optional<Tuning> lowest;
      for (std::optional<Tuning> at = best->tuning; at; at = step_down(space_, *at, cost)) {
        if (!taken_.contains(*at)) lowest = at;
      }
      if (lowest && cost(*lowest) <= kPoolSlower * best_time_ && taken_.add(*lowest)) return lowest;
    }
    return std::nullopt;
  }

  // Best of the kinds in turn, so that the first trials see every kind even where the budget is short.
  void choose_starts() {
    std::vector<Tuning> sample;
    for (const Ranked& ranked : pool_) sample.push_back(ranked.tuning);
    const auto by_kind = optima_apart(space_, model_, sample);
    std::vector<Ranked> others;
    for (std::size_t i = 0; i < kStartsPerKind; ++i) {
      for (const auto& [kind, optima] : by_kind) {
        if (i < optima.size()) starts_.push_back(optima[i]);
      }
    }
    for (const auto& [kind, optima] : by_kind) {
      for (std::size_t i = kStartsPerKind; i < optima.size(); ++i) others.push_back(rank(optima[i]));
    }
    sort_by_cost(others);
    for (std::size_t i = 0; i < others.size() && i < kStartsOverall; ++i) starts_.push_back(others[i].tuning);
  }

  std::optional<Tuning> propose_from_basin(double worth) {
    for (int tries = 0; tries < kHopTries; ++tries) {
      const bool hopeless = basin_.trials >= kHopelessAfter && basin_.time > best_time_ * kHopelessFactor;
      if (!hopeless) {
        if (auto tuning = take_best(basin_.neighbours, worth * corrected(basin_.centre))) {
          asked_in_basin_[code(*tuning)] = basin_.number;
          ++basin_.pending;
          return tuning;
        }
        if (basin_.pending > 0) return std::nullopt;  // its last reports may still open it again
      }
      if (!hop()) return std::nullopt;
    }
    return std::nullopt;
  }

  // Removes and returns the candidate with the least corrected cost; nothing when all that is left costs more than the
  // limit.
  std::optional<Ranked> remove_best(std::vector<Ranked>& list, double limit) const {
    auto best = list.end();
    double least = limit;
    for (auto candidate = list.begin(); candidate != list.end(); ++candidate) {
      const double cost = corrected(*candidate);
      if (best == list.end() ? cost <= least : cost < least) best = candidate, least = cost;
    }
    if (best == list.end()) return std::nullopt;
    Ranked removed = std::move(*best);
    list.erase(best);
    return removed;
  }

  // The same, of those that nobody has proposed.
  std::optional<Tuning> take_best(std::vector<Ranked>& list, double limit) {
    while (const auto best = remove_best(list, limit)) {
      if (taken_.add(best->tuning)) return best->tuning;
    }
    return std::nullopt;
  }

  // Makes a candidate the centre of the basin.
  void enter(const Tuning& tuning, double time_ms) {
    basin_.centre = rank(tuning);
    basin_.time = time_ms;
    basin_.neighbours.clear();
    for (const Tuning& neighbour : space_.neighbours(tuning)) {
      if (!taken_.contains(neighbour)) basin_.neighbours.push_back(rank(neighbour));
    }
  }

  // Leaves the basin for another. False when there is nowhere to start from.
  bool hop() {
    if (!std::isfinite(best_time_)) return false;
    if (std::isfinite(basin_.time)) leave();
    const int number = basin_.number + 1;
    basin_ = Basin{};
    basin_.number = number;
    const auto rival = number % kRivalEvery == 0 ? fastest_rival() : std::nullopt;
    if (rival) {
      enter(rival->tuning, rival->time_ms);
    } else {
      land_near(choose_home());
    }
    return true;
  }

  void leave() {
    Home& home = homes_[template_of(basin_.centre.tuning)];
    if (basin_.time <= home.best_time * kAcceptSlower) home.tuning = basin_.centre.tuning;
    centres_.push_back(basin_.centre.tuning);
    const auto near = [&](const Tried& rival) {
      return differences(rival.tuning, basin_.centre.tuning) < kRivalsApart;
    };
    rivals_.erase(std::remove_if(rivals_.begin(), rivals_.end(), near), rivals_.end());
  }

  bool far_from_centres(const Tuning& tuning) const {
    return std::all_of(centres_.begin(), centres_.end(),
                       [&](const Tuning& centre) { return differences(tuning, centre) >= kRivalsApart; });
  }

  std::optional<Tried> fastest_rival() const {
    const auto fastest = std::min_element(rivals_.begin(), rivals_.end(),
                                          [](const Tried& a, const Tried& b) { return a.time_ms < b.time_ms; });
    if (fastest == rivals_.end() || fastest->time_ms > kRivalWithin * best_time_) return std::nullopt;
    return *fastest;
  }

  // A few random steps away.
  void land_near(Tuning landing) {
    const int steps = std::uniform_int_distribution<int>(2, kHopSteps)(random_);
    for (int step = 0; step < steps; ++step) {
      const std::vector<Tuning> neighbours = space_.neighbours(landing);
      if (neighbours.empty()) break;
      landing = neighbours[std::uniform_int_distribution<std::size_t>(0, neighbours.size() - 1)(random_)];
    }
    enter(landing, kInfinity);
    if (!taken_.contains(landing)) basin_.neighbours.push_back(rank(landing));
  }

  // The home of a kind, of the fastest ones and those with few trials most often. There is one: that of the best
  // candidate of all.
  Tuning choose_home() {
    std::vector<Tuning> homes;
    std::vector<double> weights;
    for (const auto& [kind, home] : homes_) {
      const double slower = home.best_time / best_time_;
      if (slower > kHomeSlower) continue;
      homes.push_back(home.tuning);
      weights.push_back(std::exp((1 - slower) / kHomeScale) / home.trials);
    }
    return homes[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random_)];
  }

  const Space& space_;
  const CostModel& model_;
  std::mt19937_64 random_;
  Scan scan_;
  CandidateSet taken_;  // proposed or known
  Correction correction_;
  bool prepared_ = false;
  std::deque<Tuning> starts_;
  std::vector<Ranked> pool_;
  Basin basin_;
  std::map<std::string, int> asked_in_basin_;  // code of a pending proposal -> number of its basin
  double best_time_ = kInfinity;
  std::map<std::string_view, Home> homes_;
  std::vector<Tuning> centres_;  // of the basins that were left
  std::vector<Tried> rivals_;    // far from all of them
  int turn_ = 0;
  int filled_at_ = 0;
  int fill_every_ = kFillEvery;
  bool pool_walks_ = false;
};

}  // namespace

std::unique_ptr<Strategy> make_local(const Space& space, const CostModel& model, std::uint64_t seed) {
  return std::make_unique<Local>(space, model, seed);
}

}  // namespace stencil_tune
