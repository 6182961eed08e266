// Which candidates race, and which of them under load.
#include "tuner/session/trials/contenders.hpp"

#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stencil_tune {
namespace {

const StencilSubject& subject() {
  static const StencilSubject star(
      make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, {}, {2, {64, 64, 1}}));
  return star;
}

std::string fusing(int steps, int block_x = 32) {
  Tuning tuning = parse_code("temporal.bx32.by4.rx2.v2.pf3.t4");
  tuning.steps = steps;
  tuning.block_x = block_x;
  return code(tuning);
}

std::vector<std::string> codes(const Finalists& finalists) {
  std::vector<std::string> all;
  for (const auto& [candidate, kernel] : finalists.candidates) all.push_back(candidate);
  return all;
}

std::vector<std::string> under_load(const Finalists& finalists) {
  auto all = codes(finalists);
  all.resize(static_cast<std::size_t>(finalists.under_load));
  return all;
}

TEST(Contenders, TheFastestRaceInBursts) {
  Contenders contenders(subject(), 2, false);
  contenders.add(fusing(2), {}, 3);
  contenders.add(fusing(3), {}, 1);
  contenders.add(fusing(4), {}, 2);
  const Finalists finalists = contenders.take(10);
  EXPECT_EQ(codes(finalists), (std::vector{fusing(3), fusing(4)}));
  EXPECT_EQ(finalists.under_load, 0);
  EXPECT_TRUE(contenders.take(10).candidates.empty());
}

TEST(Contenders, FinalistsAreNamedAndOthersCanBeDropped) {
  Contenders contenders(subject(), 2, false);
  contenders.add(fusing(2), {}, 3);
  contenders.add(fusing(3), {}, 1);
  EXPECT_EQ(contenders.finalists(10), (std::vector{fusing(3), fusing(2)}));
  const auto is_slower = [](const std::string& candidate) { return candidate == fusing(2); };
  EXPECT_TRUE(contenders.any(is_slower));
  contenders.keep(is_slower);
  EXPECT_EQ(contenders.finalists(10), std::vector{fusing(2)});
  EXPECT_FALSE(contenders.any([](const std::string& candidate) { return candidate == fusing(3); }));
}

TEST(Contenders, UnderLoadRaceAllThatAreCloseAndTheFastestOfEachNumberOfStepsAndFamily) {
  Contenders contenders(subject(), 2, true);
  const std::string sweep = "direct.bx32.by4";
  contenders.add(fusing(4, 32), {}, 1.00);
  contenders.add(fusing(4, 64), {}, 1.05);
  contenders.add(fusing(4, 128), {}, 1.14);
  contenders.add(fusing(4, 256), {}, 1.16);  // neither close nor the fastest of anything
  contenders.add(fusing(2, 32), {}, 1.3);
  contenders.add(fusing(2, 64), {}, 1.31);
  contenders.add(sweep, {}, 1.35);
  contenders.add(fusing(3), {}, 1.5);  // far behind
  EXPECT_EQ(under_load(contenders.take(10)),
            (std::vector{fusing(4, 32), fusing(2, 32), sweep, fusing(4, 64), fusing(4, 128)}));
}

TEST(Contenders, WhatIsOutOfReachOfALaterFastestIsDropped) {
  Contenders contenders(subject(), 1, true);
  contenders.add(fusing(2), {}, 1.4);
  contenders.add(fusing(3), {}, 1.5);
  contenders.add(fusing(4), {}, 1.05);
  EXPECT_EQ(under_load(contenders.take(10)), (std::vector{fusing(4), fusing(2)}));
}

TEST(Contenders, WhereTimeIsShortOtherStepsComeFirst) {
  Contenders contenders(subject(), 3, true);
  contenders.add(fusing(4, 32), {}, 1.00);
  contenders.add(fusing(4, 64), {}, 1.01);
  contenders.add(fusing(2), {}, 1.2);
  const Finalists finalists = contenders.take(2);
  EXPECT_EQ(under_load(finalists), (std::vector{fusing(4, 32), fusing(2)}));
  EXPECT_EQ(codes(finalists).back(), fusing(4, 64)) << "it races in bursts";
}

TEST(Contenders, AnEarlierWinnerUnderLoadRacesHoweverSlowInABurst) {
  Contenders contenders(subject(), 1, true);
  contenders.add(fusing(4, 32), {}, 1.0);
  contenders.add(fusing(4, 64), {}, 9.0, true);
  EXPECT_EQ(under_load(contenders.take(2)), (std::vector{fusing(4, 32), fusing(4, 64)}));
}

}  // namespace
}  // namespace stencil_tune
