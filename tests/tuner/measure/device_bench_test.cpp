// How candidates are verified, timed and raced, on a device made of the CPU.
#include "tuner/measure/device_bench.hpp"

#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/verify/field_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace stencil_tune {
namespace {

constexpr Boundaries kClamp{Boundary::clamp, Boundary::clamp, Boundary::clamp};

/// A run of the 2D star on a grid that one warp's tile covers in some pieces.
Problem a_run() {
  Problem problem = make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, kClamp, {2, {160, 40, 1}});
  problem.steps = 8;
  return problem;
}

Tuning fusing(int steps) {
  Tuning tuning = parse_code("temporal.bx32.by4.rx2.v2.pf3.t4");
  tuning.steps = steps;
  return tuning;
}

class DeviceBenchTest : public ::testing::Test {
 protected:
  CompiledKernel right(const Tuning& tuning) { return device.load({problem, tuning}, generate({problem, tuning})); }

  DeviceResult run(const Tuning& tuning, const CompiledKernel& kernel) {
    return bench.run(code(tuning), kernel, kPlan);
  }

  CodedKernel finalist(const Tuning& tuning) { return {code(tuning), right(tuning)}; }

  static constexpr MeasurePlan kPlan{};

  Problem problem = a_run();
  testing::HostDevice device;
  StencilSubject subject{problem};
  DeviceBench bench{device, read_device(device, 0), subject, 1};
};

TEST_F(DeviceBenchTest, ALaunchOfFusedStepsIsTimedByTheStep) {
  const DeviceResult result = run(fusing(4), right(fusing(4)));
  EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
  EXPECT_DOUBLE_EQ(result.timing.median_ms, device.launch_ms / 4);
  EXPECT_FALSE(result.raced);
}

TEST_F(DeviceBenchTest, AKernelThatMakesOneStepTooFewOrTooManyIsWrong) {
  for (const int steps : {3, 5}) {
    const CompiledKernel other = device.load({problem, fusing(4)}, generate({problem, fusing(steps)}));
    const DeviceResult result = run(fusing(4), other);
    EXPECT_EQ(result.outcome, Outcome::wrong_result) << steps;
    for (const std::string said :
         {"wrong after 4 fused steps, first cell (", " instead of ", " +- ", "; of 8 more launches 8 were wrong"}) {
      EXPECT_NE(result.message.find(said), std::string::npos) << result.message;
    }
  }
}

TEST_F(DeviceBenchTest, FinalistsAreTimedInTurnsAndVerifiedAfterwards) {
  const Tuning single = parse_code("direct.bx32.by4");
  const auto results = bench.race({finalist(fusing(4)), finalist(single)}, {.rounds = 2});
  ASSERT_EQ(results.size(), 2u);
  for (const DeviceResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
    EXPECT_TRUE(result.raced);
    EXPECT_GE(result.timing.samples, 11) << "however few rounds were asked for";
  }
  EXPECT_DOUBLE_EQ(results[0].timing.median_ms, device.launch_ms / 4);
  EXPECT_DOUBLE_EQ(results[1].timing.median_ms, device.launch_ms);
}

TEST_F(DeviceBenchTest, AFinalistThatGoesWrongDuringTheRaceIsFoundThere) {
  const CompiledKernel kernel = right(fusing(4));
  ASSERT_EQ(run(fusing(4), kernel).outcome, Outcome::ok);
  device.idle_from = device.launches + kFewestSamples;
  EXPECT_EQ(bench.race({{code(fusing(4)), kernel}}, {.rounds = 1}).front().outcome, Outcome::wrong_result);
}

/// 500 W; the counter goes on every 100 ms, as NVML's does.
class MadeUpSensors : public GpuSensors {
 public:
  explicit MadeUpSensors(const testing::HostDevice& device) : device_(device) {}
  ClockReading read() const override { return {1500, 3200, 60, 480, "power cap"}; }
  std::optional<double> joules() const override { return 500 * std::floor(device_.now_ms() / 100) / 10; }

 private:
  const testing::HostDevice& device_;
};

class LoadRaceTest : public DeviceBenchTest {
 protected:
  /// Two kernels, the first of which tires.
  std::vector<DeviceResult> race(std::unique_ptr<GpuSensors> sensors) {
    DeviceBench made_up(device, read_device(device, 0), subject, 1, std::move(sensors));
    device.tired = {{code(fusing(4)), 2.0}};
    device.tires_after = 3;  // a burst is two launches
    return made_up.race({finalist(fusing(4)), finalist(fusing(2))}, kShort);
  }

  static constexpr RacePlan kShort{.rounds = 1, .under_load = 2, .warm_up_ms = 60, .settle_ms = 240, .load_ms = 480};
};

TEST_F(LoadRaceTest, ASlowDownThatBurstsDoNotShowIsMeasuredUnderLoad) {
  const auto results = race(std::make_unique<MadeUpSensors>(device));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_DOUBLE_EQ(results[0].timing.median_ms, device.launch_ms / 4);
  EXPECT_DOUBLE_EQ(results[0].sustained_ms, 2 * device.launch_ms / 4);
  EXPECT_DOUBLE_EQ(results[1].timing.median_ms, device.launch_ms / 2);
  EXPECT_DOUBLE_EQ(results[1].sustained_ms, device.launch_ms / 2);
  for (const DeviceResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
    EXPECT_TRUE(result.raced);
    EXPECT_NEAR(result.watts, 500, 100) << "from step to step of the counter, which its reader sees a batch late";
    EXPECT_EQ(result.clocks.sm_clock_mhz, 1500);
    EXPECT_EQ(result.clocks.throttle, "power cap");
  }
}

TEST_F(LoadRaceTest, AFinalistThatGoesWrongUnderLoadIsFoundThereAndOthersRaceInBurstsAlone) {
  RacePlan plan = kShort;
  plan.under_load = 1;
  const std::vector<CodedKernel> finalists{finalist(fusing(4)), finalist(fusing(2))};
  const int bursts = 2 * (kFewestSamples + 2);
  device.idle_from = device.launches + 2 * bursts;
  const auto results = bench.race(finalists, plan);
  EXPECT_EQ(results[0].outcome, Outcome::wrong_result);
  EXPECT_GT(results[0].sustained_ms, 0);
  EXPECT_EQ(results[1].sustained_ms, 0);
  EXPECT_GT(results[1].timing.median_ms, 0);
}

TEST_F(DeviceBenchTest, MemoryThatHoldsNoReferenceOfSeveralStepsIsALimit) {
  const CompiledKernel kernel = right(fusing(4));
  const Tuning single = parse_code("direct.bx32.by4");
  device.is_full = true;
  EXPECT_EQ(run(fusing(4), kernel).outcome, Outcome::exceeds_limits);
  device.is_full = false;

  // Too little for the whole reference from the beginning: it is computed piece by piece, for single sweeps.
  device.free_bytes = 2 * field_set_bytes(problem);
  DeviceBench tight(device, read_device(device, 0), subject, 1);
  const DeviceResult fused = tight.run(code(fusing(4)), kernel, kPlan);
  EXPECT_EQ(fused.outcome, Outcome::exceeds_limits);
  EXPECT_NE(fused.message.find("hold the reference of several steps"), std::string::npos) << fused.message;
  const DeviceResult swept = tight.run(code(single), right(single), kPlan);
  EXPECT_EQ(swept.outcome, Outcome::ok) << swept.message;
}

TEST_F(DeviceBenchTest, GridsBesideEachOtherTakeTurnsOnStreamsAndInMemoryOfTheirOwn) {
  device.launch_ms = 1;
  device.free_bytes = device.device_memory(0);
  const CompiledKernel kernel = right(fusing(4));
  const auto launched = [&](int beside) {
    const StencilSubject several{problem, beside};
    DeviceBench alone(device, read_device(device, 0), several, 1);
    device.launched.clear();
    const DeviceResult result = alone.run(code(fusing(4)), kernel, kPlan);
    EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
    EXPECT_DOUBLE_EQ(result.timing.median_ms, 0.25) << "by the step, as of one grid";
    return device.launched;
  };
  EXPECT_EQ(launched(1).size(), 1U);
  const auto three = launched(3);
  EXPECT_EQ(three.size(), 3U);
  std::set<std::vector<std::byte>> arguments;
  for (const auto& [stream, of_stream] : three) arguments.insert(of_stream.begin(), of_stream.end());
  EXPECT_GE(arguments.size(), 3U);
  device.free_bytes = device.device_memory(0) / 4;
  EXPECT_EQ(launched(3).size(), 1U) << "no memory for more";
}

TEST(OutcomeOfErrors, TellsMemoryFromFailedLaunches) {
  EXPECT_EQ(outcome_of(ErrorCode::exceeds_device_memory), Outcome::exceeds_limits);
  EXPECT_EQ(outcome_of(ErrorCode::launch_failed), Outcome::launch_failed);
  EXPECT_EQ(outcome_of(ErrorCode::timeout), Outcome::timeout);
  EXPECT_EQ(outcome_of(ErrorCode::device_lost), Outcome::device_lost);
}

}  // namespace
}  // namespace stencil_tune
