#include "generator/stencil/buffers.hpp"

#include "generator/definition/definition.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stencil_tune {
namespace {

using Places = std::vector<int>;

Problem defined(const std::string& text, int stage = kWholeStep) {
  return make_problem(parse_definition("name = \"s\"\nrank = 1\n" + text, "s.toml"), ElementType::f32,
                      {Boundary::hold, Boundary::hold, Boundary::hold}, {1, {100, 1, 1}}, 0, 100, stage);
}

Problem wave() {
  return defined(R"toml(
fields = ["p_prev", "p", "p_next"]
[[stage]]
p_next = "p[x-1] + p[x+1] - p_prev"
[rotate]
p_next = "p"
p = "p_prev"
)toml");
}

/// Predicts into a field that no rotation moves, and corrects.
Problem corrector() {
  return defined(R"toml(
fields = ["u", "guess", "u_next"]
[[stage]]
guess = "u[x-1] + u"
[[stage]]
u_next = "u + guess[x+1] - guess"
[rotate]
u_next = "u"
)toml");
}

/// There and back: no rotation, the second stage overwrites what the first one read.
Problem in_place() {
  return defined(R"toml(
fields = ["a", "b"]
[[stage]]
b = "a[x-1] + a[x+1]"
[[stage]]
a = "b[x-1] + b[x+1]"
)toml");
}

TEST(LaunchBuffers, OneStepOfTwoTimeLevelsTurnsThreeBuffersRound) {
  const LaunchBuffers one = launch_buffers(wave(), 1);
  EXPECT_EQ(one.outputs, Places{2});
  EXPECT_EQ(one.next, (Places{1, 2, 0}));
  EXPECT_EQ(one.spares, 0);
}

TEST(LaunchBuffers, FusedStepsOfTwoTimeLevelsStoreTheOlderOneInASpareBuffer) {
  for (const int steps : {2, 3, 7}) {
    const LaunchBuffers fused = launch_buffers(wave(), steps);
    EXPECT_EQ(fused.outputs, (Places{2, 3})) << "p_next where it is, p of a step before in the spare one";
    EXPECT_EQ(fused.next, (Places{3, 2, 1, 0})) << "after two launches every buffer is back";
    EXPECT_EQ(fused.spares, 1);
  }
  EXPECT_EQ(spare_buffers(wave(), 1), 0);
  EXPECT_EQ(spare_buffers(wave(), 100), 1);
}

TEST(LaunchBuffers, FieldsBetweenStagesKeepTheirBuffers) {
  for (const int steps : {1, 2, 3}) {
    const LaunchBuffers buffers = launch_buffers(corrector(), steps);
    EXPECT_EQ(buffers.outputs, Places{2});
    EXPECT_EQ(buffers.next, (Places{2, 1, 0}));
    EXPECT_EQ(buffers.spares, 0);
  }
}

TEST(LaunchBuffers, WhatIsOverwrittenInPlaceIsStoredInASpareBuffer) {
  const LaunchBuffers buffers = launch_buffers(in_place(), 1);
  EXPECT_EQ(buffers.outputs, Places{2});
  EXPECT_EQ(buffers.next, (Places{2, 1, 0}));
  EXPECT_EQ(buffers.spares, 1);
}

TEST(LaunchBuffers, AStageAloneWritesItsOutputsAndRotatesAsTheStepDoes) {
  const Problem first = defined(R"toml(
fields = ["e", "h", "e_next", "h_next"]
[[stage]]
h_next = "h - e[x+1] + e"
[[stage]]
e_next = "e + h_next - h_next[x-1]"
[rotate]
e_next = "e"
h_next = "h"
)toml",
                                0);
  EXPECT_EQ(launch_buffers(first, 1).outputs, Places{3});
  EXPECT_EQ(launch_buffers(first, 1).next, (Places{2, 3, 0, 1}));
}

TEST(LayerClasses, JoinWhatTakesTurnsAndNoOther) {
  EXPECT_EQ(layer_classes(wave(), launch_buffers(wave(), 2)), (Places{0, 0, 0, 0}));
  EXPECT_EQ(layer_classes(corrector(), launch_buffers(corrector(), 2)), (Places{0, 0, 0})) << "guess stands for u";
  EXPECT_EQ(layer_classes(in_place(), launch_buffers(in_place(), 1)), (Places{0, 0, 0})) << "b stands for a";
  const Problem crossed = defined(R"toml(
fields = ["u_next", "v_next", "u", "v", "old"]
[update]
u_next = "u[x-1] + old[x+1]"
v_next = "v[x+1] + u"
[rotate]
u_next = "v"
v_next = "u"
v = "old"
)toml");
  EXPECT_EQ(layer_classes(crossed, launch_buffers(crossed, 1)), (Places{0, 1, 1, 0, 0}));
  const Problem two_waves = defined(R"toml(
fields = ["a_next", "b_next", "a", "b", "b_old", "a_old"]
[update]
a_next = "a[x-1] - a_old + b"
b_next = "b[x+1] - b_old[x-1] + a"
[rotate]
a_next = "a"
a = "a_old"
b_next = "b"
b = "b_old"
)toml");
  for (const Problem& problem : {crossed, two_waves}) {
    for (const int steps : {1, 2, 3}) {
      const LaunchBuffers buffers = launch_buffers(problem, steps);
      const Places classes = layer_classes(problem, buffers);
      for (std::size_t place = 0; place < classes.size(); ++place) {
        EXPECT_EQ(classes[static_cast<std::size_t>(buffers.next[place])], classes[place])
            << "no buffer leaves those that carry the same layers: " << steps << " steps, place " << place;
      }
    }
  }
}

}  // namespace
}  // namespace stencil_tune
