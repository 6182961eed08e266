#include "tuner/session/zone_tuning.hpp"

#include "generator/cut/zones.hpp"
#include "generator/definition/definition.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

Problem layered(std::int64_t cells) {
  return make_problem(parse_definition("name = \"layered\"\nrank = 1\nlayer = \"8:0\"\n"
                                       "fields = [\"u\", \"m(x in layer)\", \"u_next\", \"m_next(x in layer)\"]\n"
                                       "[update]\nu_next = \"u[x+1] + m\"\nm_next = \"0.5*m + u[x-1]\"\n"
                                       "[rotate]\nu_next = \"u\"\nm_next = \"m\"\n",
                                       "layered.toml"),
                      ElementType::f32, {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {cells, 1, 1}}, 0, 10,
                      kWholeStep);
}

/// What every zone won, at that rate in GStencil/s.
ZonedSteps won(const Problem& step, double rate, int steps = 2) {
  ZonedSteps zoned{.steps = steps, .parts = {}};
  for (const Zone& zone : zones(step, steps)) {
    TrialRecord trial;
    trial.code = "code";
    trial.rate = rate;
    trial.sustained_rate = trial.watts = 1;
    zoned.parts.push_back({zone.name, 1, zone.problem, 1, trial});
  }
  zoned.parts.front().is_largest = true;
  return zoned;
}

TEST(ZoneTuning, TheTimesOfTheZonesAddUp) {
  const Problem step = layered(1000);
  const ZonedSteps zoned = won(step, 100);
  ASSERT_EQ(zoned.parts.size(), 2U);
  double cells = 0;
  for (const ZonedSteps::Part& part : zoned.parts) cells += static_cast<double>(part.problem.extents.cells());
  EXPECT_GT(cells, 1000) << "zones see cells of each other";
  const auto whole = in_zones(step, zoned);
  ASSERT_TRUE(whole);
  EXPECT_DOUBLE_EQ(whole->rate, 100 * 1000 / cells);
  EXPECT_EQ(whole->code, "2 steps in zones: inside code, x code");
  EXPECT_EQ(whole->sustained_rate, 0) << "nobody measured all zones together";
}

TEST(ZoneTuning, ZonesThatWereNotTunedCountAsSlowOnes) {
  const Problem step = layered(1000);
  ZonedSteps zoned = won(step, 100);
  const double all = in_zones(step, zoned)->rate;
  zoned.parts.pop_back();
  EXPECT_LT(in_zones(step, zoned)->rate, all);
}

TEST(ZoneTuning, NothingIsMadeInZonesOfWhichOneHasNoWinner) {
  const Problem step = layered(1000);
  ZonedSteps zoned = won(step, 100);
  zoned.parts.back().winner.reset();
  EXPECT_FALSE(in_zones(step, zoned));
  EXPECT_EQ(in_zones(step, std::vector{zoned, won(step, 50)})->rate, in_zones(step, won(step, 50))->rate);
}

TEST(ZoneTuning, TheLargestZoneSaysHowManyStepsAreMadeAtOnce) {
  const Problem step = layered(100);  // a tenth of the cells lies in layers, or close to them
  EXPECT_EQ(next_steps(step, 2, {}), 2);
  EXPECT_EQ(next_steps(step, 2, {won(step, 100)}), 3);
  EXPECT_EQ(next_steps(step, 2, {won(step, 100), won(step, 130, 3)}), 4);
  EXPECT_EQ(next_steps(step, 2, {won(step, 100), won(step, 101, 3)}), 1)
      << "layers would lose more than the inside gains";
  EXPECT_EQ(next_steps(step, 2, {won(step, 100), won(step, 101, 3), won(step, 60, 1)}), std::nullopt)
      << "all around are known";
  ZonedSteps failed = won(step, 100);
  failed.parts.front().winner.reset();
  EXPECT_EQ(next_steps(step, 2, {failed}), 1);
}

TEST(ZoneTuning, OnlyGridsWithRoomBetweenTheirLayersHaveZones) {
  EXPECT_TRUE(has_zones(layered(1000)));
  EXPECT_FALSE(has_zones(layered(9)));
}

}  // namespace
}  // namespace stencil_tune
