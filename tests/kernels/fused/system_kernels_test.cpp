// Fused steps of systems against plain repeated steps, in every cell: all boundaries, awkward grids, every stored
// field.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "tests/generator/corpus.hpp"
#include "tests/kernels/corpus_step_cases.hpp"
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/fused/system_cases.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <tuple>

namespace stencil_tune {
namespace {

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

Problem step_of(const Stencil& stencil, const Extents& extents, int steps,
                const Boundaries& boundaries = everywhere(Boundary::hold)) {
  return make_problem(stencil, ElementType::f32, boundaries, extents, 0, steps, kWholeStep);
}

/// On more than one grid each.
void expect_all_right(const std::vector<HostCase>& cases) { expect_right(cases, 2); }

class SystemBoundaries : public testing::TestWithParam<Boundary> {};

TEST_P(SystemBoundaries, ApplyToEachFieldAtEveryLevel) { expect_all_right(system_cases(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Each, SystemBoundaries,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(SystemKernels, FuseOneToSixSteps) { expect_all_right(part_of(system_step_cases(), Part::first)); }

TEST(SystemKernels, FuseOneToSixStepsInTheOtherCases) { expect_all_right(part_of(system_step_cases(), Part::others)); }

/// Those that the other cases do not have, and that compile fast; the target check-products takes all, with one to six
/// steps at every boundary.
TEST(SystemKernels, FuseStepsOfTheCorpus) {
  using enum Boundary;
  std::vector<HostCase> cases;
  for (const auto& [name, steps, boundaries] : {std::tuple{"acoustic3d_sponge", 2, Boundaries{hold, periodic, zero}},
                                                {"advection2d_rk3", 2, Boundaries{periodic, hold, hold}},
                                                {"burgers2d", 5, Boundaries{hold, clamp, hold}},
                                                {"cahn_hilliard2d", 3, Boundaries{reflect, periodic, hold}},
                                                {"fitzhugh_nagumo3d", 3, Boundaries{clamp, hold, reflect}},
                                                {"lbm_d2q9", 4, Boundaries{periodic, clamp, hold}},
                                                {"variable_diffusion3d", 2, Boundaries{zero, reflect, hold}},
                                                {"yee3d_layer", 1, Boundaries{hold, hold, periodic}},
                                                {"yee3d_lossy", 2, Boundaries{zero, hold, clamp}}}) {
    const auto found = corpus_step_case(name, steps, boundaries);
    ASSERT_TRUE(found) << name;
    cases.push_back(*found);
  }
  expect_all_right(cases);
}

TEST(SystemKernels, AreRightWithEveryParameter) { expect_all_right(system_parameter_cases()); }

TEST(SystemKernels, ReadRowsBeyondTheTile) { expect_all_right(part_of(system_rim_cases(), Part::first)); }

TEST(SystemKernels, ReadRowsBeyondTheTileInTheOtherCases) {
  expect_all_right(part_of(system_rim_cases(), Part::others));
}

TEST(SystemKernels, EndRowsBeyondTheGridWhereTmaStartsThem) {
  const std::vector<HostCase> cases = system_row_end_cases();
  for (const HostCase& each : cases) {
    EXPECT_EQ(each.problems.size(), 3u) << code(each.tuning);
    for (const Problem& problem : each.problems) {
      EXPECT_EQ(Candidate(problem, each.tuning).shape().fused.row_multiple,
                16 / static_cast<int>(size_of(problem.type)))
          << code(each.tuning);
    }
  }
  expect_all_right(cases);
}

TEST(SystemKernels, ComputeSharedPartsOnceACell) {
  const std::vector<HostCase> cases = system_shared_part_cases();
  for (const HostCase& each : cases) EXPECT_FALSE(each.problems.empty()) << code(each.tuning);
  expect_all_right(cases);
}

/// What the first stage writes is held in x, by layers that no state has, and is zero beyond the ends of the walk.
TEST(SystemKernels, HeldLayersOfAnIntermediateEndWithTheGrid) {
  const Stencil stencil = parse_definition(R"toml(
name = "held_intermediate"
rank = 2
fields = ["u", "between", "u_next"]
[[stage]]
between = "0.5*u + 0.25*u[x-1]"
[[stage]]
u_next = "0.5*u + 0.25*between[y-1] + 0.125*between[y+1]"
[rotate]
u_next = "u"
)toml",
                                           "held_intermediate");
  const Boundaries boundaries{Boundary::hold, Boundary::zero, Boundary::hold};
  const HostCase tested = system_case(stencil, ElementType::f32, boundaries, "system.bx32.by1.rx2.v2.pf2.t1.ch2");
  expect_all_right({tested});
}

FusedSystem plan(const Stencil& stencil, const std::string& code) {
  const Problem problem = step_of(stencil, {stencil.rank, {512, 512, stencil.rank == 3 ? 512 : 1}}, 8);
  return Candidate(problem, parse_code(code)).shape().system();
}

TEST(SystemLevels, WorkAsFarBehindAsTheirStageReadsAhead) {
  const FusedSystem yee = plan(corpus("yee3d"), "system.bx32.by8.rx2.ry2.v2.pf2.t2");
  ASSERT_EQ(yee.levels.size(), 4u);
  EXPECT_EQ(yee.levels[0].lag, 1) << "the magnetic field reads the electric one of the next plane";
  EXPECT_EQ(yee.levels[1].lag, 0) << "the electric field reads the magnetic one of planes that are there";
  EXPECT_EQ(yee.delay, 2);
  EXPECT_EQ(yee.halo.low[0], 2);
  EXPECT_EQ(yee.halo.high[0], 2);
  EXPECT_TRUE(yee.meets_in_levels);
}

TEST(SystemLevels, AreSharedByCandidatesThatDifferInNothingTheyDependOn) {
  const Problem problem = step_of(corpus("yee3d"), {3, {512, 512, 512}}, 8);
  const auto levels = [](const Problem& of, std::string_view code) {
    return Candidate(of, parse_code(code)).shape().system_levels;
  };
  const auto some = levels(problem, "system.bx32.by8.rx2.ry2.v2.pf2.t2");
  EXPECT_EQ(levels(problem, "system.bx32.by4.rx4.ry2.v4.pf3.t2.ch8"), some);
  EXPECT_NE(levels(problem, "system.bx32.by8.rx2.ry2.v2.pf2.t3"), some);
  EXPECT_NE(levels(problem, "system.bx32.by8.rx2.ry4.v2.pf2.t2"), some);
  EXPECT_NE(levels(problem, "system.bx32.by8.rx2.ry2.v2.pf2.t2.rim"), some);
  Problem periodic = problem;
  periodic.boundaries[2] = Boundary::periodic;
  EXPECT_NE(levels(periodic, "system.bx32.by8.rx2.ry2.v2.pf2.t2"), some) << "under hold layers are held";
}

TEST(SystemLevels, TakeFieldsFromTheInputNoEarlierThanTheyAreRead) {
  const FusedSystem yee = plan(corpus("yee3d"), "system.bx32.by8.rx2.ry2.v2.pf2.t2");
  for (const SystemField& field : yee.levels[0].in) {
    const bool electric = field.field < 3;
    EXPECT_EQ(field.newest, electric ? 1 : 0) << field.field;  // the old magnetic field is read at the cell alone
  }
  for (const SystemField& field : yee.levels[2].in) EXPECT_EQ(field.newest, 1) << field.field;
}

TEST(SystemLevels, ReachAsFarAsTheirStagesTogether) {
  const FusedSystem system = plan(predictor_corrector(2), "system.bx32.by1.rx3.v1.pf2.t3");
  EXPECT_EQ(system.halo.low[0], 3 * 2);
  EXPECT_EQ(system.halo.high[0], 3 * 2);
  EXPECT_EQ(system.halo.low[2], 3 * 3) << "two rows in the first stage, one in the second";
}

std::string violated(const Problem& problem, const std::string& code) {
  const auto violation = first_violation({problem, parse_code(code)}, limits_of_architecture("sm_90"));
  return violation ? std::string(violation->constraint) : "legal";
}

TEST(SystemConstraints, ExcludeSharedPartsWhereThereAreNoneOrZeroIsRead) {
  const Extents square{2, {512, 512, 1}};
  const Stencil water = corpus("shallow2d");
  const std::string once = "system.bx32.by1.rx2.v2.pf2.t3.once.ch2";
  EXPECT_EQ(violated(step_of(water, square, 8), once), "legal");
  const Boundaries zero_in_y{Boundary::hold, Boundary::zero, Boundary::hold};
  EXPECT_EQ(violated(step_of(water, square, 8, zero_in_y), once), "system_shared_parts");
  const Boundaries beyond_rank{Boundary::hold, Boundary::clamp, Boundary::zero};
  EXPECT_EQ(violated(step_of(water, square, 8, beyond_rank), once), "legal");
  EXPECT_EQ(violated(step_of(corpus("gray_scott2d"), square, 8), once), "system_shared_parts");
}

TEST(SystemLevels, OfSharedPartsReadNothingBesideTheCell) {
  const FusedSystem again = plan(corpus("shallow2d"), "system.bx32.by1.rx2.v2.pf2.t3");
  const FusedSystem once = plan(corpus("shallow2d"), "system.bx32.by1.rx2.v2.pf2.t3.once");
  ASSERT_EQ(once.levels.size(), 6u);
  EXPECT_EQ(once.levels[0].out.size(), 6u) << "the state and three parts";
  EXPECT_EQ(once.levels[1].out.size(), 3u);
  EXPECT_EQ(once.levels[0].lag, 0);
  EXPECT_EQ(once.delay, again.delay);
  EXPECT_EQ(once.halo.low, again.halo.low);
  EXPECT_EQ(once.halo.high, again.halo.high);
}

TEST(SystemConstraints, ExcludeWhatWouldBeWrong) {
  const Extents cube{3, {128, 128, 128}};
  const Problem yee = step_of(corpus("yee3d"), cube, 2);
  EXPECT_EQ(violated(yee, "system.bx32.by8.rx2.ry2.v2.pf2.t1"), "legal");
  EXPECT_EQ(violated(yee, "system.bx32.by8.rx2.ry2.v2.pf2.t3"), "system_steps");
  EXPECT_EQ(violated(yee, "system.bx64.by8.rx2.ry2.v2.pf2.t2"), "system_warps");
  EXPECT_EQ(violated(yee, "system.bx32.by8.rx2.ry2.v2.t2"), "system_prefetch");
  EXPECT_EQ(violated(yee, "direct.bx32.by4"), "one_sweep");
  EXPECT_EQ(violated(yee, "temporal.bx32.by4.rx2.ry4.v2.pf2.t2"), "temporal_fields");
  const Problem acoustic = step_of(corpus("acoustic3d_o4"), cube, 4);
  EXPECT_EQ(violated(acoustic, "system.bx32.by8.rx2.ry2.v2.pf2.t1"), "system_steps") << "one stage is one sweep";
  EXPECT_EQ(violated(acoustic, "system.bx32.by8.rx2.ry1.v1.pf2.t2"), "system_reach");
  EXPECT_EQ(violated(acoustic, "system.bx32.by8.rx1.ry2.v1.pf2.t2"), "legal");
  EXPECT_EQ(violated(make_problem(corpus("acoustic3d_o4"), ElementType::f32, everywhere(Boundary::zero), cube, 0, 4),
                     "system.bx32.by8.rx1.ry2.v1.pf2.t2"),
            "system_reach")
      << "the last lane alone knows what is beyond a row's end";
  EXPECT_EQ(violated(acoustic, "system.bx32.by4.rx2.ry2.v2.pf2.t4"), "tile_not_empty");
  EXPECT_EQ(violated(acoustic, "system.bx32.by20.rx4.ry4.v2.pf2.t2"), "system_registers");
  const Problem boltzmann = step_of(corpus("lbm_d3q19"), cube, 4);
  EXPECT_EQ(violated(boltzmann, "system.bx32.by16.pf3.t2.ch7"), "system_registers") << "hundreds of bytes would spill";
  EXPECT_EQ(violated(boltzmann, "system.bx32.by8.pf3.t2.ch7"), "legal") << "a thread has 255 registers";
  EXPECT_EQ(violated(boltzmann, "system.bx32.by12.pf3.t2.ch7"), "legal") << "168: 136 for values, 28 for others";
  EXPECT_EQ(violated(boltzmann, "system.bx32.by12.pf3.t2.ch7.u2"), "system_registers") << "unrolled, 40 for others";
  EXPECT_EQ(violated(step_of(corpus("yee3d"), {3, {60, 128, 128}}, 2), "system.bx32.by8.rx2.ry2.v2.pf2.t2"),
            "system_tile_in_grid");
  const auto with_rows_of_127 = [](Boundary boundary) {
    return make_problem(corpus("acoustic3d_o4"), ElementType::f32, everywhere(boundary), {3, {127, 128, 128}}, 128, 4,
                        kWholeStep);
  };
  EXPECT_EQ(violated(with_rows_of_127(Boundary::hold), "system.bx32.by8.rx2.ry4.v2.tmarows.pf2.t2"), "system_copies");
  EXPECT_EQ(violated(with_rows_of_127(Boundary::hold), "system.bx32.by8.rx2.ry4.v2.tmabeyond.pf2.t2"), "legal");
  EXPECT_EQ(violated(with_rows_of_127(Boundary::clamp), "system.bx32.by8.rx2.ry4.v2.tmabeyond.pf2.t2"),
            "system_copies");
  EXPECT_EQ(violated(make_problem(corpus("yee3d"), ElementType::f32, everywhere(Boundary::hold), cube, 0, 2, 1),
                     "system.bx32.by8.rx2.ry2.v2.pf2.t2"),
            "system_step");
}

/// What a random candidate has where its rows are brought by TMA.
TEST(SystemFamily, DrawsTheWayOfTmaThatTheEndsOfRowsAllow) {
  const Limits limits = limits_of_architecture("sm_90");
  const auto drawn_on = [&](std::int64_t nx, Boundary boundary) {
    const Problem problem = make_problem(corpus("acoustic3d_o2"), ElementType::f32, everywhere(boundary),
                                         {3, {nx, 512, 512}}, 512, 8, kWholeStep);
    const Space space(problem, limits);
    std::mt19937_64 random(1);
    std::set<Copies> copies;
    for (int i = 0; i < 200; ++i) {
      const Tuning tuning = *space.sample(random);
      if (tuning.family->name == "system") copies.insert(tuning.copies);
    }
    return copies;
  };
  EXPECT_EQ(drawn_on(512, Boundary::hold), (std::set{Copies::threads, Copies::tma}));
  EXPECT_EQ(drawn_on(509, Boundary::hold), (std::set{Copies::threads, Copies::tma_beyond}));
  EXPECT_EQ(drawn_on(509, Boundary::clamp), std::set{Copies::threads});
}

TEST(SystemFamily, ServesWholeStepsThatTheTemporalOneCannotFuse) {
  const Family& system = family_named("system");
  EXPECT_TRUE(system.serves(step_of(corpus("yee3d"), {3, {64, 64, 64}}, 1)));
  EXPECT_TRUE(system.serves(step_of(corpus("gray_scott2d"), {2, {64, 64, 1}}, 2)));
  EXPECT_FALSE(system.serves(step_of(corpus("gray_scott2d"), {2, {64, 64, 1}}, 1)));
  EXPECT_FALSE(system.serves(step_of(corpus("heat3d"), {3, {64, 64, 64}}, 8)));
}

}  // namespace
}  // namespace stencil_tune
