// The default strategy: iterated local search from the model's optima.
//
//   starts    the model's optimum of every template, the best first, but for those that it thinks far behind
//   pool      the next proposals, and every other one later, from a large random sample: where a walk downhill from its
//             best ends, or its best
//   basin     neighbours of the best candidate found since the last restart; a better one becomes the new centre
//   relaunch  other launches of fast kernels, while compilers keep the device waiting: they need none
//   restart   when a basin is exhausted: a few random steps away from a kind's incumbent. Every third restart goes
//             to a distant restart point instead: the fastest candidate that is far from the centres of all basins
//
// A kind is a template with a number of fused steps. Each has an incumbent of its own: other kinds need other parameter
// values, and their optima are many steps apart. Every kind whose best time is near the best of all is restarted from.
// Where the model is wrong about one, its first basins may be poor.
//
// Neighbours and pool are ranked by the model's cost, corrected by what the trials taught so far (correction.hpp):
//
//   best of the pool      by a correction that is drawn from those which the trials leave possible (Thompson sampling):
//                         else a search that was taught by one kind of kernel would not try others, of which nothing is
//                         known
//   walks and neighbours  by what fast trials teach most. Those that should be much slower by what all trials teach are
//                         left alone: a change that was bad in one basin is seldom good in the next
//
// The model's optima are alike and teach little of other candidates: so the pool comes before the first basin.
#include "generator/kernel_source/source.hpp"
#include "tuner/search/candidate_set.hpp"
#include "tuner/search/correction.hpp"
#include "tuner/search/optima.hpp"
#include "tuner/search/scan.hpp"
#include "tuner/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kPoolSamples = 6000;
constexpr int kMostMissed = 20;          // samples in turn that find nothing: one in a thousand may be legal
constexpr double kFillShare = 0.5;       // a proposal's time for samples: few candidates of wide systems are legal
constexpr int kPoolFirst = 20;           // proposals after the starts, all from the pool
constexpr int kPoolEvery = 2;            // then every other one
constexpr int kPoolWalks = 3;            // most for one proposal
constexpr int kFillEvery = 100;          // proposals between two samples at least; doubled after one without a find
constexpr int kDistantRestartEvery = 3;  // every third restart goes to a distant restart point
constexpr int kDistant = 6;              // parameters that differ from the centres of all basins
constexpr int kPerturbationSteps = 4;    // most random steps away from an incumbent
constexpr int kRestartTries = 50;        // for one proposal
constexpr int kHopelessAfter = 8;        // trials of a basin before it may be given up

// Limits as multiples of the best time of all:
constexpr double kPoolWithin = 1.05;        // for candidates of the pool, by the cost that ranks them
constexpr double kWalkWithin = 1.2;         // for where a walk ends, by corrected cost
constexpr double kRelaunchWithin = 1.05;    // for other launches of a kernel, by its time and corrected costs
constexpr double kRelaunchedWithin = 1.15;  // for kernels whose other launches are looked at
constexpr double kDistantWithin = 1.1;      // for distant restart points
constexpr double kIncumbentWithin = 1.1;    // for kinds that are restarted from, by their best time
constexpr double kHopelessFactor = 1.25;    // for a basin's best; beyond it the basin is given up

// A template whose optimum costs more than this, times the least cost of all, is no start.
constexpr double kHopelessStart = 1.2;
// The centre of a basin becomes its kind's incumbent when its time is within this, times the kind's best time.
constexpr double kAcceptWithin = 1.02;
// A kind whose best time is this much slower than the best of all is restarted from e times less often.
constexpr double kIncumbentScale = 0.03;
// Neighbours beyond this, times the centre's corrected cost, are left alone ...
constexpr double kWorthTrying = 1.2;
// ... or beyond this, while nothing better is left and reports are outstanding.
constexpr double kWorthMeanwhile = 1.5;

class Local : public Strategy {
 public:
  Local(std::shared_ptr<const SearchSpace> space, const CostModel& model, std::uint64_t seed, Thinking thinking)
      : space_(std::move(space)), model_(model), random_(seed), scan_(*space_), thinking_(std::move(thinking)) {}

  std::string_view name() const override { return "local"; }

  std::optional<Tuning> propose() override {
    thinking_.begin();
    if (!prepared_) prepare();
    while (!starts_.empty()) {
      const Tuning start = starts_.front();
      starts_.pop_front();
      if (taken_.add(start)) return start;
    }
    if (++proposals_ <= kPoolFirst || proposals_ % kPoolEvery == 0) {
      if (auto tuning = propose_from_pool()) return tuning;
    }
    if (auto tuning = propose_from_basin(kWorthTrying)) return tuning;
    if (auto tuning = propose_from_pool()) return tuning;
    if (auto tuning = propose_from_basin(kWorthMeanwhile)) return tuning;
    if (auto tuning = take_best(pool_, by(&Local::corrected), kInfinity)) return tuning;
    while (auto tuning = scan_.next(thinking_)) {
      if (taken_.add(*tuning)) return tuning;
    }
    return std::nullopt;
  }

  bool has_more() const override { return !scan_.is_done(); }

  std::optional<Relaunch<Tuning>> propose_relaunch(const IsCompiled& is_compiled) override {
    const Launch* best = nullptr;
    double least = kRelaunchWithin * best_time_;
    for (const Launch& launch : relaunches_) {
      const double expected_ms = launch.time_ms * among_fast(launch.other) / among_fast(launch.timed);
      if (expected_ms >= least || taken_.contains(launch.other.tuning)) continue;
      if (is_compiled(launch.timed.tuning)) best = &launch, least = expected_ms;
    }
    if (!best) return std::nullopt;
    taken_.add(best->other.tuning);
    relaunched_.insert(code(best->other.tuning));
    return Relaunch<Tuning>{best->other.tuning, best->timed.tuning};
  }

  void report(const Tuning& tuning, double time_ms) override {
    taken_.add(tuning);
    Incumbent& incumbent = incumbents_[kind_of(tuning)];
    ++incumbent.trials;
    if (time_ms < incumbent.best_time) incumbent.best_time = time_ms, incumbent.tuning = tuning;
    const bool is_relaunch = relaunched_.erase(code(tuning)) > 0;
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
    if (std::isfinite(time_ms) && far_from_centres(tuning)) restart_points_.push_back({tuning, time_ms});
    // A candidate outside the basin becomes the centre only when it is the best of all, and a relaunch never: kernels,
    // not launches, are what the basin is looked through for.
    if (!is_relaunch && time_ms < (of_basin ? basin_.time : std::min(basin_.time, best_time_))) enter(tuning, time_ms);
    best_time_ = std::min(best_time_, time_ms);
    if (!is_relaunch && time_ms <= kRelaunchedWithin * best_time_) look_at_launches(tuning, time_ms);
  }

 private:
  struct Ranked {
    Tuning tuning;
    double cost;  // the model's, not corrected
    Correction::Features features;
  };

  using CostOf = std::function<double(const Ranked&)>;

  struct Basin {
    int number = 0;
    double time = kInfinity;  // time of its best candidate
    Ranked centre;
    std::vector<Ranked> neighbours;
    int pending = 0;  // proposed and not yet reported
    int trials = 0;   // reported
  };

  struct RestartPoint {
    Tuning tuning;
    double time_ms;
  };

  /// Another launch of a kernel that was timed.
  struct Launch {
    Ranked other;
    Ranked timed;
    double time_ms;
  };

  using Kind = std::pair<std::string_view, int>;

  /// What a kind has reached: the candidate that restarts begin near, the best time so far, and the trials reported.
  struct Incumbent {
    Tuning tuning;
    double best_time = kInfinity;
    int trials = 0;
  };

  static Kind kind_of(const Tuning& tuning) { return {template_of(tuning), tuning.steps}; }

  Ranked rank(const Tuning& tuning) { return {tuning, model_.cost(tuning), correction_.features(tuning)}; }
  double corrected(const Ranked& ranked) const { return ranked.cost * correction_.factor(ranked.features); }
  double among_fast(const Ranked& ranked) const { return ranked.cost * correction_.factor_of_fast(ranked.features); }
  double drawn(const Ranked& ranked) const { return ranked.cost * correction_.drawn_factor(ranked.features); }

  CostOf by(double (Local::*cost)(const Ranked&) const) const {
    return [this, cost](const Ranked& ranked) { return (this->*cost)(ranked); };
  }

  void look_at_launches(const Tuning& tuning, double time_ms) {
    const Ranked timed = rank(tuning);
    for (const Tuning& other : space_->relaunches(tuning)) {
      if (!taken_.contains(other)) relaunches_.push_back({rank(other), timed, time_ms});
    }
  }

  void prepare() {
    prepared_ = true;
    fill_pool();
    choose_starts();
  }

  void fill_pool() {
    filled_at_ = proposals_;
    pool_.clear();
    CandidateSet sampled;
    int missed = 0;
    for (int i = 0; i < kPoolSamples && missed < kMostMissed && !(i > 0 && thinking_.is_over(kFillShare)); ++i) {
      const auto tuning = space_->sample(random_);
      missed = tuning ? 0 : missed + 1;
      if (tuning && sampled.add(*tuning) && !taken_.contains(*tuning)) pool_.push_back(rank(*tuning));
    }
    sort_by_cost(pool_);
  }

  static void sort_by_cost(std::vector<Ranked>& list) {
    std::stable_sort(list.begin(), list.end(), [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  }

  // Alternates between where a walk leads and the best of the sample. Draws another sample where neither is worth a
  // trial.
  std::optional<Tuning> propose_from_pool() {
    pool_walks_ = !pool_walks_;
    if (!pool_walks_) correction_.draw(random_);
    const auto propose = [&] {
      return pool_walks_ ? walk_from_pool() : take_best(pool_, by(&Local::drawn), kPoolWithin * best_time_);
    };
    auto tuning = propose();
    if (!tuning && proposals_ - filled_at_ >= fill_every_) {
      fill_pool();
      tuning = propose();
      if (!tuning) fill_every_ *= 2;
    }
    return tuning;
  }

  // The lowest candidate that was not proposed before, on the way downhill from the best that is left of the sample.
  std::optional<Tuning> walk_from_pool() {
    const auto cost = [&](const Tuning& tuning) { return among_fast(rank(tuning)); };
    for (int walk = 0; walk < kPoolWalks; ++walk) {
      const auto best = remove_best(pool_, by(&Local::among_fast), kInfinity);
      if (!best) return std::nullopt;
      std::optional<Tuning> lowest;
      for (std::optional<Tuning> at = best->tuning; at; at = step_down(*space_, *at, cost)) {
        if (!taken_.contains(*at)) lowest = at;
      }
      if (!lowest || cost(*lowest) > kPoolWithin * best_time_) continue;
      if (corrected(rank(*lowest)) <= kWalkWithin * best_time_ && taken_.add(*lowest)) return lowest;
    }
    return std::nullopt;
  }

  void choose_starts() {
    std::vector<Tuning> sample;
    for (const Ranked& ranked : pool_) sample.push_back(ranked.tuning);
    std::vector<Ranked> optima;
    for (const Tuning& tuning : optima_of_templates(*space_, model_, sample, thinking_)) optima.push_back(rank(tuning));
    sort_by_cost(optima);
    for (const Ranked& optimum : optima) {
      if (optimum.cost <= kHopelessStart * optima.front().cost) starts_.push_back(optimum.tuning);
    }
  }

  std::optional<Tuning> propose_from_basin(double worth) {
    for (int tries = 0; tries < kRestartTries; ++tries) {
      const bool hopeless = basin_.trials >= kHopelessAfter && basin_.time > best_time_ * kHopelessFactor;
      if (!hopeless) {
        if (auto tuning = take_neighbour(worth * corrected(basin_.centre))) {
          asked_in_basin_[code(*tuning)] = basin_.number;
          ++basin_.pending;
          return tuning;
        }
        if (basin_.pending > 0) return std::nullopt;  // its last reports may still find a better centre
      }
      if (!restart()) return std::nullopt;
    }
    return std::nullopt;
  }

  // The neighbour that should be fastest by what fast trials teach, of those whose corrected cost is within the limit.
  std::optional<Tuning> take_neighbour(double limit) {
    const auto cost = [&](const Ranked& ranked) { return corrected(ranked) <= limit ? among_fast(ranked) : kInfinity; };
    return take_best(basin_.neighbours, cost, std::numeric_limits<double>::max());
  }

  // Removes and returns the candidate with the least cost; nothing when all that is left costs more than the
  // limit.
  std::optional<Ranked> remove_best(std::vector<Ranked>& list, const CostOf& cost_of, double limit) const {
    auto best = list.end();
    double least = limit;
    for (auto candidate = list.begin(); candidate != list.end(); ++candidate) {
      const double cost = cost_of(*candidate);
      if (best == list.end() ? cost <= least : cost < least) best = candidate, least = cost;
    }
    if (best == list.end()) return std::nullopt;
    Ranked removed = std::move(*best);
    list.erase(best);
    return removed;
  }

  // The same among those that were not proposed before.
  std::optional<Tuning> take_best(std::vector<Ranked>& list, const CostOf& cost_of, double limit) {
    while (const auto best = remove_best(list, cost_of, limit)) {
      if (taken_.add(best->tuning)) return best->tuning;
    }
    return std::nullopt;
  }

  // Makes a candidate the centre of the basin.
  void enter(const Tuning& tuning, double time_ms) {
    basin_.centre = rank(tuning);
    basin_.time = time_ms;
    basin_.neighbours.clear();
    for (const Tuning& neighbour : space_->neighbours(tuning)) {
      if (!taken_.contains(neighbour)) basin_.neighbours.push_back(rank(neighbour));
    }
  }

  // Leaves the basin for another. False when there is nowhere to start from.
  bool restart() {
    if (!std::isfinite(best_time_)) return false;
    if (std::isfinite(basin_.time)) leave();
    const int number = basin_.number + 1;
    basin_ = Basin{};
    basin_.number = number;
    const auto distant = number % kDistantRestartEvery == 0 ? fastest_restart_point() : std::nullopt;
    if (distant) {
      enter(distant->tuning, distant->time_ms);
    } else {
      enter_near(choose_incumbent());
    }
    return true;
  }

  void leave() {
    Incumbent& incumbent = incumbents_[kind_of(basin_.centre.tuning)];
    if (basin_.time <= incumbent.best_time * kAcceptWithin) incumbent.tuning = basin_.centre.tuning;
    centres_.push_back(basin_.centre.tuning);
    const auto near = [&](const RestartPoint& point) {
      return differences(point.tuning, basin_.centre.tuning) < kDistant;
    };
    restart_points_.erase(std::remove_if(restart_points_.begin(), restart_points_.end(), near), restart_points_.end());
  }

  bool far_from_centres(const Tuning& tuning) const {
    return std::all_of(centres_.begin(), centres_.end(),
                       [&](const Tuning& centre) { return differences(tuning, centre) >= kDistant; });
  }

  std::optional<RestartPoint> fastest_restart_point() const {
    const auto fastest =
        std::min_element(restart_points_.begin(), restart_points_.end(),
                         [](const RestartPoint& a, const RestartPoint& b) { return a.time_ms < b.time_ms; });
    if (fastest == restart_points_.end() || fastest->time_ms > kDistantWithin * best_time_) return std::nullopt;
    return *fastest;
  }

  // Enters a basin a few random steps away.
  void enter_near(Tuning tuning) {
    const int steps = std::uniform_int_distribution<int>(2, kPerturbationSteps)(random_);
    for (int step = 0; step < steps; ++step) {
      const std::vector<Tuning> neighbours = space_->neighbours(tuning);
      if (neighbours.empty()) break;
      tuning = neighbours[std::uniform_int_distribution<std::size_t>(0, neighbours.size() - 1)(random_)];
    }
    enter(tuning, kInfinity);
    if (!taken_.contains(tuning)) basin_.neighbours.push_back(rank(tuning));
  }

  // Fast incumbents and those of kinds with few trials are drawn most often. That of the best candidate of all is
  // always among them.
  Tuning choose_incumbent() {
    std::vector<Tuning> incumbents;
    std::vector<double> weights;
    for (const auto& [kind, incumbent] : incumbents_) {
      const double slower = incumbent.best_time / best_time_;
      if (slower > kIncumbentWithin) continue;
      incumbents.push_back(incumbent.tuning);
      weights.push_back(std::exp((1 - slower) / kIncumbentScale) / incumbent.trials);
    }
    return incumbents[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random_)];
  }

  std::shared_ptr<const SearchSpace> space_;
  const CostModel& model_;
  std::mt19937_64 random_;
  Scan scan_;
  Thinking thinking_;
  CandidateSet taken_;  // proposed or known
  Correction correction_;
  bool prepared_ = false;
  std::deque<Tuning> starts_;
  std::vector<Ranked> pool_;
  Basin basin_;
  std::map<std::string, int> asked_in_basin_;  // code of a pending proposal -> number of its basin
  double best_time_ = kInfinity;
  std::map<Kind, Incumbent> incumbents_;
  std::vector<Tuning> centres_;               // centres of the basins that were left
  std::vector<RestartPoint> restart_points_;  // far from all of these
  std::vector<Launch> relaunches_;            // launches of fast kernels
  std::set<std::string> relaunched_;          // codes of pending relaunches
  int proposals_ = 0;
  int filled_at_ = 0;
  int fill_every_ = kFillEvery;
  bool pool_walks_ = false;
};

}  // namespace

std::unique_ptr<Strategy> make_local(const Space& space, const CostModel& model, std::uint64_t seed,
                                     Thinking thinking) {
  return make_local(std::make_shared<LegalCandidates>(space), model, seed, std::move(thinking));
}

std::unique_ptr<Strategy> make_local(std::shared_ptr<const SearchSpace> space, const CostModel& model,
                                     std::uint64_t seed, Thinking thinking) {
  return std::make_unique<Local>(std::move(space), model, seed, std::move(thinking));
}

}  // namespace stencil_tune
