#include "generator/stencil/problem.hpp"

#include "generator/definition/definition.hpp"
#include "generator/stencil/describe.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
constexpr Boundaries kZero{Boundary::zero, Boundary::zero, Boundary::zero};

TEST(Problem, DenseRowsUnlessAPitchIsGiven) {
  const Stencil star = make_builtin(Shape::star, 2, 1);
  EXPECT_EQ(make_problem(star, ElementType::f32, kHold, {2, {10, 6, 1}}).pitch, 10);
  const Problem padded = make_problem(star, ElementType::f64, kHold, {2, {10, 6, 1}}, 16);
  EXPECT_EQ(padded.allocated_cells(), 96);
  EXPECT_EQ(padded.field_bytes(), 768u);
}

TEST(Problem, HoldKeepsTheLayersWithinReach) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32, kHold, {3, {10, 11, 12}});
  EXPECT_EQ(updated_box(problem), (Box{{2, 2, 2}, {8, 9, 10}}));
  EXPECT_EQ(updated_box(problem).cells(), 6 * 7 * 8);
}

// The field that is read furthest on that side counts.
TEST(Problem, HoldKeepsAtEachEndWhatReadsToThatEndNeed) {
  const Problem upwind =
      make_problem(parse_stencil("u + 0.1 * u[x-1,y] + 0.2 * v[x,y+2]", 2), ElementType::f32, kHold, {2, {10, 11, 1}});
  EXPECT_EQ(updated_box(upwind), (Box{{1, 0, 0}, {10, 9, 1}}));
  EXPECT_EQ(held_text(upwind), "1 at the low end of x, 2 at the high end of y");
  const Problem uneven = make_problem(parse_stencil("u[x-2,y] + v[x-1,y] - v[x+1,y] + u[x,y-1] + v[x,y+1]", 2),
                                      ElementType::f32, kHold, {2, {10, 11, 1}});
  EXPECT_EQ(updated_box(uneven), (Box{{2, 1, 0}, {9, 10, 1}}));
  EXPECT_EQ(held_text(uneven), "2 at the low and 1 at the high end of x, 1 at each end of y");
  EXPECT_EQ(held_text(make_problem(uneven.stencil, ElementType::f32, kZero, {2, {10, 11, 1}})), "");
}

TEST(Problem, ReadsToOneSideLeaveNothingOnlyWhereNoCellLiesBeyondThem) {
  const Stencil upwind = parse_stencil("u[x-3]", 1);
  EXPECT_EQ(updated_box(make_problem(upwind, ElementType::f32, kHold, {1, {4, 1, 1}})), (Box{{3, 0, 0}, {4, 1, 1}}));
  EXPECT_EQ(updated_box(make_problem(upwind, ElementType::f32, kHold, {1, {3, 1, 1}})).cells(), 0);
  EXPECT_EQ(updated_box(make_problem(upwind, ElementType::f32, kHold, {1, {2, 1, 1}})).cells(), 0);
}

TEST(Problem, EachStageKeepsWhatItsOwnReadsNeed) {
  const Stencil yee = load_definition("corpus/fdtd2d.toml");
  const auto box = [&](int stage) {
    return updated_box(make_problem(yee, ElementType::f32, kHold, {2, {10, 11, 1}}, 0, 1, stage));
  };
  EXPECT_EQ(box(0), (Box{{1, 1, 0}, {10, 11, 1}}));
  EXPECT_EQ(box(1), (Box{{0, 0, 0}, {9, 10, 1}}));
}

TEST(Problem, OtherBoundariesUpdateEveryCellAxisByAxis) {
  const Boundaries mixed{Boundary::periodic, Boundary::hold, Boundary::clamp};
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, mixed, {3, {10, 11, 12}});
  EXPECT_EQ(updated_box(problem), (Box{{0, 1, 0}, {10, 10, 12}}));
}

TEST(Problem, AGridInsideItsHaloHasNothingToUpdate) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 4), ElementType::f32, kHold, {3, {3, 50, 50}});
  EXPECT_EQ(updated_box(problem).cells(), 0);
}

TEST(Problem, MinimalTrafficReadsAllCellsAndWritesUpdatedOnes) {
  const Stencil star = make_builtin(Shape::star, 2, 1);
  EXPECT_EQ(minimal_traffic_bytes(make_problem(star, ElementType::f32, kHold, {2, {10, 10, 1}})), 4.0 * (100 + 64));
  EXPECT_EQ(minimal_traffic_bytes(make_problem(star, ElementType::f64, kZero, {2, {10, 10, 1}}, 32)), 8.0 * 200);
}

TEST(Problem, RejectsWhatDoesNotFit) {
  const Stencil star = make_builtin(Shape::star, 2, 1);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {3, {8, 8, 8}}), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 0, 1}}), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, 7), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, 0, 0), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, 0, 1, 1), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, std::int64_t{1} << 60), Error);
}

TEST(Problem, AWholeStepTakesItsStateAndConstantsAndStoresWhatIsLeft) {
  const Stencil two_stages = parse_definition(R"(
name = "two"
rank = 2
fields = ["u", "v", "k", "t", "u_next"]
[[stage]]
t = "k*(u[x+1] - u[x-1]) + v[y-2]"
[[stage]]
u_next = "u + t[y+1]"
[rotate]
u_next = "u"
)",
                                              "two.toml");
  const Problem step = make_problem(two_stages, ElementType::f32, kHold, {2, {20, 20, 1}}, 0, 4, kWholeStep);
  EXPECT_EQ(step.facts.inputs, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(step.facts.outputs, std::vector<int>{4});
  EXPECT_EQ(step.facts.reach[0], (std::array<Reach, kMaxRank>{Reach{-1, 1}, Reach{-2, 1}, Reach{0, 0}}));
  EXPECT_EQ(updated_box(step), (Box{{1, 2, 0}, {19, 19, 1}}));
  EXPECT_TRUE(is_whole_step(step));
  EXPECT_EQ(kernel_inputs(step), (std::vector<int>{0, 1, 2})) << "t has the layers of u";
  EXPECT_EQ(kernel_inputs(make_problem(two_stages, ElementType::f32, kZero, {2, {20, 20, 1}}, 0, 4, kWholeStep)),
            step.facts.inputs);
  EXPECT_EQ(kernel_outputs(step, 3), std::vector<int>{4});
  EXPECT_FALSE(is_whole_step(make_problem(two_stages, ElementType::f32, kHold, {2, {20, 20, 1}}, 0, 1, 1)));
}

TEST(Problem, AStencilOfOneStageHasStage0AsItsWholeStep) {
  const Problem problem =
      make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, kHold, {2, {8, 8, 1}}, 0, 2, kWholeStep);
  EXPECT_EQ(problem.stage, 0);
  EXPECT_TRUE(is_whole_step(problem));
  EXPECT_EQ(kernel_inputs(problem), problem.facts.inputs);
  EXPECT_EQ(kernel_outputs(problem, 2), problem.facts.outputs);
}

/// The message for a one-liner on a line of that type; empty when it is accepted.
std::string objection(const std::string& expression, ElementType type) {
  try {
    make_problem(parse_stencil(expression, 1), type, kZero, {1, {9, 1, 1}});
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
}

TEST(Problem, RefusesConstantsThatTheComputeTypeCannotHold) {
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16}) {
    for (const auto& [expression, constant] :
         {std::pair{"u[x-1]/1e-39", "1e+39"}, std::pair{"1e-40 * u", "1e-40"}, std::pair{"u + 1e-60", "1e-60"},
          std::pair{"select(u < 1e-39, 1, u)", "1e-39"}, std::pair{"1e-30 * (1e-30 * u + u[x+1])", "1e-60"}}) {
      const std::string message = objection(expression, type);
      EXPECT_NE(message.find("constant " + std::string(constant)), std::string::npos) << expression << ": " << message;
      EXPECT_NE(message.find(name(type)), std::string::npos) << message;
    }
    EXPECT_EQ(objection("u * 2e-38 + 0 * u[x+1]", type), "");
  }
  EXPECT_EQ(objection("u[x-1]/1e-37 + 1e-60*u", ElementType::f64), "");
  EXPECT_NE(objection("u * 1e-310", ElementType::f64), "");
}

/// What make_problem() says of layers of that width on 12 x 7 cells.
std::string objection_to_layers(const char* layers, Boundary boundary) {
  Stencil stencil = parse_stencil("v = u + m[x-2] + m[y+1]; m(x in layer)", 2);
  if (layers != nullptr) stencil.layers = parse_layer_widths(layers, 2);
  try {
    make_problem(stencil, ElementType::f32, {boundary, boundary, boundary}, {2, {12, 7, 1}});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
}

TEST(Problem, LayersHaveWidthsThatGoWithTheBoundary) {
  const auto refuses = [](const char* layers, Boundary boundary, std::string_view why) {
    const std::string message = objection_to_layers(layers, boundary);
    EXPECT_NE(message.find(why), std::string::npos) << (layers != nullptr ? layers : "none") << ": " << message;
  };
  refuses(nullptr, Boundary::zero, "--layer 20");
  refuses("x=3", Boundary::periodic, "--layer x=0");
  refuses("x=3:2", Boundary::reflect, "need 3 cells");
  for (const char* fits : {"0", "3", "x=6", "x=12:0", "x=7:6", "x=0:20,y=7:0"}) {
    for (const Boundary boundary : {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::reflect}) {
      EXPECT_EQ(objection_to_layers(fits, boundary), "") << fits;
    }
  }
  EXPECT_EQ(objection_to_layers("0", Boundary::periodic), "");
}

}  // namespace
}  // namespace stencil_tune
