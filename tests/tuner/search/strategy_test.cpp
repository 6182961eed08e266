#include "tests/tuner/search/random_search.hpp"
#include "tests/tuner/session/session_fakes.hpp"

#include "generator/kernel_source/source.hpp"
#include "runtime/model/model.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/search/correction.hpp"
#include "tuner/search/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace stencil_tune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class StrategyTest : public ::testing::Test {
 protected:
  std::vector<std::pair<std::string, std::function<std::unique_ptr<Strategy>(std::uint64_t)>>> all() {
    return {{"exhaustive", [this](std::uint64_t) { return make_exhaustive(space); }},
            {"random", [this](std::uint64_t seed) { return make_random(space, seed); }},
            {"local", [this](std::uint64_t seed) { return make_local(space, model, seed); }}};
  }

  // What a GPU might say: the model, wrong by a factor for some parameter values and by noise for each candidate.
  double truth(const Tuning& tuning) const {
    double time = model.cost(tuning);
    if (tuning.store == StoreHint::streaming) time *= 1.07;
    if (tuning.neighbours == Neighbours::shuffle) time *= 0.93;
    if (tuning.order == BlockOrder::raster) time *= 0.96;
    if (tuning.family->name == "tiled") time *= 1.2;
    if (tuning.block_y == 8) time *= 0.97;
    if (tuning.unroll == 2) time *= 0.96;
    if (tuning.load == LoadHint::read_only) time *= 0.98;
    if (std::hash<std::string>{}(code(tuning)) % 11 == 0) return kInfinity;
    return time * (1 + static_cast<double>(std::hash<std::string>{}("n" + code(tuning)) % 100) / 5000);
  }

  // The best of `trials` candidates when `ahead` of them are always being compiled.
  double search(Strategy& strategy, int trials, std::size_t ahead = 1) const {
    std::deque<Tuning> pending;
    double best = kInfinity;
    for (int done = 0; done < trials; ++done) {
      while (pending.size() < ahead) {
        const auto proposed = strategy.propose();
        if (!proposed) break;
        pending.push_back(*proposed);
      }
      if (pending.empty()) break;
      const double time = truth(pending.front());
      best = std::min(best, time);
      strategy.report(pending.front(), time);
      pending.pop_front();
    }
    return best;
  }

  Problem problem = testing::star(1, 512);
  Limits limits = limits_of_architecture("sm_90");
  Space space{problem, limits};
  PerformanceModel model{problem, limits, find_device_model("h200")};
};

TEST_F(StrategyTest, ProposesLegalCandidatesAndNoneTwice) {
  for (const auto& [name, make] : all()) {
    const auto strategy = make(1);
    std::set<std::string> seen;
    for (int i = 0; i < 300; ++i) {
      const auto tuning = strategy->propose();
      ASSERT_TRUE(tuning) << name;
      EXPECT_TRUE(space.legal(*tuning)) << name << " " << code(*tuning);
      EXPECT_TRUE(seen.insert(code(*tuning)).second) << name << " " << code(*tuning);
      if (i % 3 == 0) strategy->report(*tuning, truth(*tuning));
    }
  }
}

TEST_F(StrategyTest, NeverProposesWhatIsKnown) {
  for (const auto& [name, make] : all()) {
    std::set<std::string> known;
    const auto first = make(1);
    const auto second = make(1);
    for (int i = 0; i < 60; ++i) {
      const Tuning tuning = *first->propose();
      first->report(tuning, truth(tuning));
      second->report(tuning, truth(tuning));
      known.insert(code(tuning));
    }
    for (int i = 0; i < 200; ++i) EXPECT_EQ(known.count(code(*second->propose())), 0u) << name;
  }
}

TEST_F(StrategyTest, TheSameSeedAndReportsGiveTheSameProposals) {
  for (const auto& [name, make] : all()) {
    const auto a = make(7), b = make(7);
    for (int i = 0; i < 150; ++i) {
      const Tuning tuning = *a->propose();
      ASSERT_EQ(code(tuning), code(*b->propose())) << name << " at " << i;
      a->report(tuning, truth(tuning));
      b->report(tuning, truth(tuning));
    }
  }
}

/// Where each look takes time of a clock.
class SlowSpace : public SearchSpace {
 public:
  SlowSpace(const Space& space, testing::FakeClock& clock, double look_s)
      : legal_(space), clock_(clock), look_s_(look_s) {}

  std::uint64_t size() const override { return legal_.size(); }
  std::optional<Tuning> at(std::uint64_t number) const override { return look(), legal_.at(number); }
  std::optional<Tuning> sample(std::mt19937_64& random) const override { return look(), legal_.sample(random); }
  std::vector<Tuning> neighbours(const Tuning& tuning) const override { return look(), legal_.neighbours(tuning); }

 private:
  void look() const { clock_.now += look_s_; }

  LegalCandidates legal_;
  testing::FakeClock& clock_;
  double look_s_;
};

TEST_F(StrategyTest, LocalSearchProposesInTimeHoweverLongALookTakes) {
  for (const double look_s : {0.001, 0.1, 2.5}) {
    testing::FakeClock clock;
    int told = 0;
    const auto strategy =
        make_local(std::make_shared<SlowSpace>(space, clock, look_s), model, 1, {clock, 3, [&] { ++told; }});
    const double start = clock.now;
    const auto first = strategy->propose();
    ASSERT_TRUE(first) << look_s;
    EXPECT_LE(clock.now - start, 3 + 2 * look_s) << "a look that has begun comes to its end";
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(space.legal(*first));
    strategy->report(*first, truth(*first));
    EXPECT_TRUE(strategy->has_more());
  }
}

TEST_F(StrategyTest, LocalSearchWithTimeEnoughProposesTheSameAsWithoutAClock) {
  testing::FakeClock clock;
  const auto timed = make_local(std::make_shared<SlowSpace>(space, clock, 1e-6), model, 7, {clock, 3});
  const auto free = make_local(space, model, 7);
  for (int i = 0; i < 50; ++i) {
    const Tuning tuning = *free->propose();
    ASSERT_EQ(code(tuning), code(*timed->propose())) << i;
    for (const auto& each : {timed.get(), free.get()}) each->report(tuning, truth(tuning));
  }
}

TEST_F(StrategyTest, ASmallSpaceIsTriedWholeByEveryStrategyAndThenThereIsNoMore) {
  const Problem line = testing::star(1, 64, ElementType::f64, 1);
  Limits few_threads = limits_of_architecture("sm_70");
  few_threads.max_threads_per_block = 32;
  const Space small(line, few_threads);
  const PerformanceModel small_model(line, few_threads, find_device_model("h200"));
  std::set<std::string> legal;
  for (std::uint64_t number = 0; number < small.size(); ++number) {
    if (const auto tuning = small.at(number)) legal.insert(code(*tuning));
  }
  ASSERT_GT(legal.size(), 10u);
  std::unique_ptr<Strategy> strategies[] = {make_exhaustive(small), make_random(small, 1),
                                            make_local(small, small_model, 1)};
  for (const auto& strategy : strategies) {
    std::set<std::string> proposed;
    while (const auto tuning = strategy->propose()) {
      proposed.insert(code(*tuning));
      strategy->report(*tuning, small_model.cost(*tuning));
    }
    EXPECT_EQ(proposed, legal) << strategy->name();
    EXPECT_FALSE(strategy->has_more());
  }

  // A scan that is cut short goes on where it was.
  testing::FakeClock clock;
  const auto hasty = make_local(std::make_shared<SlowSpace>(small, clock, 1), small_model, 1, {clock, 3});
  std::set<std::string> proposed;
  do {
    while (const auto tuning = hasty->propose()) proposed.insert(code(*tuning));
  } while (hasty->has_more());
  EXPECT_EQ(proposed, legal);
}

TEST_F(StrategyTest, LocalSearchComesNearTheBestThatRandomSearchFindsInAHundredTimesTheTrials) {
  const double reference = search(*make_random(space, 99), 15000);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_LT(search(*make_local(space, model, seed), 150), 1.02 * reference) << "seed " << seed;
  }
}

TEST_F(StrategyTest, LocalSearchWorksWithProposalsFarAheadOfReports) {
  const double reference = search(*make_random(space, 99), 15000);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_LT(search(*make_local(space, model, seed), 200, 18), 1.02 * reference) << "seed " << seed;
  }
}

// Ranks all candidates alike: the search has only the reports.
class Flat : public CostModel {
 public:
  double cost(const Tuning&) const override { return 1; }
};

TEST_F(StrategyTest, LocalSearchBeatsRandomSearchEvenWithAModelThatRanksNothing) {
  const Flat flat;
  double local = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    local += search(*make_local(space, flat, seed), 200);
    random += search(*make_random(space, seed), 200);
  }
  EXPECT_LT(local, random);
}

// Some changes make every kernel slower here, which the model does not know. Every fourth proposal is the best by a
// draw of what the changes may do: bad ones are tried again while that is uncertain, and left alone from then on.
TEST_F(StrategyTest, LocalSearchLeavesChangesAloneThatWereBadBefore) {
  int bad = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto strategy = make_local(space, model, seed);
    for (int i = 0; i < 400; ++i) {
      const Tuning tuning = *strategy->propose();
      const bool slower =
          tuning.store == StoreHint::streaming || tuning.order == BlockOrder::z_first || tuning.cluster > 1;
      strategy->report(tuning, model.cost(tuning) * (slower ? 1.3 : 1));
      if (i >= 200 && slower) ++bad;
    }
  }
  EXPECT_LT(bad, 240) << "of 4000";
}

// Streaming stores make slow kernels slower, and fast ones faster.
TEST_F(StrategyTest, LocalSearchTriesAChangeOnFastCandidatesThoughItWasBadForSlowOnes) {
  double least = kInfinity;
  std::mt19937_64 random(2);
  for (int i = 0; i < 6000; ++i) least = std::min(least, model.cost(*space.sample(random)));
  int good = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto strategy = make_local(space, model, seed);
    for (int i = 0; i < 200; ++i) {
      const Tuning tuning = *strategy->propose();
      const double cost = model.cost(tuning);
      const bool streaming = tuning.store == StoreHint::streaming, fast = cost <= 1.05 * least;
      strategy->report(tuning, cost * (!streaming ? 1 : fast ? 0.95 : 1.3));
      if (i >= 100 && streaming && fast) ++good;
    }
  }
  EXPECT_GT(good, 150) << "of 300";
}

// The templates that are drawn are direct and five of streaming: planes in registers or in a pipeline, both with cells
// or with sums, and pipelines of sums filled by TMA or by threads.
TEST_F(StrategyTest, TheFirstProposalsOfLocalSearchSeeEveryTemplate) {
  const auto strategy = make_local(space, model, 1);
  std::set<std::string_view> seen;
  for (int i = 0; i < 6; ++i) seen.insert(template_of(*strategy->propose()));
  EXPECT_EQ(seen.size(), 6u);
}

TEST_F(StrategyTest, LocalSearchStartsFromTheModelsOptimumOfEachTemplateTheBestFirst) {
  std::vector<Tuning> starts;
  const auto strategy = make_local(space, model, 1);
  for (int i = 0; i < 6; ++i) starts.push_back(*strategy->propose());
  const auto costs_less = [&](const Tuning& a, const Tuning& b) { return model.cost(a) < model.cost(b); };
  EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end(), costs_less));
  std::map<std::string_view, double> best_of_sample;
  std::mt19937_64 random(2);
  for (int i = 0; i < 6000; ++i) {
    const Tuning tuning = *space.sample(random);
    double& best = best_of_sample.try_emplace(template_of(tuning), kInfinity).first->second;
    best = std::min(best, model.cost(tuning));
  }
  for (const Tuning& start : starts) {
    EXPECT_LE(model.cost(start), best_of_sample[template_of(start)]) << code(start);
    for (const Tuning& neighbour : space.neighbours(start)) {
      if (template_of(neighbour) != template_of(start)) continue;
      EXPECT_GE(model.cost(neighbour), model.cost(start)) << code(neighbour);
    }
  }
}

// The model's landscape of fused steps is rugged: a few walks miss its best optimum. Kernels of one step take a
// multiple of its time.
TEST_F(StrategyTest, LocalSearchStartsFromTheModelsBestFusedStepsWhateverTheSeedAndTriesNoSingleSteps) {
  Problem run = testing::star(1, 512);
  run.steps = 100;
  const Space fused(run, limits);
  const PerformanceModel fused_model(run, limits, find_device_model("h200"));
  std::vector<double> first;  // cost of each seed's
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto strategy = make_local(fused, fused_model, seed);
    for (int i = 0; i < 25; ++i) {
      const Tuning tuning = *strategy->propose();
      const double cost = fused_model.cost(tuning);
      if (i == 0) first.push_back(cost);
      EXPECT_LE(cost, 2 * first.back()) << code(tuning);
      strategy->report(tuning, cost);
    }
  }
  const double least = *std::min_element(first.begin(), first.end());
  for (const double cost : first) EXPECT_LE(cost, 1.02 * least);
}

/// Other launches of kernels that were reported.
class Relaunches : public StrategyTest {
 protected:
  static Problem run_of_100() {
    Problem run = testing::star(1, 512);
    run.steps = 100;
    return run;
  }

  static constexpr const char* kFast = "temporal.bx32.by8.rx2.ry4.v2.pf3.t4.ch8.u2";
  static constexpr const char* kSlow = "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.ch8.u2";
  const Problem run = run_of_100();
  const Space fused{run, limits};
  const PerformanceModel fused_model{run, limits, find_device_model("h200")};
  std::unique_ptr<Strategy> strategy = make_local(fused, fused_model, 1);

  std::optional<Relaunch<Tuning>> next() {
    return strategy->propose_relaunch([](const Tuning&) { return true; });
  }
};

TEST_F(Relaunches, AreOfFastKernelsAndOfferedOnce) {
  EXPECT_FALSE(next()) << "nothing was reported";
  strategy->report(parse_code(kFast), 1);
  strategy->report(parse_code(kSlow), 1.2);
  std::set<std::string> offered{kFast};
  while (const auto relaunch = next()) {
    EXPECT_EQ(code(relaunch->compiled), kFast);
    EXPECT_TRUE(offered.insert(code(relaunch->candidate)).second) << code(relaunch->candidate);
    Tuning same = relaunch->candidate;
    same.chunks = relaunch->compiled.chunks;
    EXPECT_EQ(code(same), kFast);
    strategy->report(relaunch->candidate, 1.01);
  }
  EXPECT_GT(offered.size(), 2u);
  for (int i = 0; i < 200; ++i) {
    const Tuning proposed = *strategy->propose();
    EXPECT_EQ(offered.count(code(proposed)), 0u) << code(proposed);
    strategy->report(proposed, 2);
  }
}

TEST_F(Relaunches, AreOfCompiledKernelsAlone) {
  strategy->report(parse_code(kFast), 1);
  EXPECT_FALSE(strategy->propose_relaunch([](const Tuning&) { return false; })) << "known from an earlier session";
  EXPECT_TRUE(next());
}

TEST_F(Relaunches, ThatShouldBeFarFromTheBestAreNotOffered) {
  strategy->report(parse_code(kFast), 1);
  strategy->report(parse_code("temporal.bx32.by12.rx2.ry4.v2.pf3.t4.ch6.u2"), 0.7);
  while (const auto relaunch = next()) {
    EXPECT_NE(code(relaunch->compiled), kFast) << code(relaunch->candidate);
  }
}

/// A fast candidate far from the best one of the same template, both without a good neighbour: the share of its
/// neighbours that local search tries.
class RestartPoint : public StrategyTest {
 protected:
  const Tuning best = parse_code("direct.bx32.by8.rx4.ry2.rz4.v4.mb2");
  const Tuning distant = parse_code("direct.bx128.by1.bz4.rz2.raster.ldcg.stcs");

  double tried_around(double time) const {
    const Flat flat;
    const auto strategy = make_local(space, flat, 1);
    strategy->report(best, 1);
    strategy->report(distant, time);
    std::set<std::string> around;
    for (const Tuning& neighbour : space.neighbours(distant)) around.insert(code(neighbour));
    double tried = 0;
    for (int i = 0; i < 250; ++i) {
      const Tuning tuning = *strategy->propose();
      tried += around.count(code(tuning)) > 0 ? 1 : 0;
      strategy->report(tuning, 2);
    }
    return tried / static_cast<double>(around.size());
  }
};

TEST_F(RestartPoint, IsSearchedAroundWhereItIsNearTheBest) { EXPECT_GT(tried_around(1.05), 0.2); }

TEST_F(RestartPoint, IsLeftAloneWhereItIsFarFromTheBest) { EXPECT_LT(tried_around(1.2), 0.05); }

/// How many trials local search spends on each template, where all candidates of a template take the same time.
class Templates : public StrategyTest {
 protected:
  static constexpr std::string_view kDirect = "direct.cuh";
  static constexpr std::string_view kRing = "streaming/streaming_ring.cuh";
  static constexpr std::string_view kRingOfSums = "streaming/streaming_ring_sums.cuh";

  std::map<std::string_view, int> trials_of(const std::map<std::string_view, double>& times,
                                            int trials_in_all = 300) const {
    const auto strategy = make_local(space, model, 1);
    std::map<std::string_view, int> trials;
    for (int i = 0; i < trials_in_all; ++i) {
      const auto tuning = strategy->propose();
      if (!tuning) break;
      const auto known = times.find(template_of(*tuning));
      const double noise = 1 + static_cast<double>(std::hash<std::string>{}(code(*tuning)) % 100) / 1e5;
      strategy->report(*tuning, noise * (known == times.end() ? 3 : known->second));
      ++trials[template_of(*tuning)];
    }
    return trials;
  }
};

TEST_F(Templates, AreAllSearchedWhoseBestIsNearTheBest) {
  auto trials = trials_of({{kDirect, 1.0}, {kRing, 1.03}, {kRingOfSums, 1.06}}, 450);
  EXPECT_GT(trials[kDirect], 30);
  EXPECT_GT(trials[kRing], 30);
  EXPECT_GT(trials[kRingOfSums], 30);
}

TEST_F(Templates, AreLeftAloneWhereTheyAreFarFromTheBest) {
  auto trials = trials_of({{kRingOfSums, 1.0}}, 2000);
  EXPECT_GT(trials[kRingOfSums], 1850);
}

// Basins alone stay near the few incumbents that restarts begin at.
TEST_F(Templates, AreSampledAgainWhenNothingOfTheFirstSampleIsWorthATrial) {
  const auto strategy = make_local(space, model, 1);
  std::set<std::tuple<int, int, int, int>> tiles;
  for (int i = 0; i < 3000; ++i) {
    const Tuning tuning = *strategy->propose();
    strategy->report(tuning, template_of(tuning) == kRing ? 1 : 3);
    if (i >= 2000 && template_of(tuning) == kRing) {
      tiles.insert({tuning.block_x, tuning.block_y, tuning.register_x, tuning.register_y});
    }
  }
  EXPECT_GT(tiles.size(), 100u);
}

TEST(Correction, TeachesMoreAboutTheKindThatWasTriedThanAboutOthers) {
  Correction correction;
  const auto factor = [&](const char* text) { return correction.factor(correction.features(parse_code(text))); };
  for (int i = 0; i < 300; ++i) {
    correction.learn(correction.features(parse_code("streaming.bx32.by8.cz64.ring.sums.pf4.stcs")), 1.5, 1);
    correction.learn(correction.features(parse_code("streaming.bx32.by8.cz64.ring.sums.pf1")), 1, 1);
  }
  EXPECT_NEAR(factor("streaming.bx32.by8.cz64.ring.sums.pf4.stcs"), 1.5, 0.01);
  EXPECT_NEAR(factor("streaming.bx32.by8.cz64.ring.sums.pf1"), 1, 0.01);
  const double own =
      std::log(factor("streaming.bx64.by4.cz16.ring.sums.pf4") / factor("streaming.bx64.by4.cz16.ring.sums.pf1"));
  const double other =
      std::log(factor("streaming.bx64.by4.cz16.ring.pf4") / factor("streaming.bx64.by4.cz16.ring.pf1"));
  EXPECT_GT(own, 0.1);
  EXPECT_NEAR(other, own / 2, 0.01) << "what all kinds share";
}

TEST(Correction, LearnsWhatAChangeDoesInTwoTrials) {
  Correction correction;
  const auto learn = [&](const char* text, double measured) {
    correction.learn(correction.features(parse_code(text)), measured, 1);
  };
  const auto factor = [&](const char* text) { return correction.factor(correction.features(parse_code(text))); };
  learn("direct.bx32.by8", 1);
  learn("direct.bx64.by8", 1);
  learn("direct.bx32.by8.stcs", 1.3);
  learn("direct.bx64.by8.stcs", 1.3);
  EXPECT_GT(factor("direct.bx128.by4.stcs") / factor("direct.bx128.by4"), 1.1);
  EXPECT_NEAR(factor("direct.bx64.by8") / factor("direct.bx32.by8"), 1, 0.02);
}

// Streaming stores make slow candidates slower, and fast ones faster.
TEST(Correction, OfFastCandidatesIsTaughtLittleBySlowOnes) {
  Correction correction;
  const auto learn = [&](const char* text, double measured, double predicted) {
    correction.learn(correction.features(parse_code(text)), measured, predicted);
  };
  const auto slow = [&] {
    learn("direct.bx32.by8", 1.3, 1.3);
    learn("direct.bx32.by8.stcs", 1.56, 1.3);
  };
  const auto effect = [&](double (Correction::*factor)(const Correction::Features&) const) {
    return (correction.*factor)(correction.features(parse_code("direct.bx64.by4.stcs"))) /
           (correction.*factor)(correction.features(parse_code("direct.bx64.by4")));
  };
  for (int i = 0; i < 10; ++i) slow();
  EXPECT_GT(effect(&Correction::factor_of_fast), 1.05) << "as long as nothing faster is known";
  for (int i = 0; i < 5; ++i) {
    learn("direct.bx64.by4", 1, 1);
    learn("direct.bx64.by4.stcs", 0.95, 1);
    slow();
  }
  EXPECT_GT(effect(&Correction::factor), 1.05);
  EXPECT_LT(effect(&Correction::factor_of_fast), 1);
}

// A cluster of 8 blocks may wait for a GPC for long, whatever else the candidate is like.
TEST(Correction, OfTheFirstTrialsIsTaughtLittleByOneThatIsSixTimesSlowerThanThought) {
  Correction correction;
  const auto learn = [&](const char* text, double measured) {
    correction.learn(correction.features(parse_code(text)), measured, 1);
  };
  learn("streaming.bx32.by8.cz64.ring.sums.cl8", 6);
  learn("direct.bx32.by8", 1);
  learn("direct.bx64.by4", 1);
  EXPECT_LT(correction.factor(correction.features(parse_code("streaming.bx64.by4.cz16.ring.sums"))), 1.2);
}

TEST_F(StrategyTest, ListedCandidatesComeInOrderOnceAndNoOthers) {
  const Tuning first = parse_code("direct.bx64.by2"), second = parse_code("direct.bx32.by8");
  const auto listed = make_listed(space, {first, second, first});
  EXPECT_EQ(listed->propose(), first);
  EXPECT_EQ(listed->propose(), second);
  EXPECT_EQ(listed->propose(), std::nullopt);
  const auto known = make_listed(space, {first, second});
  known->report(first, 1);
  EXPECT_EQ(known->propose(), second);
}

TEST_F(StrategyTest, AListedCandidateThatIsIllegalIsRefusedByName) {
  try {
    make_listed(space, {parse_code("direct.bx2048.by1")});
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::illegal_candidate);
    EXPECT_NE(std::string(error.what()).find("threads_per_block"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace stencil_tune
