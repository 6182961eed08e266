// `bench` on a device made of the CPU: what is wrong never gets a rate.
#include "tuner/suites/verified_race.hpp"

#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "stencil_tune/error.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/measure/device_bench.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

/// Verifies and times in this process.
class HostWorker : public DeviceWorker {
 public:
  HostWorker(testing::HostDevice& device, const Problem& problem)
      : subject_(problem), bench_(device, read_device(device, 0), subject_, 1) {}

  DeviceSession start() override { return {}; }
  DeviceResult run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) override {
    return bench_.run(code, kernel, plan);
  }
  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) override {
    for (const auto& [code, kernel] : finalists) raced.push_back(code);
    return bench_.race(finalists, plan);
  }

  std::vector<std::string> raced;

 private:
  StencilSubject subject_;
  DeviceBench bench_;
};

class VerifiedRaceTest : public ::testing::Test {
 protected:
  static Problem two_dimensions(const char* expression) {
    constexpr Boundaries kClampEverywhere{Boundary::clamp, Boundary::clamp, Boundary::clamp};
    return make_problem(parse_stencil(expression, 2), ElementType::f32, kClampEverywhere, {2, {160, 40, 1}});
  }

  Contestant contestant(const std::string& name, const std::string& candidate, const Problem& source_of) {
    const Tuning tuning = parse_code(candidate);
    return {name, candidate, device.load({problem, tuning}, generate({source_of, tuning}))};
  }

  Problem problem = two_dimensions("0.25*(u[x-1] + u[x+1] + u[y-1] + u[y+1])");
  Problem another = two_dimensions("0.25*(u[x-1] + u[x+1] + u[y-1] - u[y+1])");
  testing::HostDevice device;
  HostWorker worker{device, problem};
};

TEST_F(VerifiedRaceTest, AWrongKernelDoesNotRaceAndItsRowSaysWhy) {
  const VerifiedRace race = race_right_ones(
      worker, {contestant("wrong", "direct.bx32.by8", another), contestant("right", "direct.bx32.by4", problem)},
      {.rounds = 1});
  EXPECT_EQ(worker.raced, std::vector<std::string>{"direct.bx32.by4"});
  ASSERT_EQ(race.wrong.size(), 1u);
  EXPECT_EQ(race.wrong[0].name, "wrong");
  EXPECT_FALSE(race.wrong[0].trial);
  EXPECT_TRUE(race.wrong[0].reason.starts_with("wrong_result: on 160x40 ")) << race.wrong[0].reason;
  ASSERT_EQ(race.results.size(), 1u);
  EXPECT_EQ(race.right[0].name, "right");
  EXPECT_EQ(race.results[0].outcome, Outcome::ok) << race.results[0].message;
  EXPECT_GE(race.results[0].timing.samples, 11);
}

TEST_F(VerifiedRaceTest, WhatIsRightOnTheGridAloneDoesNotRace) {
  device.idle_from = device.launches + 1;  // from the first awkward grid on
  EXPECT_THROW(race_right_ones(worker, {contestant("odd", "direct.bx32.by4", problem)}, {.rounds = 1}), Error);
  EXPECT_TRUE(worker.raced.empty());
}

TEST_F(VerifiedRaceTest, WhereNoneIsRightThereIsNothingToBench) {
  try {
    race_right_ones(worker, {contestant("wrong", "direct.bx32.by4", another)}, {.rounds = 1});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  }
}

}  // namespace
}  // namespace stencil_tune
