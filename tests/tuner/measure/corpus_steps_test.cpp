// Whole steps of the systems of the corpus, verified and timed as a tune would, on a device made of the CPU.
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/measure/device_bench.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace stencil_tune {
namespace {

constexpr int kSteps = 8;

/// Wide enough for a tile of fused steps.
Problem step_problem(const std::string& name) {
  const Stencil stencil = load_definition("corpus/" + name + ".toml");
  const Extents extents = stencil.rank == 3 ? Extents{3, {70, 26, 12}} : Extents{2, {150, 40, 1}};
  return make_problem(stencil, stencil.element.value_or(ElementType::f32), Boundaries{}, extents, 0, kSteps,
                      kWholeStep);
}

/// The default kernel of the first family that serves whole steps, those that fuse them first.
std::optional<Tuning> default_tuning(const Problem& problem) {
  for (const char* family : {"system", "temporal", "direct"}) {
    if (const auto tuning = default_candidate(family_named(family), problem, {})) return tuning;
  }
  return std::nullopt;
}

class CorpusStep : public ::testing::TestWithParam<const char*> {};

TEST_P(CorpusStep, IsVerifiedAndTimed) {
  const Problem problem = step_problem(GetParam());
  const auto tuning = default_tuning(problem);
  ASSERT_TRUE(tuning);
  EXPECT_TRUE(tuning->family->fuses_steps) << code(*tuning);
  testing::HostDevice device;
  StencilSubject subject{problem};
  DeviceBench bench{device, read_device(device, 0), subject, 1};
  const DeviceResult result =
      bench.run(code(*tuning), device.load({problem, *tuning}, generate({problem, *tuning})), {});
  EXPECT_EQ(result.outcome, Outcome::ok) << code(*tuning) << ": " << result.message;
  EXPECT_GE(result.sharpness, kSharp) << result.sharpness_note;
}

INSTANTIATE_TEST_SUITE_P(Systems, CorpusStep,
                         ::testing::Values("advection2d_rk3", "burgers2d", "cahn_hilliard2d", "fitzhugh_nagumo3d",
                                           "himeno", "lbm_d2q9", "lbm_d3q19", "tti3d", "variable_diffusion3d",
                                           "yee3d_layer", "yee3d_lossy", "acoustic3d_sponge"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace stencil_tune
