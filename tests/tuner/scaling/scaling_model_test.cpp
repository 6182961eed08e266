// What the model says of grids over many GPUs, against sums by hand.
#include "tuner/scaling/scaling_model.hpp"
#include "tuner/scaling/recorded_links.hpp"

#include "generator/cut/halo_need.hpp"
#include "stencil_tune/library.hpp"
#include "tests/runtime/expect_error.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
constexpr LocalKernel kKernel{.fused_steps = 4, .gstencils = 1000};
constexpr Links kLinks{
    .node = 2, .node_gbs = 400, .node_latency_us = 20, .network_gbs = 50, .network_latency_us = 30, .copy_gbs = 4000};
constexpr double kPlaneUs = 998 * 998 / 1e6;  // 1000 x 1000 cells, the held ones left out, at 1e12 cells a second

Problem heat(const Extents& extents) {
  return make_problem(load_stencil("heat3d"), ElementType::f32, kHold, extents, 0, 1, kWholeStep);
}

ScalingPoint predict(const Extents& extents, const Cut& cut, int steps) {
  const Problem whole = heat(extents);
  const Decomposition grid(extents, kHold, cut, halo_need(whole, steps).arrays);
  return predict_scaling(whole, grid, kKernel, steps, kLinks);
}

TEST(ScalingModel, OneGpuHasTheRateOfItsKernel) {
  const ScalingPoint point = predict({3, {1000, 1000, 1000}}, {1, 1, 1}, 4);
  EXPECT_DOUBLE_EQ(point.exchange_us, 0);
  EXPECT_NEAR(point.gstencils, 1000, 1e-9);
  EXPECT_NEAR(point.step_us, 998 * kPlaneUs, 1e-9) << "held layers are not updated";
}

TEST(ScalingModel, SlabsSendPlanesAndComputeTheirHalos) {
  const ScalingPoint point = predict({3, {1000, 1000, 2000}}, {1, 1, 2}, 4);
  const double exchange = 20 + 4 * 1e6 * 4 / 400e3;  // four planes of f32 at 400 GB/s
  EXPECT_NEAR(point.exchange_us, exchange, 1e-9);
  EXPECT_NEAR(point.step_us, 1002 * kPlaneUs + exchange / 4, 1e-9) << "1004 planes, of which two are held";
  EXPECT_NEAR(point.gstencils, 1998 * kPlaneUs / point.step_us * 1e3, 1e-9);
  EXPECT_EQ(point.part, (Extents{3, {1000, 1000, 1000}}));
}

TEST(ScalingModel, OfWeakScalingTheGridCounts) {
  const Problem part = heat({3, {1000, 1000, 1000}});
  const Decomposition grid({3, {1000, 1000, 2000}}, kHold, {1, 1, 2}, halo_need(part, 4).arrays);
  EXPECT_EQ(predict_scaling(part, grid, kKernel, 4, kLinks).gstencils,
            predict({3, {1000, 1000, 2000}}, {1, 1, 2}, 4).gstencils);
}

TEST(ScalingModel, TheSlowerLinkCounts) {
  const ScalingPoint point = predict({3, {1000, 1000, 4000}}, {1, 1, 4}, 1);
  EXPECT_NEAR(point.exchange_us, 30 + 1e6 * 4 / 50e3, 1e-9) << "ranks 1 and 2 are on different nodes";
}

TEST(ScalingModel, OtherFacesArePacked) {
  const double sent_us = 20 + 4e6 / 400e3;
  const ScalingPoint rows = predict({3, {1000, 2000, 1000}}, {1, 2, 1}, 1);
  EXPECT_NEAR(rows.exchange_us, sent_us + 2 * (3.5 + 2 * 4e6 / 4000e3), 1e-9);
}

TEST(ScalingModel, OlderTimeLevelsTravelOneReachLess) {
  const Extents extents{3, {1000, 1000, 2000}};
  const Problem whole =
      make_problem(load_stencil("corpus/acoustic3d_o4.toml"), ElementType::f32, kHold, extents, 0, 1, kWholeStep);
  const Decomposition grid(extents, kHold, {1, 1, 2}, halo_need(whole, 3).arrays);
  const ScalingPoint point = predict_scaling(whole, grid, kKernel, 3, kLinks);
  EXPECT_NEAR(point.exchange_us, 20 + (6 + 4) * 4e6 / 400e3, 1e-9) << "p six planes deep, p_prev four";
}

TEST(ScalingModel, LinksMayBeThoseOfARecord) {
  Links links;
  take_recorded_links(R"({"format": "stencil-tune scaling", "links": {"node_gbs": 350.5, "node_latency_us": 12}})",
                      links);
  EXPECT_EQ(links.node_gbs, 350.5);
  EXPECT_EQ(links.node_latency_us, 12);
  EXPECT_EQ(links.copy_gbs, Links{}.copy_gbs);
  EXPECT_EQ(links.network_gbs, Links{}.network_gbs);
  EXPECT_ERROR(take_recorded_links("{}", links), ErrorCode::malformed_definition, "no record of bench/scaling");
  EXPECT_ERROR(take_recorded_links(R"({"format": "stencil-tune scaling", "links": {"node_gbs": 0}})", links),
               ErrorCode::malformed_definition, "not positive");
}

TEST(ScalingModel, PartsOfOneSizeGrowTowardsWhatReceivesLeast) {
  const HaloLayers one{{{1, 1}, {1, 1}, {1, 1}}};
  EXPECT_EQ(grow({3, {100, 100, 100}}, kHold, 2, one).cut(), (Cut{1, 1, 2}));
  EXPECT_EQ(grow({3, {100, 100, 100}}, kHold, 2, one).grid(), (Extents{3, {100, 100, 200}}));
  EXPECT_EQ(grow({3, {100, 100, 100}}, kHold, 3, one).cut(), (Cut{1, 1, 3}));
  EXPECT_EQ(grow({2, {100, 100, 1}}, kHold, 4, one).cut()[2], 1);
  EXPECT_ERROR(grow({1, {4, 1, 1}}, kHold, 2, {{{5, 5}, {0, 0}, {0, 0}}}), ErrorCode::invalid_argument, "thinner");
}

}  // namespace
}  // namespace stencil_tune
