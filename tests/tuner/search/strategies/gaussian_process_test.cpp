#include "tuner/search/strategies/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace stencil_tune {
namespace {

constexpr int kPlaces = 21;

ConfigurationTable line() {
  TableParameter x{"x", {}};
  std::vector<ValueIndex> places;
  for (int i = 0; i < kPlaces; ++i) {
    x.values.push_back(std::to_string(i));
    places.push_back(static_cast<ValueIndex>(i));
  }
  return {{x}, places};
}

std::vector<Configuration> all_of(const ConfigurationTable& table) {
  std::vector<Configuration> all;
  for (Configuration i = 0; i < table.size(); ++i) all.push_back(i);
  return all;
}

double smooth(double x) { return std::sin(6 * x / kPlaces); }

TEST(GaussianProcessTest, ExpectsWhatItObservedAndASmoothCourseBetween) {
  const ConfigurationTable table = line();
  GaussianProcess process(table);
  std::vector<Configuration> observed;
  std::vector<double> values;
  for (Configuration i = 0; i < kPlaces; i += 4) observed.push_back(i), values.push_back(smooth(i));
  process.fit(observed, values, all_of(table));
  for (std::size_t i = 0; i < kPlaces; ++i) EXPECT_NEAR(process.mean(i), smooth(static_cast<double>(i)), 0.1) << i;
  EXPECT_LT(process.deviation(4), process.deviation(6));
}

TEST(GaussianProcessTest, WhatIsObservedLaterMovesWhatIsExpectedNearIt) {
  const ConfigurationTable table = line();
  GaussianProcess process(table);
  process.fit(std::vector<Configuration>{0, 7, 12, 20}, std::vector<double>{0.5, -1, 0.25, 1}, all_of(table));
  const double before = process.mean(16);
  process.observe(16, before + 1);
  EXPECT_EQ(process.observations(), 5U);
  EXPECT_NEAR(process.mean(16), before + 1, 0.2);
  EXPECT_LT(process.deviation(16), 0.5 * process.deviation(9));
}

TEST(GaussianProcessTest, ObservationsAreNoCandidatesUnlessAskedFor) {
  const ConfigurationTable table = line();
  GaussianProcess some(table), all(table);
  const std::vector<Configuration> observed{0, 7, 12, 20};
  const std::vector<double> values{0.5, -1, 0.25, 1};
  some.fit(observed, values, {3, 16});
  all.fit(observed, values, all_of(table));
  EXPECT_EQ(some.candidates().size(), 2U);
  EXPECT_FLOAT_EQ(static_cast<float>(some.mean(1)), static_cast<float>(all.mean(16)));
  EXPECT_FLOAT_EQ(static_cast<float>(some.deviation(0)), static_cast<float>(all.deviation(3)));
}

TEST(GaussianProcessTest, ValuesOfUnorderedParametersAreEquallyFar) {
  const ConfigurationTable table({{"path", {"a", "b", "c"}, false}}, {0, 1, 2});
  GaussianProcess process(table);
  process.fit(std::vector<Configuration>{0}, std::vector<double>{1}, all_of(table));
  EXPECT_DOUBLE_EQ(process.mean(1), process.mean(2));
  EXPECT_GT(process.mean(0), process.mean(1));
}

}  // namespace
}  // namespace stencil_tune
