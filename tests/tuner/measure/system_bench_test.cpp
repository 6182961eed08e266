// How kernels of whole steps, of several fields, time levels and stages, are verified and timed, on a device made of
// the CPU.
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "tests/generator/systems.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/measure/device_bench.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stencil_tune {
namespace {

using testing::kHold;
using testing::kMixed;
using testing::kReaction;
using testing::kWave;
using testing::kYee;

constexpr const char* kCorrector = R"toml(
name = "corrector"
rank = 2
fields = ["u", "guess", "u_next"]
[[stage]]
guess = "u + 0.25*(u[x-1] - u)"
[[stage]]
u_next = "u + 0.125*(guess[x+1] - guess) + 0.125*(guess[y-1] - u)"
[rotate]
u_next = "u"
)toml";

Problem on_a_grid(const char* definition, const Boundaries& boundaries, int steps) {
  return make_problem(parse_definition(definition, "system.toml"), ElementType::f32, boundaries, {2, {150, 40, 1}}, 0,
                      steps, kWholeStep);
}

Tuning fusing(const Problem& problem, int steps) {
  Tuning tuning = default_candidate(family_named("system"), problem, {}).value();
  tuning.steps = steps;
  return tuning;
}

/// One problem's bench.
struct Bench {
  explicit Bench(Problem of) : problem(std::move(of)) {}

  DeviceResult run(const Tuning& tuning, const Tuning& other) {
    return bench.run(code(tuning), device.load({problem, tuning}, generate({problem, other})), MeasurePlan{});
  }
  DeviceResult run(const Tuning& tuning) { return run(tuning, tuning); }

  Problem problem;
  testing::HostDevice device;
  StencilSubject subject{problem};
  DeviceBench bench{device, read_device(device, 0), subject, 1};
};

TEST(SystemBench, RightKernelsOfSeveralStepsAreRightInAllThatTheyStore) {
  for (const auto& [definition, boundaries] :
       {std::pair{kWave, kHold}, {kReaction, kMixed}, {kYee, kHold}, {kCorrector, kMixed}}) {
    Bench bench(on_a_grid(definition, boundaries, 8));
    const DeviceResult result = bench.run(fusing(bench.problem, 3));
    EXPECT_EQ(result.outcome, Outcome::ok) << bench.problem.stencil.name << ": " << result.message;
    EXPECT_DOUBLE_EQ(result.timing.median_ms, bench.device.launch_ms / 3) << "time of a step";
    EXPECT_GE(result.sharpness, kSharp) << bench.problem.stencil.name << result.sharpness_note;
  }
}

TEST(SystemBench, AllStagesOfOneStepAreOneLaunch) {
  for (const char* definition : {kYee, kCorrector}) {
    Bench bench(on_a_grid(definition, kMixed, 1));
    const DeviceResult result = bench.run(fusing(bench.problem, 1));
    EXPECT_EQ(result.outcome, Outcome::ok) << bench.problem.stencil.name << ": " << result.message;
    EXPECT_DOUBLE_EQ(result.timing.median_ms, bench.device.launch_ms);
  }
}

TEST(SystemBench, OneStepTooFewOrTooManyIsWrong) {
  for (const char* definition : {kWave, kYee}) {
    Bench bench(on_a_grid(definition, kHold, 8));
    for (const int steps : {2, 4}) {
      Tuning right = fusing(bench.problem, 3);
      Tuning wrong = fusing(bench.problem, steps);
      right.prefetch = 4;  // room in shared memory for the wrong kernel's levels
      wrong.prefetch = 1;
      const DeviceResult result = bench.run(right, wrong);
      EXPECT_EQ(result.outcome, Outcome::wrong_result)
          << bench.problem.stencil.name << ", " << steps << ": " << result.message;
    }
  }
}

/// Yee's with another second stage.
Stencil yee_with(const char* e_next) {
  std::string definition = kYee;
  const std::string_view line = "e + 0.1*c*(h_next - h_next[x-1]) + 0.5*(h_next - h_next[y-1])";
  return parse_definition(definition.replace(definition.find(line), line.size(), e_next), "system.toml");
}

TEST(SystemBench, KernelsAreCheckedAgainstTheWrittenFormOfEachStage) {
  const auto outcome = [](const char* simplified_as) {
    Stencil written = parse_definition(kYee, "system.toml");
    Stencil both = yee_with(simplified_as);
    both.written = written.written;
    Bench bench(make_problem(std::move(both), ElementType::f32, kHold, {2, {150, 40, 1}}, 0, 8, kWholeStep));
    return bench.run(fusing(bench.problem, 2)).outcome;
  };
  EXPECT_EQ(outcome("(h_next - h_next[x-1])*(c*0.1) + e + (h_next - h_next[y-1])/2"), Outcome::ok);
  EXPECT_EQ(outcome("e + 0.1*c*(h_next - h_next[x-1]) + 0.25*(h_next - h_next[y-1])"), Outcome::wrong_result);
}

TEST(SystemBench, AKernelThatComputesNothingIsWrong) {
  Bench bench(on_a_grid(kYee, kHold, 8));
  bench.device.idle_from = 0;
  EXPECT_EQ(bench.run(fusing(bench.problem, 2)).outcome, Outcome::wrong_result);
}

}  // namespace
}  // namespace stencil_tune
