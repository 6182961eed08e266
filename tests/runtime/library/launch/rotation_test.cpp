#include "runtime/library/launch/rotation.hpp"

#include "runtime/library/launch/layer_copier.hpp"

#include "generator/definition/definition.hpp"
#include "generator/stencil/buffers.hpp"
#include "tests/runtime/expect_error.hpp"

#include <cstring>

namespace stencil_tune {
namespace {

Stencil with(int fields, std::vector<Rotation> rotations, std::vector<int> outputs) {
  Stencil stencil;
  stencil.fields.resize(static_cast<std::size_t>(fields), "f");
  stencil.rotations = std::move(rotations);
  Stage stage;
  for (const int output : outputs) stage.updates.push_back({.output = output, .expression = 0});
  stencil.stages.push_back(stage);
  return stencil;
}

TEST(Rotation, PingPongSwaps) { EXPECT_EQ(buffer_rotation(with(2, {{1, 0}}, {1})), (std::vector<int>{1, 0})); }

TEST(Rotation, TwoLevelSchemesTurnThreeBuffersRound) {
  // u, u_prev, u_next: u_next becomes u, u becomes u_prev, and the oldest is written next.
  EXPECT_EQ(buffer_rotation(with(3, {{2, 0}, {0, 1}}, {2})), (std::vector<int>{2, 0, 1}));
}

TEST(Rotation, FieldsThatNoRotationNamesKeepTheirBuffers) {
  EXPECT_EQ(buffer_rotation(with(4, {{3, 1}}, {3})), (std::vector<int>{0, 3, 2, 1}));
}

TEST(Rotation, SeveralPairsSwapApart) {
  EXPECT_EQ(buffer_rotation(with(4, {{2, 0}, {3, 1}}, {2, 3})), (std::vector<int>{2, 3, 0, 1}));
}

Problem defined(const std::string& text) {
  return make_problem(parse_definition("name = \"s\"\nrank = 1\n" + text, "s.toml"), ElementType::f32,
                      {Boundary::hold, Boundary::hold, Boundary::hold}, {1, {100, 1, 1}}, 0, 1, kWholeStep);
}

TEST(Rotation, AStencilWhoseOutputsAreNoInputsCannotAdvance) {
  const Problem blur = defined("fields = [\"u\", \"w\", \"v\"]\n[[stage]]\nv = \"u[x-1] + w\"\n");
  EXPECT_ERROR(require_next_step(blur), ErrorCode::invalid_argument, "no rotations");
  const Problem there_and_back =
      defined("fields = [\"a\", \"b\"]\n[[stage]]\nb = \"a[x-1] + a\"\n[[stage]]\na = \"b[x+1] + b\"\n");
  EXPECT_NO_THROW(require_next_step(there_and_back));
}

TEST(Rotation, EachChainTurnsItsOwnBuffersRoundInWhateverOrderTheFieldsStand) {
  // u_next becomes v and v_next becomes u, and a third buffer remembers what v was.
  EXPECT_EQ(buffer_rotation(with(5, {{0, 3}, {1, 2}, {3, 4}}, {0, 1})), (std::vector<int>{4, 2, 1, 0, 3}));
}

/// (place, whose layers, stage) of a launch of so many steps.
std::vector<std::vector<int>> held(const Problem& problem, int steps) {
  const LaunchBuffers buffers = launch_buffers(problem, steps);
  std::vector<std::vector<int>> result;
  for (const HeldOutput& each : held_outputs(problem, buffers.stored, buffers.outputs)) {
    result.push_back({each.place, each.layers_of, static_cast<int>(each.stage), each.between ? 1 : 0});
  }
  return result;
}

using Held = std::vector<std::vector<int>>;

TEST(Rotation, WhatALaunchStoresHasTheLayersOfTheFieldThatItBecomes) {
  EXPECT_EQ(held(make_problem(make_builtin(Shape::star, 1, 1), ElementType::f32, {}, {1, {100, 1, 1}}), 1),
            (Held{{1, 0, 0, 0}}));
  const Problem wave = defined(
      "fields = [\"p\", \"p_prev\", \"p_next\"]\n[[stage]]\np_next = \"p[x-1] + p[x+1] - p_prev\"\n"
      "[rotate]\np_next = \"p\"\np = \"p_prev\"\n");
  EXPECT_EQ(held(wave, 1), (Held{{2, 0, 0, 0}}));
  EXPECT_EQ(held(wave, 2), (Held{{2, 0, 0, 0}, {3, 0, 0, 0}})) << "and the older level in the spare buffer";
}

TEST(Rotation, LayersAreThoseOfTheStageThatWritesTheField) {
  const Problem problem = defined(
      "fields = [\"a\", \"b\", \"a_next\", \"b_next\"]\n[[stage]]\na_next = \"a[x-1] + a\"\n"
      "[[stage]]\nb_next = \"b[x+1] + a_next\"\n[rotate]\na_next = \"a\"\nb_next = \"b\"\n");
  EXPECT_EQ(held(problem, 1), (Held{{2, 0, 0, 0}, {3, 1, 1, 0}}));
}

TEST(Rotation, AnOlderLevelCarriesItsOwnLayersUntilAStepHasMovedIt) {
  const Problem wave = defined(
      "fields = [\"p\", \"q\", \"p_next\"]\n[[stage]]\np_next = \"p[x+1] - q[x-1]\"\n"
      "[rotate]\np_next = \"p\"\np = \"q\"\n");
  EXPECT_EQ(carried_layers(wave, RunLayers::differ), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(carried_layers(wave, RunLayers::alike), (std::vector<int>{0, 0, 0}));
}

/// How often each cell of a field is covered by the boxes.
std::vector<int> coverage(const Problem& problem, const std::vector<Box>& boxes) {
  std::vector<int> covered(static_cast<std::size_t>(problem.allocated_cells()), 0);
  for (const Box& box : boxes) {
    for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
      for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
        for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
          ++covered.at(static_cast<std::size_t>((z * problem.extents.n[1] + y) * problem.pitch + x));
        }
      }
    }
  }
  return covered;
}

void expect_layers_exact(const Problem& problem) {
  const Box updated = updated_box(problem);
  const std::vector<int> covered = coverage(problem, held_boxes(problem));
  for (std::int64_t z = 0; z < problem.extents.n[2]; ++z) {
    for (std::int64_t y = 0; y < problem.extents.n[1]; ++y) {
      for (std::int64_t x = 0; x < problem.pitch; ++x) {
        const std::array<std::int64_t, 3> at{x, y, z};
        bool inside = true;
        for (std::size_t a = 0; a < 3; ++a) inside = inside && at[a] >= updated.low[a] && at[a] < updated.high[a];
        const bool held = x < problem.extents.n[0] && !inside;
        const auto cell = static_cast<std::size_t>((z * problem.extents.n[1] + y) * problem.pitch + x);
        ASSERT_EQ(covered[cell], held ? 1 : 0) << x << " " << y << " " << z;
      }
    }
  }
}

TEST(HeldLayers, AreTheCellsThatNoStepWritesEachOnce) {
  const Stencil star = make_builtin(Shape::star, 3, 2);
  expect_layers_exact(make_problem(star, ElementType::f64, {}, {.rank = 3, .n = {7, 9, 6}}, 8));
  expect_layers_exact(make_problem(star, ElementType::f32, {Boundary::periodic, Boundary::hold, Boundary::zero},
                                   {.rank = 3, .n = {5, 6, 7}}));
  expect_layers_exact(make_problem(make_builtin(Shape::box, 2, 1), ElementType::f16, {}, {.rank = 2, .n = {6, 5, 1}}));
  expect_layers_exact(
      make_problem(make_builtin(Shape::star, 1, 3), ElementType::f32, {}, {.rank = 1, .n = {20, 1, 1}}));
  expect_layers_exact(make_problem(parse_stencil("u[x-2,y] + u[x+1,y] + u[x,y+1]", 2), ElementType::f32, {},
                                   {.rank = 2, .n = {9, 8, 1}}));
}

TEST(HeldLayers, AreTheWholeGridWhereNothingIsInside) {
  const Problem problem =
      make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32, {}, {.rank = 3, .n = {9, 3, 9}});
  for (const int covered : coverage(problem, held_boxes(problem))) ASSERT_EQ(covered, 1);
}

TEST(HeldLayers, AreNoneWithoutBoundaryHold) {
  constexpr Boundaries kPeriodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
  EXPECT_TRUE(held_boxes(make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, kPeriodic,
                                      {.rank = 3, .n = {8, 8, 8}}))
                  .empty());
}

}  // namespace
}  // namespace stencil_tune
