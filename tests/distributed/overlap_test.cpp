// Halos that travel while cells are updated which need nothing of them. Whole planes arrive only after those; what is
// packed arrives before, as its unpacking does not wait on the host.
#include "tests/distributed/runs_on_host.hpp"

namespace stencil_tune {
namespace {

class OverlapOnHost : public RunsOnHost {};

TEST_F(OverlapOnHost, PlanesMayArriveLate) {
  for (const Boundary boundary : {Boundary::hold, Boundary::periodic, Boundary::reflect}) {
    const Request heat = request_for("heat2d", {149, 41, 1}, boundary);
    for (const int fused : {1, 3}) {
      expect_equal({.request = heat, .cut = {1, 3, 1}, .fused = fused, .steps = {2 * fused + 1, 4}, .overlap = true});
    }
  }
  const Request yee = request_for("corpus/yee3d.toml", {13, 11, 16}, Boundary::hold);
  expect_equal({.request = yee, .cut = {1, 1, 3}, .per_exchange = 2, .steps = {5, 2}, .overlap = true});
}

TEST_F(OverlapOnHost, HalosDoNotQueueBehindTheBlocksOfALaunch) {
  const int before = driver().urgent_streams;
  const Request heat = request_for("heat2d", {23, 19, 1}, Boundary::hold);
  Library library = this->library(1);
  const auto errors =
      ThreadRanks(2).run([&](const auto& ranks) { DistributedKernel(library, ranks, heat, {.overlap = true}); });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(driver().urgent_streams, before + 2);
}

TEST_F(OverlapOnHost, EveryAxisMayBeCut) {
  const Request heat = request_for("heat3d", {70, 21, 13}, Boundary::clamp);
  expect_equal({.request = heat, .cut = {1, 2, 2}, .fused = 2, .steps = {5}, .overlap = true});
  expect_equal({.request = heat, .cut = {2, 2, 2}, .per_exchange = 2, .steps = {5}, .overlap = true});
  const Request wave = request_for("corpus/acoustic3d_o4.toml", {70, 17, 24}, Boundary::hold);
  expect_equal({.request = wave, .cut = {1, 1, 2}, .fused = 2, .steps = {7}, .overlap = true});
}

TEST_F(OverlapOnHost, PartsAsThinAsTheirHaloHaveNothingToDoMeanwhile) {
  const Request heat = request_for("heat2d", {23, 9, 1}, Boundary::periodic);
  expect_equal({.request = heat, .cut = {1, 3, 1}, .per_exchange = 3, .steps = {7}, .overlap = true});
}

}  // namespace
}  // namespace stencil_tune
