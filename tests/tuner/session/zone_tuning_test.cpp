#include "tuner/session/zone_tuning.hpp"

#include "generator/cut/zones.hpp"
#include "generator/definition/definition.hpp"

#include <fmt/format.h>
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
  EXPECT_EQ(next_steps(2, 8, step, {}), 2);
  EXPECT_EQ(next_steps(2, 8, step, {won(step, 100)}), 3);
  EXPECT_EQ(next_steps(2, 8, step, {won(step, 100), won(step, 130, 3)}), 4);
  EXPECT_EQ(next_steps(2, 8, step, {won(step, 100), won(step, 101, 3)}), 1)
      << "layers would lose more than the inside gains";
  EXPECT_EQ(next_steps(2, 8, step, {won(step, 100), won(step, 101, 3), won(step, 60, 1)}), std::nullopt)
      << "all around are known";
  ZonedSteps failed = won(step, 100);
  failed.parts.front().winner.reset();
  EXPECT_EQ(next_steps(2, 8, step, {failed}), 1);
  EXPECT_EQ(next_steps(4, 2, step, {}), 2) << "of more steps no kernel is legal";
  EXPECT_EQ(next_steps(4, 2, step, {won(step, 100)}), 1);
}

/// Eight steps of a chain of sixteen fields keep more than shared memory holds, be it in the inside or in layers alone.
TEST(ZoneTuning, StepsOfWhichAZoneHasNoKernelAreNotTuned) {
  constexpr int kFields = 16;
  const auto chain = [](const std::string& where) {
    std::string fields, next, update, rotate;
    for (int n = 0; n < kFields; ++n) {
      fields += fmt::format("\"f{}{}\", ", n, where);
      next += fmt::format("\"g{}{}\", ", n, where);
      update += fmt::format("g{} = \"f{}[y+2] - f{}[y-2] + f{}[x+2] + u\"\n", n, n, (n + 1) % kFields, n);
      rotate += fmt::format("g{} = \"f{}\"\n", n, n);
    }
    const std::string text = "rank = 2\nelement = \"f64\"\nlayer = \"8\"\nfields = [" + fields + next +
                             "\"u\", \"m(x in layer)\", \"u_next\", \"m_next(x in layer)\"]\n[update]\n" + update +
                             "u_next = \"0.5*u + m + 0.1*u[x+1]\"\nm_next = \"0.5*m + u[x-1]\"\n[rotate]\n" + rotate +
                             "u_next = \"u\"\nm_next = \"m\"\n";
    return make_problem(parse_definition(text, "chain.toml"), ElementType::f64,
                        {Boundary::hold, Boundary::hold, Boundary::hold}, {2, {400, 400, 1}}, 0, 8, kWholeStep);
  };
  for (const char* where : {"", "(x in layer)"}) {
    EXPECT_TRUE(have_kernels(chain(where), 1, Limits())) << where;
    EXPECT_FALSE(have_kernels(chain(where), 8, Limits())) << where;
  }
}

TEST(ZoneTuning, OnlyGridsWithRoomBetweenTheirLayersHaveZones) {
  EXPECT_TRUE(has_zones(layered(1000)));
  EXPECT_FALSE(has_zones(layered(9)));
}

TEST(ZoneTuning, OneStageOfSeveralHasNoZones) {
  const Stencil stencil = parse_definition(
      "rank = 2\nlayer = \"8\"\nfields = [\"u\", \"m(y in layer)\", \"v\", \"u_next\", "
      "\"m_next(y in layer)\"]\n[[stage]]\nv = \"u[x+1] + m\"\n"
      "[[stage]]\nu_next = \"0.5*v + 0.1*v[y-1]\"\nm_next = \"0.5*m + v\"\n"
      "[rotate]\nu_next = \"u\"\nm_next = \"m\"\n",
      "stages.toml");
  const auto problem_of = [&](int stage) {
    return make_problem(stencil, ElementType::f32, {Boundary::zero, Boundary::zero, Boundary::zero}, {2, {400, 400, 1}},
                        0, 1, stage);
  };
  EXPECT_TRUE(has_zones(problem_of(kWholeStep)));
  EXPECT_FALSE(has_zones(problem_of(1)));
}

}  // namespace
}  // namespace stencil_tune
