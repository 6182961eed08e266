// The default strategy: starts the model believes in, then basin hopping.
//
//   starts    the model's best of every kind of kernel, each walked downhill in the model first
//   basin     neighbours of the best candidate found since the last hop; a better one becomes the new centre
//   hop       when a basin is exhausted: a few random steps away from a kind's home, its best basin accepted so far
//   pool      every few proposals, the best remaining of a large random sample, wherever it lies
//
// A kind of kernel is a template: from one to another all parameters have other good values, and optima are many steps
// apart. Each kind whose best is not far from the best of all is hopped from: where the model is wrong about one, its
// first basins may be poor ones.
//
// Neighbours and pool are ranked by the model's cost, corrected by what the trials so far taught (correction.hpp).
#include "generator/source.hpp"
#include "tuner/search.hpp"
#include "tuner/strategies/candidate_set.hpp"
#include "tuner/strategies/correction.hpp"
#include "tuner/strategies/scan.hpp"

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
constexpr int kStartsOverall = 6;
constexpr int kPoolEvery = 4;         // every fourth proposal comes from the pool
constexpr int kFillEvery = 100;       // proposals at least between two samples; twice as many after one without a find
constexpr double kPoolSlower = 1.15;  // than the best, by corrected cost: the rest of the pool is left alone
constexpr int kHopSteps = 4;          // most random steps of a hop
constexpr int kHopTries = 50;
constexpr double kAcceptSlower = 1.02;    // a basin may be this much slower than its kind's best and still become home
constexpr double kRivalSlower = 1.1;      // kinds whose best is this much slower than the best of all are given up
constexpr double kRivalScale = 0.03;      // a kind this much slower than the best one is hopped from e times less often
constexpr double kHopelessAfter = 8;      // trials of a basin before it may be given up
constexpr double kHopelessFactor = 1.25;  // slower than the best: given up
constexpr double kWorthTrying = 1.5;      // neighbours beyond this times the centre's corrected cost are left alone

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
    if (auto tuning = propose_from_basin()) return tuning;
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
    Tuning centre;
    std::vector<Ranked> neighbours;
    int pending = 0;  // proposed and not yet reported
    int trials = 0;   // reported
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
    std::stable_sort(pool_.begin(), pool_.end(), [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  }

  // The best of the sample, of another one where that is not worth a trial any more.
  std::optional<Tuning> propose_from_pool() {
    auto tuning = take_best(pool_, kPoolSlower * best_time_);
    if (!tuning && turn_ - filled_at_ >= fill_every_) {
      fill_pool();
      tuning = take_best(pool_, kPoolSlower * best_time_);
      if (!tuning) fill_every_ *= 2;
    }
    return tuning;
  }

  // Best of the kinds in turn, so that the first trials see every kind even where the budget is short.
  void choose_starts() {
    std::map<std::string_view, std::vector<Tuning>> by_kind;
    std::vector<Tuning> overall;
    CandidateSet chosen;
    for (const Ranked& ranked : pool_) {
      std::vector<Tuning>& own = by_kind[template_of(ranked.tuning)];
      const bool wanted = own.size() < kStartsPerKind || overall.size() < kStartsOverall;
      if (!wanted || !std::isfinite(ranked.cost)) continue;
      const Tuning bottom = downhill(ranked.tuning);
      if (!chosen.add(bottom)) continue;
      if (own.size() < kStartsPerKind) {
        own.push_back(bottom);
      } else {
        overall.push_back(bottom);
      }
    }
    for (std::size_t i = 0; i < kStartsPerKind; ++i) {
      for (const auto& [kind, own] : by_kind) {
        if (i < own.size()) starts_.push_back(own[i]);
      }
    }
    starts_.insert(starts_.end(), overall.begin(), overall.end());
  }

  // Walks to the model's nearest local optimum of the kind.
  Tuning downhill(Tuning tuning) {
    double cost = model_.cost(tuning);
    for (bool moved = true; moved;) {
      moved = false;
      Tuning best = tuning;
      for (const Tuning& neighbour : space_.neighbours(tuning)) {
        if (template_of(neighbour) != template_of(tuning)) continue;
        const double neighbour_cost = model_.cost(neighbour);
        if (neighbour_cost < cost) best = neighbour, cost = neighbour_cost, moved = true;
      }
      tuning = best;
    }
    return tuning;
  }

  std::optional<Tuning> propose_from_basin() {
    for (int tries = 0; tries < kHopTries; ++tries) {
      const bool hopeless = basin_.trials >= kHopelessAfter && basin_.time > best_time_ * kHopelessFactor;
      if (!hopeless) {
        if (auto tuning = take_best(basin_.neighbours, kWorthTrying * centre_cost_)) {
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

  // Removes and returns the candidate with the least corrected cost that nobody has proposed; nothing when all that is
  // left costs more than the limit.
  std::optional<Tuning> take_best(std::vector<Ranked>& list, double limit) {
    while (!list.empty()) {
      auto best = list.begin();
      double least = corrected(*best);
      for (auto other = best + 1; other != list.end(); ++other) {
        if (const double cost = corrected(*other); cost < least) best = other, least = cost;
      }
      if (least > limit) return std::nullopt;
      const Tuning tuning = best->tuning;
      list.erase(best);
      if (taken_.add(tuning)) return tuning;
    }
    return std::nullopt;
  }

  // Makes a candidate the centre of the basin.
  void enter(const Tuning& tuning, double time_ms) {
    basin_.centre = tuning;
    basin_.time = time_ms;
    centre_cost_ = corrected(rank(tuning));
    basin_.neighbours.clear();
    for (const Tuning& neighbour : space_.neighbours(tuning)) {
      if (!taken_.contains(neighbour)) basin_.neighbours.push_back(rank(neighbour));
    }
  }

  // Leaves the basin for another, a few random steps from home. False when there is nowhere to start from.
  bool hop() {
    if (!std::isfinite(best_time_)) return false;
    if (std::isfinite(basin_.time)) {
      Home& home = homes_[template_of(basin_.centre)];
      if (basin_.time <= home.best_time * kAcceptSlower) home.tuning = basin_.centre;
    }
    Tuning landing = choose_home();
    const int steps = std::uniform_int_distribution<int>(2, kHopSteps)(random_);
    for (int step = 0; step < steps; ++step) {
      const std::vector<Tuning> neighbours = space_.neighbours(landing);
      if (neighbours.empty()) break;
      landing = neighbours[std::uniform_int_distribution<std::size_t>(0, neighbours.size() - 1)(random_)];
    }
    const int number = basin_.number + 1;
    basin_ = Basin{};
    basin_.number = number;
    enter(landing, kInfinity);
    if (!taken_.contains(landing)) basin_.neighbours.push_back(rank(landing));
    return true;
  }

  // The home of a kind, of the fastest ones and those with few trials most often. There is one: that of the best
  // candidate of all.
  Tuning choose_home() {
    std::vector<Tuning> homes;
    std::vector<double> weights;
    for (const auto& [kind, home] : homes_) {
      const double slower = home.best_time / best_time_;
      if (slower > kRivalSlower) continue;
      homes.push_back(home.tuning);
      weights.push_back(std::exp((1 - slower) / kRivalScale) / home.trials);
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
  double centre_cost_ = kInfinity;             // corrected, of the basin's centre
  std::map<std::string, int> asked_in_basin_;  // code of a pending proposal -> number of its basin
  double best_time_ = kInfinity;
  std::map<std::string_view, Home> homes_;
  int turn_ = 0;
  int filled_at_ = 0;
  int fill_every_ = kFillEvery;
};

}  // namespace

std::unique_ptr<Strategy> make_local(const Space& space, const CostModel& model, std::uint64_t seed) {
  return std::make_unique<Local>(space, model, seed);
}

}  // namespace stencil_tune
