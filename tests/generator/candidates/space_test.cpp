#include "generator/candidates/space.hpp"

#include "generator/kernel_source/source.hpp"
#include "tests/generator/problems.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

using testing::box;
using testing::kSm90;
using testing::star;

TEST(Space, UnrollsByThreeWhereStepsAreFused) {
  Problem run = star(3, 1);
  run.steps = 100;
  const Space space(run, kSm90);
  std::mt19937_64 random(1);
  std::set<std::pair<bool, int>> seen;  // whether steps are fused, how many are unrolled
  for (int i = 0; i < 3000; ++i) {
    const Tuning tuning = *space.sample(random);
    seen.emplace(tuning.family->name == "temporal", tuning.unroll);
  }
  EXPECT_TRUE(seen.count({true, 3}));
  EXPECT_FALSE(seen.count({false, 3}));
  EXPECT_TRUE(seen.count({false, 4}));
}

TEST(Space, ReachesFromItsNeighboursWhatItDoesNotDraw) {
  Problem run = star(3, 2);
  run.steps = 100;
  const Space space(run, kSm90);
  std::mt19937_64 random(1);
  std::set<StepBarrier> barriers;
  for (int i = 0; i < 1000; ++i) {
    const Tuning tuning = *space.sample(random);
    if (tuning.family->name != "temporal") continue;
    ASSERT_EQ(tuning.copies, Copies::threads) << code(tuning);
    ASSERT_EQ(tuning.block_x, 32) << code(tuning);
    barriers.insert(tuning.barrier);
  }
  EXPECT_EQ(barriers.size(), 3U);
  std::set<std::string> beside;
  for (const Tuning& tuning : space.neighbours(parse_code("temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch4"))) {
    beside.insert(code(tuning));
  }
  EXPECT_TRUE(beside.count("temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t2.ch4"));
  EXPECT_FALSE(beside.count("temporal.bx64.by4.rx2.ry4.v2.pf2.t2.ch4"));
  EXPECT_TRUE(beside.count("temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch4.split"));
  beside.clear();
  for (const Tuning& tuning : space.neighbours(parse_code("temporal.bx64.by4.rx2.ry4.v2.pf2.t2.ch4"))) {
    beside.insert(code(tuning));
  }
  EXPECT_TRUE(beside.count("temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch4")) << "from a value that is no longer drawn";
}

TEST(Space, HoldsMillionsAndAnswersAnyPointAtOnce) {
  const Problem problem = star(3, 1);
  const Space space(problem, kSm90);
  EXPECT_GT(space.size(), 10'000'000u);
  EXPECT_NO_THROW(space.at(space.size() - 1));
  EXPECT_FALSE(space.at(space.size()));
}

TEST(Space, EnumeratesDistinctLegalCandidates) {
  const Problem problem = star(1, 2);
  const Space space(problem, kSm90);
  std::set<std::string> codes;
  std::uint64_t legal = 0;
  for (std::uint64_t point = 0; point < space.size(); ++point) {
    const auto tuning = space.at(point);
    if (!tuning) continue;
    ++legal;
    codes.insert(code(*tuning));
    EXPECT_TRUE(is_legal({problem, *tuning}, kSm90)) << *tuning;
  }
  EXPECT_EQ(codes.size(), legal);
  EXPECT_GT(legal, 1000u);
}

TEST(Space, SamplesTheFamiliesThatAreDrawnAlike) {
  const Problem problem = star(3, 2, ElementType::f64);
  const Space space(problem, kSm90);
  std::mt19937_64 random(1);
  std::map<std::string_view, int> drawn;
  for (int i = 0; i < 600; ++i) {
    const auto tuning = space.sample(random);
    ASSERT_TRUE(tuning);
    EXPECT_TRUE(space.legal(*tuning)) << *tuning;
    ++drawn[tuning->family->name];
  }
  EXPECT_GT(drawn["direct"], 240);
  EXPECT_GT(drawn["streaming"], 240);
  EXPECT_EQ(drawn["tiled"], 0) << "the textbook's never win";
  EXPECT_EQ(drawn["temporal"], 0) << "one step leaves nothing to fuse";
}

TEST(Space, LeavesTheTextbooksKernelsToThoseWhoNameThem) {
  const Problem problem = star(3, 1);
  const Space space(problem, kSm90);
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const Tuning tuning = *space.sample(random);
    ASSERT_TRUE(tuning.planes == Planes::registers || tuning.planes == Planes::ring) << tuning;
    for (const Tuning& neighbour : space.neighbours(tuning)) {
      ASSERT_TRUE(neighbour.planes == Planes::registers || neighbour.planes == Planes::ring) << neighbour;
    }
  }
  for (const char* code : {"tiled.bx8.by8.bz8.cin", "streaming.bx32.by32.cz30.shared.cin",
                           "streaming.bx32.by32.cz30.mixed.cin", "streaming.bx32.by4.cz8.shared"}) {
    EXPECT_TRUE(space.legal(parse_code(code))) << code;
  }
  EXPECT_TRUE(space.sample(family_named("tiled"), random));
}

TEST(Space, SamplesFusedStepsForRunsOfSeveral) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32,
                                       {Boundary::hold, Boundary::hold, Boundary::hold}, {3, {512, 512, 512}}, 0, 6);
  const Space space(problem, kSm90);
  std::mt19937_64 random(1);
  int fused = 0;
  for (int i = 0; i < 200; ++i) {
    const auto tuning = space.sample(random);
    ASSERT_TRUE(tuning);
    EXPECT_TRUE(space.legal(*tuning)) << *tuning;
    if (tuning->family->name != "temporal") continue;
    EXPECT_LE(tuning->steps, 6);
    ++fused;
  }
  EXPECT_GT(fused, 30);
}

/// Systolic kernels fuse eight steps at least.
TEST(Space, LeavesOutFamiliesThatHaveNoValueForAParameter) {
  Problem run = star(2, 1);
  run.steps = 4;
  const Space space(run, kSm90);
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) ASSERT_NE(space.sample(random)->family->name, "systolic");
  for (std::uint64_t point = 0; point < 1000; ++point) space.at(point);
}

TEST(Space, SamplesTheSameForTheSameSeed) {
  const Problem problem = box(2, 1);
  const Space space(problem, kSm90);
  std::mt19937_64 one(5), other(5);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(space.sample(one), space.sample(other));
}

TEST(Space, SamplesNothingWhereNothingIsLegal) {
  const Problem problem = box(3, 16);  // 35937 taps
  const Space space(problem, kSm90);
  std::mt19937_64 random(1);
  EXPECT_FALSE(space.sample(random));
}

TEST(Space, SamplesAWideBoxDespiteFewLegalPoints) {
  const Problem problem = box(3, 4);
  const Space space(problem, kSm90);
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(space.sample(random));
}

TEST(Space, DoesNotDrawLongFromAFamilyWithNextToNoLegalPoints) {
  constexpr int kDraws = 400000;  // one legal point of 30000 would take a million and a half for 200 samples
  Problem problem = star(3, 4);
  problem.steps = 100;
  const Space space(problem, kSm90);
  std::mt19937_64 random(1), behind(1);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(space.sample(random));
  int drawn = 0;
  for (; behind != random && drawn < kDraws; ++drawn) behind();
  EXPECT_LT(drawn, kDraws);
}

TEST(Space, LeavesOutVectorsThatTheRowsForbid) {
  const Problem problem = star(3, 1, ElementType::f32, 509);
  const Problem aligned = star(3, 1);
  EXPECT_LT(Space(problem, kSm90).size(), Space(aligned, kSm90).size());
}

TEST(Space, NeighboursDifferInOneParameterByAPlaceOrOfTheWalkByTwo) {
  const Problem problem = star(3, 1);
  const Space space(problem, kSm90);
  const Tuning centre = parse_code("streaming.bx32.by4.rx4.v4.cz4.regs");
  const std::vector<Tuning> neighbours = space.neighbours(centre);
  EXPECT_EQ(Space(problem, kSm90, *centre.family).neighbours(centre), neighbours) << "also of its family alone";
  std::set<std::string> codes;
  for (const Tuning& neighbour : neighbours) {
    EXPECT_EQ(differences(centre, neighbour), 1) << neighbour;
    EXPECT_TRUE(space.legal(neighbour)) << neighbour;
    codes.insert(code(neighbour));
  }
  EXPECT_EQ(codes.size(), neighbours.size());
  EXPECT_TRUE(codes.count("streaming.bx16.by4.rx4.v4.cz4.regs"));
  EXPECT_TRUE(codes.count("streaming.bx32.by4.rx4.v4.cz8.regs"));
  EXPECT_TRUE(codes.count("streaming.bx32.by4.rx4.v4.cz4.regs.sums"));
  EXPECT_TRUE(codes.count("streaming.bx32.by4.rx4.v4.cz4.regs.raster"));
  EXPECT_TRUE(codes.count("streaming.bx32.by4.rx4.v4.cz16.regs")) << "two places away";
  EXPECT_TRUE(codes.count("streaming.bx32.by4.rx4.v4.cz4.regs.pf2")) << "two places away";
  EXPECT_FALSE(codes.count("streaming.bx32.by4.rx4.v4.cz32.regs")) << "three places away";
  EXPECT_FALSE(codes.count("streaming.bx128.by4.rx4.v4.cz4.regs")) << "two places away";
  EXPECT_FALSE(codes.count("streaming.bx32.by4.rx2.v4.cz4.regs")) << "illegal";
}

TEST(Space, NeighboursHaveUpToTwoChunksMoreOrLess) {
  const Problem run = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 100);
  std::set<int> chunks;
  const Tuning centre = parse_code("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.ch6");
  for (const Tuning& neighbour : Space(run, kSm90).neighbours(centre)) {
    if (neighbour.shares == 0) chunks.insert(neighbour.chunks);
  }
  EXPECT_EQ(chunks, (std::set<int>{4, 5, 6, 7, 8}));
}

TEST(Space, NeighboursHaveDefaultsWhereTheChangedValueLeavesOthersWithoutAMeaning) {
  const Problem run = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 100);
  const Space space(run, kSm90);
  std::set<std::string> codes;
  for (const Tuning& neighbour : space.neighbours(parse_code("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.ch6.cl2.raster32"))) {
    codes.insert(code(neighbour));
  }
  EXPECT_TRUE(codes.count("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.sh132.cl2"))
      << "shares have neither chunks nor an order";
  EXPECT_TRUE(codes.count("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.sh114.cl2")) << "a wave of another GPU";
  EXPECT_FALSE(codes.count("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.sh264.cl2")) << "two blocks an SM";
}

TEST(Space, ARelaunchHasOtherSharesAndNoChunks) {
  const Problem run = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f64, {}, {3, {512, 512, 512}}, 0, 100);
  const Space space(run, kSm90);
  std::set<int> shares;
  const Tuning shared_out = parse_code("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.sh132.cl2");
  for (const Tuning& relaunch : space.relaunches(shared_out)) {
    EXPECT_EQ(code(without_launch(relaunch)), code(without_launch(shared_out)));
    shares.insert(relaunch.shares);
  }
  EXPECT_TRUE(shares.count(264) && shares.count(114));
  EXPECT_FALSE(shares.count(0)) << "another kernel";
  for (const Tuning& relaunch : space.relaunches(parse_code("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.ch6.cl2"))) {
    EXPECT_EQ(relaunch.shares, 0) << code(relaunch);
  }
}

TEST(Space, RelaunchesAreTheSameKernel) {
  Problem plane = star(2, 1, ElementType::f64), cube = star(3, 2);
  for (Problem* run : {&plane, &cube}) {
    run->steps = 100;
    const Space space(*run, kSm90);
    std::mt19937_64 random(1);
    std::map<std::string_view, int> relaunched;  // how many of each family
    for (int i = 0; i < 300; ++i) {
      const Tuning tuning = *space.sample(random);
      for (const Tuning& other : space.relaunches(tuning)) {
        if (++relaunched[tuning.family->name] > 20) break;
        EXPECT_NE(code(other), code(tuning));
        EXPECT_EQ(code(without_launch(other)), code(without_launch(tuning)));
        EXPECT_TRUE(space.legal(other)) << code(other);
        EXPECT_EQ(generate({*run, other}).text, generate({*run, tuning}).text)
            << code(other) << " and " << code(tuning);
      }
    }
    EXPECT_GT(relaunched["temporal"], 0);
    EXPECT_EQ(relaunched.count("systolic"), run == &plane ? 1u : 0u);
    EXPECT_EQ(relaunched.count("streaming"), 0u) << "its depth is a constant";
  }
}

TEST(Space, WalksMayPartTheUpdatedPlanesEvenly) {
  const Problem problem = star(3, 8);  // 512 planes, of which 496 are updated
  const Space space(problem, kSm90);
  std::set<int> depths;
  for (int depth = 1; depth < 512;) {
    const std::string centre = "streaming.bx32.by4.cz" + std::to_string(depth) + ".ring.sums.pf1";
    int next = 512;
    for (const Tuning& neighbour : space.neighbours(parse_code(centre))) {
      if (neighbour.depth > depth) next = std::min(next, neighbour.depth);
    }
    depths.insert(depth);
    depth = next;
  }
  EXPECT_EQ(depths, (std::set<int>{1, 2, 4, 8, 16, 32, 64, 71, 83, 100, 128, 166, 256}));
}

TEST(Space, BlocksOfAClusterAllHaveATile) {
  const Problem problem = star(3, 1);  // 512 cells a row, shared 128 a block
  const Space space(problem, kSm90);
  EXPECT_TRUE(space.legal(parse_code("streaming.bx128.by8.ry8.cz512.regs.cl4")));
  EXPECT_FALSE(space.legal(parse_code("streaming.bx128.by8.ry8.cz512.regs.cl8")));
  EXPECT_TRUE(is_legal({problem, parse_code("streaming.bx128.by8.ry8.cz512.regs.cl8")}, kSm90)) << "useless, not wrong";
}

TEST(Space, NeighboursOfAValueOutsideTheTableAreTheNearestOnes) {
  const Problem problem = star(3, 1);
  const Space space(problem, kSm90);
  std::set<int> widths;
  for (const Tuning& neighbour : space.neighbours(parse_code("direct.bx48.by4"))) widths.insert(neighbour.block_x);
  EXPECT_EQ(widths, (std::set<int>{32, 48, 64}));
}

TEST(DefaultCandidate, FusesStepsOfRunsOnGridsOfAnyRank) {
  for (int rank = 1; rank <= 3; ++rank) {
    Problem run = star(rank, 1, ElementType::f32);
    run.steps = 100;
    const auto tuning = default_candidate(family_named("temporal"), run, kSm90);
    ASSERT_TRUE(tuning) << "rank " << rank;
    EXPECT_TRUE(is_legal({run, *tuning}, kSm90)) << *tuning;
    std::mt19937_64 random(1);
    int fused = 0;
    for (int i = 0; i < 100; ++i) fused += Space(run, kSm90).sample(random)->family->name == "temporal" ? 1 : 0;
    EXPECT_GT(fused, 15) << "rank " << rank;
  }
}

TEST(DefaultCandidate, IsLegalForEveryFamilyThatServesTheProblem) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    for (int rank = 1; rank <= 3; ++rank) {
      for (const Problem& problem :
           {star(rank, 1, type), star(rank, 8, type), box(rank, 1, type), box(rank, 4, type)}) {
        for (const Family* family : families()) {
          const auto tuning = default_candidate(*family, problem, limits_of_architecture("sm_90"));
          if ((family->name == "streaming" && rank == 1) || family->fuses_steps) {
            EXPECT_FALSE(tuning);
            continue;
          }
          ASSERT_TRUE(tuning) << family->name << " " << problem.stencil.name << " " << name(type);
          EXPECT_EQ(tuning->family, family);
          EXPECT_TRUE(is_legal({problem, *tuning}, kSm90)) << *tuning;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stencil_tune
