// Fused steps against plain repeated sweeps, in every cell: all boundaries, awkward grids, one and two fields' types.
#include "generator/constraints.hpp"
#include "generator/temporal.hpp"
#include "tests/kernels/kernel_cases.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace stencil_tune {
namespace {

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

/// The stencil on grids that its tile fits into just so, with a few cells more, and with rows padded.
HostCase temporal_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view text) {
  const Tuning tuning = parse_code(text);
  const Limits limits = limits_of_architecture("sm_90");
  const auto problem_on = [&](const Extents& extents, std::int64_t pitch) {
    return make_problem(stencil, type, boundaries, extents, pitch, tuning.steps);
  };
  const Problem large = problem_on({stencil.rank, {512, 512, stencil.rank > 2 ? 512 : 1}}, 0);
  const TemporalShape shape = temporal_shape(large, tuning);
  HostCase host_case{tuning, {}, {}};
  const auto add = [&](std::int64_t wider, std::int64_t higher, std::int64_t planes, std::int64_t pad) {
    Extents extents{2, {shape.width + wider, planes, 1}};
    if (stencil.rank == 3) extents = {3, {shape.width + wider, shape.height + higher, planes}};
    const Problem problem = problem_on(extents, extents.n[0] + pad);
    if (is_legal(problem, limits, tuning)) host_case.problems.push_back(problem);
  };
  const std::int64_t lag = tuning.steps * shape.lag;
  add(0, 0, 7, 0);
  add(tuning.vector * 3, 1, 2 * lag + 3, 0);
  add(shape.width - 4, shape.height + 3, tuning.chunks + 2, 0);
  add(5, 2, 2 * lag + tuning.chunks, 16 * tuning.vector - (shape.width + 5) % (16 * tuning.vector));
  add(1, 0, std::max(tuning.chunks, 2), tuning.vector - 1);
  return host_case;
}

void expect_right(const std::vector<HostCase>& cases) {
  const auto verdicts = check_cases_on_host(cases);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_TRUE(verdicts[i].right) << describe(cases[i]) << "\n" << verdicts[i].message;
    EXPECT_GT(verdicts[i].cells_checked, 0) << describe(cases[i]);
    EXPECT_GE(cases[i].problems.size(), 2U) << describe(cases[i]);
  }
}

class TemporalBoundaries : public testing::TestWithParam<Boundary> {};

TEST_P(TemporalBoundaries, AreExactAtEveryFusedStep) {
  const Boundaries boundaries = everywhere(GetParam());
  const auto star = [](int rank, int order) { return make_builtin(Shape::star, rank, order); };
  const auto box = [](int rank, int order) { return make_builtin(Shape::box, rank, order); };
  expect_right({
      temporal_case(star(3, 1), ElementType::f32, boundaries, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.ch2.u2"),
      temporal_case(star(3, 1), ElementType::f64, boundaries, "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.ch3"),
      temporal_case(star(3, 2), ElementType::f32, boundaries, "temporal.bx32.by4.rx4.ry4.v4.pf2.t2.u4"),
      temporal_case(box(3, 1), ElementType::f32, boundaries, "temporal.bx32.by4.rx2.ry3.v1.pf1.t3.ch2"),
      temporal_case(box(3, 1), ElementType::bf16, boundaries, "temporal.bx32.by2.rx2.ry4.v2.pf4.t2"),
      temporal_case(star(2, 1), ElementType::f32, boundaries, "temporal.bx32.by1.rx4.v4.pf3.t8.ch2.u2"),
      temporal_case(star(2, 3), ElementType::f64, boundaries, "temporal.bx32.by1.rx4.v2.pf2.t3.ch3"),
      temporal_case(box(2, 2), ElementType::f16, boundaries, "temporal.bx32.by1.rx4.v4.pf2.t2"),
  });
}

INSTANTIATE_TEST_SUITE_P(Each, TemporalBoundaries,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(TemporalKernels, FuseOneToEightSteps) {
  std::vector<HostCase> cases;
  for (const int steps : {2, 3, 5, 6, 7, 8}) {
    const std::string code = "temporal.bx32.by3.rx1.ry7.pf2.ch2.t" + std::to_string(steps);
    cases.push_back(temporal_case(make_builtin(Shape::star, 3, 1), ElementType::f32,
                                  {Boundary::periodic, Boundary::hold, Boundary::clamp}, code));
  }
  expect_right(cases);
}

TEST(TemporalKernels, ServeStencilsThatReachFurtherToOneSide) {
  StencilBuilder builder("upwind", 3);
  const int in = builder.field("u"), out = builder.field("u_next");
  NodeId sum = builder.number(0);
  int number = 0;
  for (const Offset& offset :
       {Offset{0, 0, 0}, Offset{-2, 0, 0}, Offset{0, -1, 0}, Offset{0, 0, -2}, Offset{1, 0, 0}, Offset{0, -1, -1}}) {
    const int weight = builder.coefficient("c" + std::to_string(number++), 0.2);
    sum =
        builder.apply(Operation::add, sum,
                      builder.apply(Operation::multiply, builder.coefficient_value(weight), builder.read(in, offset)));
  }
  builder.update(out, sum);
  builder.rotate(out, in);
  const Stencil stencil = std::move(builder).build();
  std::vector<HostCase> cases;
  for (const Boundary boundary : {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic}) {
    cases.push_back(
        temporal_case(stencil, ElementType::f32, everywhere(boundary), "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.ch2"));
  }
  expect_right(cases);
}

TEST(TemporalShapes, OverlapTilesByWhatTheStepsReach) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, everywhere(Boundary::hold),
                                       {3, {512, 512, 512}}, 0, 8);
  const Tuning tuning = parse_code("temporal.bx32.by16.rx2.ry4.v2.pf4.t3.ch3");
  const TemporalShape shape = temporal_shape(problem, tuning);
  EXPECT_EQ(shape.width, 64);
  EXPECT_EQ(shape.height, 64);
  EXPECT_EQ(shape.left, 4) << "rounded up to whole vectors";
  EXPECT_EQ(shape.above, 3);
  EXPECT_EQ(shape.lag, 1);
  EXPECT_EQ(shape.held, 2);
  // Four planes of 64x64 cells on their way; two slots of three levels of 16 warps' two edge rows.
  EXPECT_EQ(shape.shared_bytes, 4U * 64 * 64 * 4 + 2U * 3 * 16 * 2 * 64 * 4);
  // The first tile stores 60 columns, each one after it 56 more.
  EXPECT_EQ(temporal_tiles(512, 64, 4, 4, Boundary::hold), 9);
  EXPECT_EQ(temporal_tiles(64, 64, 4, 4, Boundary::hold), 1);
  EXPECT_EQ(temporal_tiles(65, 64, 4, 4, Boundary::hold), 2);
  EXPECT_EQ(temporal_tiles(64, 64, 4, 4, Boundary::periodic), 2);
}

TEST(TemporalConstraints, ExcludeWhatWouldBeWrong) {
  const Limits limits = limits_of_architecture("sm_90");
  const auto violated = [&](const Stencil& stencil, const Boundaries& boundaries, const Extents& extents, int steps,
                            std::string_view code) {
    const auto violation = first_violation(make_problem(stencil, ElementType::f32, boundaries, extents, 0, steps),
                                           limits, parse_code(code));
    return violation ? std::string(violation->constraint) : std::string("legal");
  };
  const Stencil star = make_builtin(Shape::star, 3, 1);
  const Boundaries hold = everywhere(Boundary::hold);
  const Extents grid{3, {128, 128, 128}};
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"), "legal");
  EXPECT_EQ(violated(star, hold, grid, 3, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"), "temporal_steps");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx64.by4.rx2.ry4.v2.pf3.t4"), "temporal_warps");
  EXPECT_EQ(violated(star, hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.t4"), "temporal_prefetch");
  EXPECT_EQ(violated(star, hold, {3, {60, 128, 128}}, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4"),
            "temporal_tile_in_grid");
  EXPECT_EQ(violated(star, hold, {3, {128, 128, 4}}, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.ch3"),
            "temporal_tile_in_grid");
  EXPECT_EQ(violated(star, hold, grid, 8, "temporal.bx32.by4.rx2.ry4.v2.pf3.t8"), "tile_not_empty");
  EXPECT_EQ(violated(make_builtin(Shape::star, 3, 2), hold, grid, 4, "temporal.bx32.by8.rx1.ry4.pf3.t2"),
            "temporal_reach");
  EXPECT_EQ(violated(make_builtin(Shape::star, 3, 2), everywhere(Boundary::reflect), grid, 4,
                     "temporal.bx32.by8.rx2.ry4.v2.pf3.t2"),
            "temporal_reach");
  EXPECT_EQ(violated(two_field_stencil(), hold, grid, 4, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2"), "temporal_fields");
}

}  // namespace
}  // namespace stencil_tune
