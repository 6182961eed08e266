// What a session tries, by its settings.
#include "tuner/session/assembly.hpp"

#include "generator/definition/definition.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "stencil_tune/error.hpp"
#include "tests/tuner/session/session_fakes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

Target h200() {
  Target target;
  target.model = find_device_model("h200");
  target.architecture = target.model.architecture;
  target.limits = limits_of_architecture(target.architecture);
  return target;
}

TEST(StencilSearch, ProposesTheCandidatesThatAreAskedForAndNoOthers) {
  const Problem problem = testing::star(1, 64);
  TuningSettings settings;
  settings.candidates = {"direct.bx64.by2", "pmpp-tiled"};
  const StencilSearch search(problem, h200(), settings, nullptr);
  EXPECT_TRUE(search.warm_starts.empty());
  std::vector<std::string> proposed;
  while (const auto tuning = search.strategy->propose()) proposed.push_back(code(*tuning));
  EXPECT_EQ(proposed, (std::vector<std::string>{"direct.bx64.by2", code(search.asked.at(1))}));
  EXPECT_EQ(search.asked.at(1).family->name, "tiled");
}

TEST(StencilSearch, RefusesAKernelOfTheTextbookThatTheProblemHasNot) {
  const Problem problem = testing::star(5, 512);
  TuningSettings settings;
  settings.candidates = {"pmpp-tiled"};
  EXPECT_THROW(StencilSearch(problem, h200(), settings, nullptr), Error);
}

TEST(StencilSearch, StartsFromWinnersThatShip) {
  const Problem problem = testing::star(1, 512);
  const StencilSearch search(problem, h200(), {}, nullptr);
  EXPECT_TRUE(search.asked.empty());
  EXPECT_FALSE(search.warm_starts.empty());
  EXPECT_TRUE(search.strategy->propose());
}

TEST(StencilSearch, OfARaceStartsWithWhatWouldRunUntunedAndTheFewThatTheModelLikesAsWell) {
  Problem problem = testing::star(1, 500);
  problem.steps = 100;
  TuningSettings settings;
  const StencilSearch usual(problem, h200(), settings, nullptr);
  settings.session.race_against.emplace();
  const StencilSearch race(problem, h200(), settings, nullptr);
  ASSERT_TRUE(race.untuned);
  EXPECT_EQ(race.warm_starts.front(), *race.untuned);
  EXPECT_EQ(std::count(race.warm_starts.begin(), race.warm_starts.end(), *race.untuned), 1);
  EXPECT_GT(race.warm_starts.size(), 1u);
  EXPECT_LT(race.warm_starts.size(), usual.warm_starts.size());
  for (const Tuning& tuning : usual.warm_starts) {
    const bool is_kept = std::find(race.warm_starts.begin(), race.warm_starts.end(), tuning) != race.warm_starts.end();
    const double cost = race.model.cost(tuning) / race.model.cost(*race.untuned);
    EXPECT_TRUE(is_kept || cost > 1.2) << code(tuning);
    EXPECT_FALSE(is_kept && cost > 2) << code(tuning);
  }
}

TEST(StencilSearch, StartsWithTheWinnersThatFuseSteps) {
  const auto fuses = [](const Tuning& tuning) { return tuning.family->fuses_steps; };
  Problem problem = testing::star(1, 512);
  problem.steps = 100;
  const StencilSearch search(problem, h200(), {}, nullptr);
  EXPECT_TRUE(fuses(search.warm_starts.front()));
  EXPECT_FALSE(fuses(search.warm_starts.back()));
  EXPECT_TRUE(std::is_partitioned(search.warm_starts.begin(), search.warm_starts.end(), fuses));
  EXPECT_FALSE(search.drawn);
}

TEST(StencilSearch, StartsWithAKernelThatFusesStepsWhereNoWinnerDoes) {
  // No winner of this type ships.
  const Stencil lbm = load_definition("corpus/lbm_d3q19.toml");
  const Problem problem = make_problem(lbm, ElementType::bf16, {}, {3, {128, 128, 128}}, 0, 100, 0);
  const StencilSearch search(problem, h200(), {}, nullptr);
  ASSERT_FALSE(search.warm_starts.empty());
  const Tuning& first = search.warm_starts.front();
  EXPECT_EQ(first, search.drawn);
  EXPECT_EQ(first.family->name, "system");
  EXPECT_EQ(first.steps, 2) << "the fewest";
  EXPECT_EQ(first.unroll, 1);
  EXPECT_EQ(first.register_y, 1);
  EXPECT_TRUE(search.space.legal(first));
}

TEST(StencilSearch, OfAFormThatNeverWonStartsFromWhatTheLibraryWouldRun) {
  Problem problem = testing::star(3, 512);
  problem.steps = 100;
  const StencilSearch search(problem, h200(), {}, nullptr);
  const LookupTarget here{
      .gpu = "NVIDIA H200", .architecture = "sm_90", .driver = {}, .limits = limits_of_architecture("sm_90")};
  EXPECT_FALSE(choose_winner(problem, here, search.winners)) << "else the test needs another stencil";
  const Tuning untuned = predict_choice(problem, here, search.winners).value().tuning;
  const auto of_its_kind =
      std::find_if(search.warm_starts.begin(), search.warm_starts.end(), [&](const Tuning& tuning) {
        return tuning.family->fuses_steps == untuned.family->fuses_steps;  // those that fuse come first
      });
  ASSERT_NE(of_its_kind, search.warm_starts.end());
  EXPECT_EQ(*of_its_kind, untuned);
}

}  // namespace
}  // namespace stencil_tune
