#include "tuner/search/strategies/strategies.hpp"

#include "stencil_tune/error.hpp"
#include "tests/tuner/replay/small_spaces.hpp"
#include "tuner/replay/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace stencil_tune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Everything that it proposes, each told its time at once.
std::vector<Configuration> all_proposals(const RecordedSpace& space, std::string_view strategy, std::uint64_t seed) {
  std::vector<Configuration> proposals;
  const auto search = make_table_strategy(strategy, space.table, seed);
  while (const auto proposed = search->propose()) {
    proposals.push_back(*proposed);
    search->report(*proposed, space.evaluations.at(*proposed).time_ms);
    if (proposals.size() > space.table.size()) break;
  }
  return proposals;
}

std::size_t evaluations_until_the_optimum(const RecordedSpace& space, const std::vector<Configuration>& proposals) {
  const auto slower = [&](const ConfigurationRecord& a, const ConfigurationRecord& b) { return a.time_ms < b.time_ms; };
  const auto optimum = std::min_element(space.evaluations.begin(), space.evaluations.end(), slower);
  const auto found = std::find_if(proposals.begin(), proposals.end(), [&](Configuration each) {
    return space.evaluations[each].time_ms == optimum->time_ms;
  });
  return static_cast<std::size_t>(found - proposals.begin()) + 1;
}

class EveryStrategyTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EveryStrategyTest, ProposesEachLegalConfigurationOnceAndNoOther) {
  const RecordedSpace space = bowl();
  const auto proposals = all_proposals(space, GetParam(), 1);
  EXPECT_EQ(proposals.size(), space.table.size());
  EXPECT_EQ(std::set(proposals.begin(), proposals.end()).size(), space.table.size());
  EXPECT_LT(*std::max_element(proposals.begin(), proposals.end()), space.table.size());
}

TEST_P(EveryStrategyTest, IsMadeReproducibleByItsSeed) {
  const RecordedSpace space = bowl();
  EXPECT_EQ(all_proposals(space, GetParam(), 7), all_proposals(space, GetParam(), 7));
  EXPECT_NE(all_proposals(space, GetParam(), 7), all_proposals(space, GetParam(), 8));
}

TEST_P(EveryStrategyTest, FindsTheOptimumSoonerThanRandomSearch) {
  if (GetParam() == "random") return;
  const RecordedSpace space = bowl();
  std::size_t evaluations = 0;
  constexpr std::uint64_t kRuns = 20;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    evaluations += evaluations_until_the_optimum(space, all_proposals(space, GetParam(), seed));
  }
  EXPECT_LT(evaluations, kRuns * space.table.size() * 2 / 5) << "random search takes half of the table";
}

TEST_P(EveryStrategyTest, ProposesAheadOfReports) {
  const RecordedSpace space = bowl();
  const auto search = make_table_strategy(GetParam(), space.table, 3);
  std::set<Configuration> proposed;
  std::vector<Configuration> waiting;
  while (const auto next = search->propose()) {
    EXPECT_TRUE(proposed.insert(*next).second) << *next;
    waiting.push_back(*next);
    if (waiting.size() < 9) continue;
    search->report(waiting[4], space.evaluations[waiting[4]].time_ms);  // not in their order
    waiting.erase(waiting.begin() + 4);
  }
  EXPECT_EQ(proposed.size(), space.table.size());
}

TEST_P(EveryStrategyTest, LearnsOfTimesThatItDidNotAskFor) {
  const RecordedSpace space = bowl();
  const auto search = make_table_strategy(GetParam(), space.table, 3);
  for (Configuration known = 0; known < 40; ++known) search->report(known, space.evaluations[known].time_ms);
  for (int i = 0; i < 60; ++i) {
    const auto next = search->propose();
    ASSERT_TRUE(next);
    EXPECT_GE(*next, 40U);
    search->report(*next, space.evaluations[*next].time_ms);
  }
}

TEST_P(EveryStrategyTest, GoesOnWhereNothingWorks) {
  const RecordedSpace space = bowl();
  const auto search = make_table_strategy(GetParam(), space.table, 3);
  std::size_t count = 0;
  for (; const auto next = search->propose(); ++count) search->report(*next, kInfinity);
  EXPECT_EQ(count, space.table.size());
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const NamedStrategy& strategy : table_strategies()) all.push_back(strategy.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategyTest, ::testing::ValuesIn(names()), [](const auto& test) {
  std::string name(test.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(TableStrategiesTest, EachIsNamedAsItNamesItself) {
  const RecordedSpace space = bowl();
  for (const std::string_view name : names()) EXPECT_EQ(make_table_strategy(name, space.table, 1)->name(), name);
}

TEST(TableStrategiesTest, UnknownNamesSuggestTheNearest) {
  const RecordedSpace space = bowl();
  try {
    make_table_strategy("genetik", space.table, 1);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unknown_name);
    EXPECT_NE(std::string(error.what()).find("'genetic'"), std::string::npos);
  }
}

TEST(TableStrategiesTest, TheDefaultIsAsGoodOnTwoSmallSpacesAsItWas) {
  const std::pair<RecordedSpace, double> spaces[] = {{bowl(), 0.8}, {ridge(), 0.75}};
  for (const auto& [space, least] : spaces) {
    const RandomBaseline baseline(space);
    EXPECT_GT(score_of(baseline, replay(space, baseline, table_strategies().front().name, 20, 1)).mean, least)
        << space.name;
  }
}

}  // namespace
}  // namespace stencil_tune
