#include "tuner/search/strategies/configuration_table.hpp"

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace stencil_tune {
namespace {

using Places = std::vector<ValueIndex>;

// x in 1, 2, 4, 8 and a path in copy, direct; 8 is for copy alone.
ConfigurationTable small_table() {
  return {{{"x", {"1", "2", "4", "8"}}, {"path", {"copy", "direct"}, false}},
          {0, 0, 1, 0, 2, 0, 3, 0, 0, 1, 1, 1, 2, 1}};
}

TEST(ConfigurationTableTest, FindsWhatIsLegalAndNothingElse) {
  const ConfigurationTable table = small_table();
  EXPECT_EQ(table.size(), 7U);
  for (Configuration row = 0; row < table.size(); ++row) EXPECT_EQ(table.find(table.places(row)), row);
  EXPECT_EQ(table.find(Places{3, 1}), std::nullopt);
}

TEST(ConfigurationTableTest, NeighboursDifferInOneParameterByAnyValue) {
  const ConfigurationTable table = small_table();
  auto neighbours = table.neighbours(*table.find(Places{0, 0}));
  std::sort(neighbours.begin(), neighbours.end());
  EXPECT_EQ(neighbours, (std::vector<Configuration>{1, 2, 3, 4}));
  EXPECT_EQ(table.neighbours(*table.find(Places{3, 0})).size(), 3U) << "8 with direct is not legal";
}

TEST(ConfigurationTableTest, TheNearestIsTheCombinationItselfOrALegalOne) {
  const ConfigurationTable table = small_table();
  EXPECT_EQ(table.nearest(Places{2, 1}), table.find(Places{2, 1}));
  const Configuration nearest = table.nearest(Places{3, 1});  // one place in x, or another path
  EXPECT_TRUE(nearest == table.find(Places{2, 1}) || nearest == table.find(Places{3, 0}));
}

TEST(ConfigurationTableTest, TheNearestMayDifferInSeveralParameters) {
  const ConfigurationTable table({{"x", {"1", "2", "3"}}, {"y", {"1", "2", "3"}}}, {0, 0, 1, 0});
  EXPECT_EQ(table.nearest(Places{2, 2}), 1U);
}

TEST(ConfigurationTableTest, TablesThatAreNoneAreRefused) {
  EXPECT_THROW(ConfigurationTable({}, {}), Error);
  EXPECT_THROW(ConfigurationTable({{"x", {"1"}}}, {}), Error);
  EXPECT_THROW(ConfigurationTable({{"x", {"1", "2"}}}, {0, 2}), Error);
  EXPECT_THROW(ConfigurationTable({{"x", {"1", "2"}}}, {1, 1}), Error);
}

TEST(ConfigurationTableTest, MoreCombinationsThan64BitsCountAreFoundToo) {
  constexpr std::size_t kParameters = 40;
  const std::vector<TableParameter> parameters(kParameters, {"x", std::vector<std::string>(16, "v")});  // 2^160
  Places places(kParameters, 0);  // places of the first row; each other row has one place more
  for (std::size_t row = 0; row < kParameters; ++row) {
    for (std::size_t i = 0; i < kParameters; ++i) places.push_back(i == row ? 15 : 0);
  }
  const ConfigurationTable table(parameters, places);
  for (Configuration row = 0; row < table.size(); ++row) EXPECT_EQ(table.find(table.places(row)), row);
  EXPECT_EQ(table.neighbours(0).size(), kParameters);
  EXPECT_EQ(table.neighbours(1), (std::vector<Configuration>{0}));
  EXPECT_EQ(table.find(Places(kParameters, 1)), std::nullopt);
}

}  // namespace
}  // namespace stencil_tune
