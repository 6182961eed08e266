// Fused steps against plain repeated sweeps, in every cell: all boundaries, awkward grids, one and two fields' types.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/launch.hpp"
#include "generator/kernel_source/source.hpp"
#include "templates/tile_grid.cuh"
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/fused/temporal_cases.hpp"
#include "tuner/executor/executor.hpp"
#include "tuner/verify/sharpness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

/// On more than one grid each.
void expect_all_right(const std::vector<HostCase>& cases) { expect_right(cases, 2); }

class TemporalBoundaries : public testing::TestWithParam<Boundary> {};

TEST_P(TemporalBoundaries, AreExactAtEveryFusedStep) { expect_all_right(temporal_cases(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Each, TemporalBoundaries,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(TemporalKernels, FuseTwoToEightSteps) { expect_all_right(temporal_step_cases()); }

TEST(TemporalKernels, FuseStepsOnALine) { expect_all_right(temporal_line_cases()); }

TEST(TemporalKernels, KeepSumsOfLinearStencils) { expect_all_right(temporal_sums_cases()); }

TEST(TemporalKernels, KeepHeldCellsInEachLoop) { expect_all_right(part_of(temporal_held_cases(), Part::first)); }

TEST(TemporalKernels, KeepHeldCellsInEachLoopInTheOtherCases) {
  expect_all_right(part_of(temporal_held_cases(), Part::others));
}

TEST(TemporalKernels, SharePlanesOutAmongBlocks) { expect_all_right(part_of(temporal_share_cases(), Part::first)); }

TEST(TemporalKernels, SharePlanesOutAmongBlocksInTheOtherCases) {
  expect_all_right(part_of(temporal_share_cases(), Part::others));
}

TEST(TemporalKernels, ShareStepsOutAmongGroupsOfWarps) { expect_all_right(temporal_group_cases()); }

TEST(TemporalKernels, ReadRowsBeyondTheTile) { expect_all_right(part_of(temporal_rim_cases(), Part::first)); }

TEST(TemporalKernels, ReadRowsBeyondTheTileInTheOtherCases) {
  expect_all_right(part_of(temporal_rim_cases(), Part::others));
}

TEST(TemporalKernels, ShareTilesInClusters) { expect_all_right(temporal_cluster_cases()); }

TEST(TemporalKernels, SpanTilesWithSeveralWarps) { expect_all_right(wide_temporal_cases()); }

TEST(TemporalKernels, WaitForEachOtherWithinAStep) { expect_all_right(split_barrier_cases()); }

TEST(TemporalKernels, HaveRowsCopiedByTma) { expect_all_right(temporal_tma_cases()); }

TEST(TemporalKernels, ServeStencilsThatReachFurtherToOneSide) { expect_all_right(lopsided_temporal_cases()); }

TEST(TemporalKernels, FuseStepsOfNonlinearStencilsAndOfThoseWithoutCorners) {
  const std::vector<HostCase> cases = defined_temporal_cases();
  expect_all_right(cases);
  for (const HostCase& each : cases) {
    const Sharpness sharpness = sharp_numbers(each.problems.back(), each.tuning.steps).sharpness;
    EXPECT_GE(sharpness.share, kSharp) << describe(each) << ": bounds that no value breaks";
  }
}

TEST(TemporalKernels, KeepFieldsThatNoStepChanges) { expect_all_right(temporal_constant_cases()); }

TEST(TemporalShapes, HoldTheConstantFieldsUntilTheLastLevelHasReadThem) {
  const Problem problem = make_problem(load_definition("corpus/hotspot3d.toml"), ElementType::f32,
                                       everywhere(Boundary::hold), {3, {512, 512, 512}}, 0, 8);
  const Tuning tuning = parse_code("temporal.bx32.by4.rx2.ry4.v2.pf4.t3.ch3");
  // Four planes of each field in flight, two that later levels read and one that is read now; two
  // stages of three levels of 4 warps' two edge rows, each with room for a lane more, and 16 bytes before the first.
  EXPECT_EQ(Candidate(problem, tuning).shape().shared.bytes,
            (4U + 4 + 2 + 1) * 64 * 16 * 4 + 16 + 2U * 3 * 4 * 2 * 66 * 4);
}

/// Eight steps that each add a quarter of f16's last place to 1.
TEST(TemporalKernels, KeepF32BetweenStepsOf16BitTypes) {
  StencilBuilder builder("growth", 2);
  const int in = builder.field("u"), out = builder.field("u_next");
  const NodeId factor = builder.coefficient_value(builder.coefficient("c", 1 + 0x1p-12));
  const NodeId none = builder.coefficient_value(builder.coefficient("zero", 0));
  builder.update(out, builder.apply(Operation::add, builder.apply(Operation::multiply, factor, builder.read(in, {})),
                                    builder.apply(Operation::multiply, none, builder.read(in, {0, 1, 0}))));
  builder.rotate(out, in);
  const Problem problem = make_problem(std::move(builder).build(), ElementType::f16, everywhere(Boundary::periodic),
                                       {2, {128, 24, 1}}, 0, 8);
  for (const char* text : {"temporal.bx32.by1.rx4.pf2.t8", "temporal.bx32.by1.rx4.sums.pf2.t8"}) {
    const Tuning tuning = parse_code(text);
    ASSERT_TRUE(is_legal({problem, tuning}, limits_of_architecture("sm_90"))) << text;
    constexpr std::uint16_t kOne = 0x3c00;
    const std::vector<std::uint16_t> before(static_cast<std::size_t>(problem.allocated_cells()), kOne);
    std::vector<std::uint16_t> after(before.size(), 0);
    const std::array<std::uint64_t, 1> inputs{reinterpret_cast<std::uint64_t>(before.data())};
    const std::array<std::uint64_t, 1> outputs{reinterpret_cast<std::uint64_t>(after.data())};
    const std::vector<double> coefficients{1 + 0x1p-12, 0};
    const Box box = updated_box(problem);
    const KernelSource source = generate({problem, tuning});
    const LaunchGeometry geometry = launch_geometry({problem, tuning}, box);
    const auto fault =
        HostLibrary(std::span(&source, 1))
            .kernel(source.entry)
            .run(geometry, KernelArguments({problem, tuning}, box).pack(inputs, outputs, coefficients, {}));
    ASSERT_FALSE(fault) << fault->message;
    EXPECT_EQ(std::count(after.begin(), after.end(), kOne + 2), static_cast<std::ptrdiff_t>(after.size())) << text;
  }
}

TEST(TemporalShapes, LagAsFarAsTheirSumsWaitForOtherWarpsRows) {
  const auto shape = [](Shape form, int order) {
    const Problem problem = make_problem(make_builtin(form, 3, order), ElementType::f64, everywhere(Boundary::hold),
                                         {3, {512, 512, 512}}, 0, 8);
    return Candidate(problem, parse_code("temporal.bx32.by8.rx2.ry4.sums.v2.pf2.t2")).shape().fused;
  };
  EXPECT_EQ(shape(Shape::star, 2).lag, 2) << "what lies ahead of an output is in its column";
  EXPECT_EQ(shape(Shape::star, 2).kept, 4);
  EXPECT_EQ(shape(Shape::box, 1).lag, 2) << "one more than its reach";
  EXPECT_EQ(shape(Shape::box, 1).kept, 3);
}

TEST(TemporalShapes, PutHeldCellsOfSumsAside) {
  const auto bytes = [](Boundary boundary, const char* code) {
    const Problem problem = make_problem(make_builtin(Shape::box, 3, 1), ElementType::f64,
                                         {boundary, boundary, Boundary::zero}, {3, {512, 512, 512}}, 0, 8);
    return Candidate(problem, parse_code(code)).shape().shared.bytes;
  };
  // A column on each side of 24 rows, and two rows, of the plane that arrives and of those that the first level lags
  // behind. What the second leaves there is not stored.
  constexpr const char* kSums = "temporal.bx32.by8.rx3.ry3.sums.pf4.t2.heldaside";
  EXPECT_EQ(bytes(Boundary::hold, kSums) - bytes(Boundary::zero, kSums), (2U * 24 + 2 * 96) * (2 + 1) * 8);
  for (const char* code : {"temporal.bx32.by8.rx3.ry3.pf4.t2.heldchosen", "temporal.bx32.by8.rx3.ry3.sums.pf4.t2"}) {
    EXPECT_EQ(bytes(Boundary::hold, code), bytes(Boundary::zero, code)) << "they are in registers: " << code;
  }
}

TEST(TemporalShapes, StartTilesWhereTmaMay) {
  const auto left = [](ElementType type, const char* code) {
    const Problem problem =
        make_problem(make_builtin(Shape::star, 3, 1), type, everywhere(Boundary::hold), {3, {512, 512, 512}}, 0, 8);
    return Candidate(problem, parse_code(code)).shape().fused.left;
  };
  EXPECT_EQ(left(ElementType::f32, "temporal.bx32.by4.rx2.ry4.pf2.t3"), 3);
  EXPECT_EQ(left(ElementType::f32, "temporal.bx32.by4.rx2.ry4.tmarows.pf2.t3"), 4);
  EXPECT_EQ(left(ElementType::f64, "temporal.bx32.by4.rx2.ry4.tmarows.pf2.t6"), 6);
  EXPECT_EQ(left(ElementType::f16, "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3"), 8);
}

TEST(TemporalShapes, OverlapTilesByWhatTheStepsReach) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, everywhere(Boundary::hold),
                                       {3, {512, 512, 512}}, 0, 8);
  const Tuning tuning = parse_code("temporal.bx32.by16.rx2.ry4.v2.pf4.t3.ch3");
  const FusedLevels shape = Candidate(problem, tuning).shape().fused;
  EXPECT_EQ(shape.width, 64);
  EXPECT_EQ(shape.height, 64);
  EXPECT_EQ(shape.left, 4) << "rounded up to whole vectors";
  EXPECT_EQ(shape.above, 3);
  EXPECT_EQ(shape.lag, 1);
  EXPECT_EQ(shape.kept, 2);
  // Four planes of 64x64 cells in flight; two stages of three levels of 16 warps' two edge rows of 33 lanes.
  EXPECT_EQ(Candidate(problem, tuning).shape().shared.bytes, 4U * 64 * 64 * 4 + 16 + 2U * 3 * 16 * 2 * 66 * 4);
  // The first tile stores 60 columns, each one after it 56 more.
  EXPECT_EQ(overlapping_tiles(512, 64, 4, 4, 0, false), 9);
  EXPECT_EQ(overlapping_tiles(64, 64, 4, 4, 0, false), 1);
  EXPECT_EQ(overlapping_tiles(65, 64, 4, 4, 0, false), 2);
  EXPECT_EQ(overlapping_tiles(64, 64, 4, 4, 0, true), 2);
  EXPECT_EQ(overlapping_tiles(64, 64, 4, 4, 4, false), 1);
  EXPECT_EQ(overlapping_tiles(120, 64, 4, 4, 0, false), 2);
  EXPECT_EQ(overlapping_tiles(120, 64, 4, 4, 4, false), 3) << "the second begins 4 cells earlier, and ends too early";
}

TEST(TemporalShapes, LoseNoRowsToTheFirstStepWithARim) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32, everywhere(Boundary::hold),
                                       {3, {512, 512, 512}}, 0, 8);
  const auto shape = [&](const std::string& with) {
    return Candidate(problem, parse_code("temporal.bx32.by8.rx2.ry4.v2.pf4.t3.ch3" + with)).shape();
  };
  const KernelShape without = shape(""), rim = shape(".rim");
  EXPECT_EQ(without.fused.above, 6);
  EXPECT_EQ(rim.fused.above, 4);
  EXPECT_EQ(rim.fused.below, 4);
  EXPECT_EQ(rim.fused.left, without.fused.left);
  EXPECT_EQ(rim.tile[1], without.tile[1] + 4);
  EXPECT_EQ(rim.fused.rim_rows, 2);
  // The newest plane is the second ahead of the one that is updated; warps publish the first a step before they read
  // it.
  EXPECT_EQ(rim.fused.rim_age, 1);
  // Two rows of 64 cells above and below, of four planes on their way and one that is published; four rows more of 33
  // words that warps exchange above the first and below the last, in two stages of three levels.
  EXPECT_EQ(rim.shared.bytes - without.shared.bytes, (4U + 1) * 2 * 2 * 64 * 4 + 2U * 3 * 2 * 4 * 66 * 4);
}

TEST(TemporalShapes, ShareATileAmongTheBlocksOfACluster) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, everywhere(Boundary::hold),
                                       {3, {512, 512, 512}}, 0, 8);
  const Tuning tuning = parse_code("temporal.bx32.by8.rx2.ry4.v2.pf4.t4.ch3.cl2");
  const FusedLevels shape = Candidate(problem, tuning).shape().fused;
  EXPECT_EQ(shape.block_height, 32);
  EXPECT_EQ(shape.height, 64);
  // A block's four planes in flight; two stages of four levels of its 8 warps' and two others' edge rows; barriers.
  EXPECT_EQ(Candidate(problem, tuning).shape().shared.bytes,
            4U * 64 * 32 * 4 + 16 + 2U * 4 * (8 + 2) * 2 * 66 * 4 + 4 * 8);
  // 9 tiles in x, 9 in y of 56 rows and 4 more at both ends, 3 chunks: two blocks each.
  const LaunchGeometry geometry = launch_geometry({problem, tuning}, updated_box(problem));
  EXPECT_EQ(geometry.grid, (std::array<unsigned, 3>{2 * 9, 9, 3}));
  EXPECT_EQ(geometry.cluster, 2U);
}

TEST(TemporalShapes, ExchangeTheEndsOfRowsInTilesOfSeveralWarps) {
  const auto shape = [](int rank, const char* code) {
    const Extents extents{rank, {512, 512, rank == 3 ? 512 : 1}};
    return Candidate(make_problem(make_builtin(Shape::star, rank, 2), ElementType::f64, everywhere(Boundary::hold),
                                  extents, 0, 8),
                     parse_code(code))
        .shape();
  };
  const KernelShape plane = shape(2, "temporal.bx64.by1.rx4.v2.pf2.t4.tg2");
  EXPECT_EQ(plane.fused.width, 256);
  EXPECT_EQ(plane.fused.lag, 2) << "the ends of the middle row were published before";
  EXPECT_EQ(plane.fused.exchange_slots, 2);
  // Two rows in flight, two that groups pass on; two stages of four levels of both ends of 64 threads' parts of a
  // row, and of a word that is no thread's: whoever is first in the next level's row reads it.
  EXPECT_EQ(plane.shared.bytes, (2U + 2) * 256 * 8 + 16 + 2U * 4 * ((2 + 2) * 65 * 8 + 16));
  const KernelShape space = shape(3, "temporal.bx64.by2.rx2.ry5.pf1.t2");
  EXPECT_EQ(space.fused.end_rows, 1) << "two rows at each edge are published whole";
  EXPECT_EQ(space.shared.bytes, 128U * 10 * 8 + 16 + 2U * 2 * (2 * (4 * 2 + 1 * 4) * 65 * 8 + 16));
}

TEST(TemporalShapes, TakeWhatIsPassedOnAStepLaterWhereTheBarrierIsSplit) {
  const Problem problem = make_problem(make_builtin(Shape::star, 2, 1), ElementType::f64, everywhere(Boundary::hold),
                                       {2, {512, 512, 1}}, 0, 8);
  const KernelShape meet = Candidate(problem, parse_code("temporal.bx32.by1.rx4.pf2.t6.tg3")).shape();
  const KernelShape split = Candidate(problem, parse_code("temporal.bx32.by1.rx4.pf2.t6.tg3.split")).shape();
  EXPECT_EQ(meet.fused.delay, 6 + 2);
  EXPECT_EQ(split.fused.delay, 6 + 2 * 2);
  EXPECT_EQ(split.shared.bytes, meet.shared.bytes + 2U * 128 * 8 + 16)
      << "a plane more for each of two groups, a barrier";
}

TEST(TemporalConstraints, KeepSumsWhereTheyCanBe) {
  const Limits limits = limits_of_architecture("sm_90");
  constexpr std::string_view kCode = "temporal.bx32.by4.rx2.ry4.sums.v2.pf3.t2";
  const auto violated = [&](const Stencil& stencil, Boundary walked) {
    const Boundaries boundaries{Boundary::clamp, Boundary::reflect, walked};
    const Problem problem = make_problem(stencil, ElementType::f32, boundaries, {3, {128, 128, 128}}, 0, 4);
    const auto violation = first_violation({problem, parse_code(kCode)}, limits);
    return violation ? std::string(violation->constraint) : std::string("legal");
  };
  const Stencil box = make_builtin(Shape::box, 3, 1);
  EXPECT_EQ(violated(box, Boundary::hold), "legal");
  EXPECT_EQ(violated(box, Boundary::clamp), "temporal_sums");
  EXPECT_EQ(violated(box, Boundary::reflect), "temporal_sums");
  StencilBuilder builder("nonlinear", 3);
  const int in = builder.field("u"), out = builder.field("u_next");
  const NodeId above = builder.read(in, {0, 0, 1});
  builder.update(out, builder.apply(Operation::multiply, above, builder.read(in, {0, 0, 0})));
  builder.rotate(out, in);
  EXPECT_EQ(violated(std::move(builder).build(), Boundary::hold), "temporal_sums");
}

TEST(TemporalConstraints, AskForAsynchronousCopies) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, everywhere(Boundary::hold),
                                       {3, {128, 128, 128}}, 0, 4);
  const Tuning tuning = parse_code("temporal.bx32.by4.rx2.ry4.v2.pf3.t4");
  EXPECT_TRUE(is_legal({problem, tuning}, limits_of_architecture("sm_80")));
  const auto violation = first_violation({problem, tuning}, limits_of_architecture("sm_75"));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->constraint, "temporal_architecture");
}

TEST(TemporalConstraints, ExcludeWhatWouldBeWrong) {
  const Limits limits = limits_of_architecture("sm_90");
  const auto violated = [&](const Stencil& stencil, const Boundaries& boundaries, const Extents& extents, int steps,
                            std::string_view code) {
    const auto violation = first_violation(
        {make_problem(stencil, ElementType::f32, boundaries, extents, 0, steps), parse_code(code)}, limits);
    return violation ? std::string(violation->constraint) : std::string("legal");
  };
  const Stencil star = make_builtin(Shape::star, 3, 1);
  const Boundaries hold = everywhere(Boundary::hold);
  const Extents grid{3, {128, 128, 128}};
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"), "legal");
  EXPECT_EQ(violated(star, hold, grid, 3, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"), "temporal_steps");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx64.by4.rx2.ry4.v2.pf3.t4"), "legal");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx48.by4.rx2.ry4.v2.pf3.t4"), "temporal_warps");
  EXPECT_EQ(violated(parse_stencil("u_next = u[x-1] + u[z+1] + 0.1*y", 3), hold, grid, 4,
                     "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"),
            "legal");
  EXPECT_EQ(violated(make_builtin(Shape::star, 1, 1), hold, {1, {4096, 1, 1}}, 4, "temporal.bx64.by1.rx2.pf1.t4"),
            "temporal_warps");
  // Cells beyond an edge in y are answered from rows whose ends are not published.
  const Boundaries clamped{Boundary::hold, Boundary::clamp, Boundary::hold};
  EXPECT_EQ(violated(star, clamped, grid, 4, "temporal.bx64.by4.rx2.ry4.v2.pf3.t4"), "legal");
  EXPECT_EQ(violated(make_builtin(Shape::box, 3, 1), clamped, grid, 4, "temporal.bx64.by4.rx2.ry4.v2.pf3.t2"),
            "temporal_corners");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.split"), "legal");
  EXPECT_EQ(
      violated(make_builtin(Shape::star, 2, 1), hold, {2, {512, 512, 1}}, 4, "temporal.bx32.by1.rx2.pf3.t4.split"),
      "temporal_barrier")
      << "one warp a block";
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.t4"), "temporal_prefetch");
  EXPECT_EQ(violated(star, hold, {3, {60, 128, 128}}, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"),
            "temporal_tile_in_grid");
  EXPECT_EQ(violated(star, hold, {3, {128, 128, 4}}, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.ch3"),
            "temporal_tile_in_grid");
  EXPECT_EQ(violated(star, hold, grid, 8, "temporal.bx32.by4.rx2.ry4.v2.pf3.t8"), "tile_not_empty");
  EXPECT_EQ(violated(make_builtin(Shape::star, 3, 2), hold, grid, 4, "temporal.bx32.by8.rx1.ry4.pf3.t2"),
            "temporal_reach");
  EXPECT_EQ(violated(make_builtin(Shape::star, 3, 2), everywhere(Boundary::reflect), grid, 4,
                     "temporal.bx32.by8.rx2.ry2.v2.pf3.t2"),
            "temporal_reach");
  EXPECT_EQ(violated(make_builtin(Shape::star, 3, 2), everywhere(Boundary::reflect), grid, 4,
                     "temporal.bx32.by8.rx2.ry4.v2.pf3.t2"),
            "legal")
      << "a mirrored cell of a row may be the neighbour's";
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.cl2"), "legal");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.cl16"), "clusters");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by1.rx2.ry8.v2.pf3.t3.cl2"), "temporal_clusters");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.rim"), "legal");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by1.rx2.ry8.v2.pf3.t2.rim"), "temporal_rim");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx64.by4.rx2.ry4.v2.pf3.t4.rim"), "temporal_rim");
  EXPECT_EQ(violated(star, hold, grid, 5, "temporal.bx32.by5.rx2.ry2.v2.pf3.t5.rim"), "temporal_rim")
      << "two rows of its own, and a rim of one that may lie in held layers";
  EXPECT_EQ(violated(make_builtin(Shape::star, 2, 1), hold, {2, {512, 512, 1}}, 4, "temporal.bx32.by1.rx2.pf3.t4.rim"),
            "temporal_rim");
  const Stencil one_way = parse_stencil("u_next = u + k * (u[x,y-1,z] - u)", 3);
  EXPECT_EQ(violated(one_way, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.cl2"), "temporal_clusters");
  const Problem older = make_problem(star, ElementType::f32, hold, grid, 0, 4);
  const auto no_clusters =
      first_violation({older, parse_code("temporal.bx32.by4.rx2.ry4.v2.pf3.t4.cl2")}, limits_of_architecture("sm_80"));
  ASSERT_TRUE(no_clusters);
  EXPECT_EQ(no_clusters->constraint, "clusters");
  const Stencil conducting = load_definition("corpus/anisotropic_diffusion3d.toml");
  EXPECT_EQ(violated(conducting, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2"), "temporal_fields");
  const auto reason = first_violation(
      {make_problem(conducting, ElementType::f32, hold, grid, 0, 4), parse_code("temporal.bx32.by4.rx2.ry4.v2.pf3.t2")},
      limits);
  EXPECT_NE(reason->message.find("field 'k' is read at ("), std::string::npos) << reason->message;
  EXPECT_EQ(
      violated(load_definition("corpus/acoustic3d_o2.toml"), hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2"),
      "temporal_fields");
  EXPECT_EQ(violated(load_definition("corpus/hotspot3d.toml"), hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"),
            "legal");
  EXPECT_EQ(violated(two_field_stencil(), hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2"), "temporal_fields");
}

}  // namespace
}  // namespace stencil_tune
