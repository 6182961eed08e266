#include "tuner/verify/field_set.hpp"

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

/// u_next = 2 u - u_prev, buffers rotated as a two-level scheme does.
Stencil two_level() {
  StencilBuilder b("wave", 1);
  const NodeId now = b.read(b.field("u"), {0, 0, 0});
  const NodeId before = b.read(b.field("u_prev"), {0, 0, 0});
  const int next = b.field("u_next");
  b.update(next, b.apply(Operation::subtract, b.apply(Operation::multiply, b.number(2), now), before));
  b.rotate(next, b.field("u"));
  b.rotate(b.field("u"), b.field("u_prev"));
  return std::move(b).build();
}

Problem a_line(Stencil stencil) {
  return make_problem(std::move(stencil), ElementType::f32, {Boundary::hold, Boundary::hold, Boundary::hold},
                      {1, {100, 1, 1}});
}

TEST(Phases, OneFieldInAndOutSwapsTwoBuffers) {
  const auto all = phases(launch_buffers(a_line(make_builtin(Shape::star, 1, 1)), 1));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (Phase{0, 1}));
  EXPECT_EQ(all[1], (Phase{1, 0}));
}

TEST(Phases, ATwoLevelSchemeRotatesThreeBuffers) {
  const auto all = phases(launch_buffers(a_line(two_level()), 1));  // fields u, u_prev, u_next
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1], (Phase{2, 0, 1}));
  EXPECT_EQ(all[2], (Phase{1, 2, 0}));
}

TEST(Phases, WithoutRotationsNothingMoves) {
  Stencil stencil = make_builtin(Shape::star, 1, 1);
  stencil.rotations.clear();
  EXPECT_EQ(phases(launch_buffers(a_line(stencil), 1)).size(), 1u);
}

TEST(RequireMemory, SaysHowMuchIsNeededAndThere) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32,
                                       {Boundary::hold, Boundary::hold, Boundary::hold}, {3, {1024, 1024, 1024}});
  constexpr std::size_t kGiB = std::size_t{1} << 30;
  EXPECT_NO_THROW(require_memory(problem, 9 * kGiB, 16 * kGiB));
  try {
    require_memory(problem, 7 * kGiB, 16 * kGiB);
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), ErrorCode::exceeds_device_memory);
    EXPECT_NE(message.find("8.0"), std::string::npos) << message;
    EXPECT_NE(message.find("7.00"), std::string::npos) << message;
    EXPECT_NE(message.find("16.00"), std::string::npos) << message;
  }
}

TEST(FusedChecks, NeedMemoryForTheReferencesOfSeveralSteps) {
  constexpr std::size_t kH200 = std::size_t{143771} << 20;
  const auto obstacle = [&](const Extents& extents, Boundary last = Boundary::periodic) {
    return obstacle_to_fused_checks(make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32,
                                                 {Boundary::hold, Boundary::hold, last}, extents, 0, 100),
                                    kH200);
  };
  EXPECT_FALSE(obstacle({3, {1024, 1024, 1024}}));
  EXPECT_FALSE(obstacle({3, {2048, 1024, 1024}}));
  EXPECT_FALSE(obstacle({3, {2048, 2048, 1100}}, Boundary::hold)) << "checked in slabs";
  const auto found = obstacle({3, {2048, 2048, 1100}});
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("2048x2048x1100 needs 189 GiB"), std::string::npos) << *found;
  EXPECT_NE(found->find("the GPU has 140"), std::string::npos) << *found;
}

}  // namespace
}  // namespace stencil_tune
