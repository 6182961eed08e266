// The device worker on a real GPU: right kernels are timed, wrong ones are found, and whatever a kernel does costs no
// more than itself.
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/compile/compiler.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/planted.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/workers/worker.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};

class DeviceWorkerTest : public GpuTest<> {
 protected:
  void SetUp() override {
    GpuTest<>::SetUp();
    if (IsSkipped()) return;
    compiler_ = open_nvrtc();
    options_.device = device_.uuid;
    options_.run_deadline_s = 10;
  }

  CompiledKernel compile(const KernelSource& source) { return compiler_->compile(source, device_.architecture); }

  /// The outcome of a planted kernel; the worker must time a right one after it.
  DeviceResult run_planted(const std::string& body, const std::string& attributes = "") {
    const Problem problem = make_problem(three_points(), ElementType::f32, kHold, {1, {1 << 20, 1, 1}});
    const Tuning tuning = *default_candidate(family_named("direct"), problem, device_.limits);
    const auto worker = start_device_worker(StencilSubject(problem), options_);
    worker->start();
    const DeviceResult result = worker->run(code(tuning), compile(planted(body, attributes)), {});
    const DeviceResult after = worker->run(code(tuning), compile(generate({problem, tuning})), {});
    EXPECT_EQ(after.outcome, Outcome::ok) << after.message;
    return result;
  }

  std::unique_ptr<Compiler> compiler_;
  WorkerOptions options_;
};

TEST_F(DeviceWorkerTest, AcceptsAndTimesARightKernel) {
  const DeviceResult result = run_planted("a.out[i] = right;");
  EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
  EXPECT_GT(result.timing.median_ms, 0);
  EXPECT_LE(result.timing.low_ms, result.timing.median_ms);
  EXPECT_GT(result.occupancy, 0);
  EXPECT_LE(result.occupancy, 1);
}

TEST_F(DeviceWorkerTest, FindsOneWrongCellInAMillion) {
  const DeviceResult result = run_planted("a.out[i] = i == a.n[0] - 2 ? right * 1.00001f : right;");
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
  EXPECT_NE(result.message.find("1 of 1048574"), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("(1048574, 0, 0)"), std::string::npos) << result.message;
}

TEST_F(DeviceWorkerTest, FindsACellNeverWritten) {
  EXPECT_EQ(run_planted("if (i != 77) a.out[i] = right;").outcome, Outcome::wrong_result);
}

TEST_F(DeviceWorkerTest, FindsSwappedCoefficients) {
  const DeviceResult result = run_planted("a.out[i] = a.c[2] * a.in[i - 1] + a.c[1] * a.in[i] + a.c[0] * a.in[i + 1];");
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
}

TEST_F(DeviceWorkerTest, FindsAWriteIntoAHeldLayer) {
  const DeviceResult result = run_planted("a.out[i] = right; if (i == 1) a.out[0] = right;");
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
  EXPECT_NE(result.message.find("no step may write"), std::string::npos) << result.message;
}

TEST_F(DeviceWorkerTest, FindsWritesOutsideTheArray) {
  for (const auto* at : {"-1", "a.n[0]", "a.n[0] + 100000"}) {
    const DeviceResult result = run_planted(std::string("a.out[i] = right; if (i == 1) a.out[") + at + "] = right;");
    EXPECT_EQ(result.outcome, Outcome::wrong_result) << at;
    EXPECT_NE(result.message.find("the array"), std::string::npos) << result.message;
  }
}

TEST_F(DeviceWorkerTest, FindsAChangedInput) {
  const DeviceResult result = run_planted("a.out[i] = right; if (i == 5) const_cast<float*>(a.in)[900000] = 3;");
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
}

TEST_F(DeviceWorkerTest, FindsReadsOutsideTheArray) {
  EXPECT_EQ(run_planted("a.out[i] = right + 0 * a.in[a.n[0] + 3];").outcome, Outcome::wrong_result);
}

/// A run on a grid so small that all blocks are on the GPU at once.
Problem a_run() {
  return make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32,
                      {Boundary::clamp, Boundary::clamp, Boundary::clamp}, {2, {160, 40, 1}}, 0, 8);
}

Tuning fusing(int steps) {
  Tuning tuning = parse_code("temporal.bx32.by4.rx2.v2.pf3.t4");
  tuning.steps = steps;
  return tuning;
}

TEST_F(DeviceWorkerTest, FindsOneFusedStepTooFewOrTooMany) {
  const Problem problem = a_run();
  const auto worker = start_device_worker(StencilSubject(problem), options_);
  worker->start();
  for (const int steps : {3, 4, 5}) {
    const DeviceResult result = worker->run(code(fusing(4)), compile(generate({problem, fusing(steps)})), {});
    EXPECT_EQ(result.outcome, steps == 4 ? Outcome::ok : Outcome::wrong_result) << steps << ": " << result.message;
  }
}

TEST_F(DeviceWorkerTest, TimesALaunchOfFusedStepsByTheStep) {
  constexpr int kMicroseconds = 4000;
  const Problem problem = a_run();
  const auto worker = start_device_worker(StencilSubject(problem), options_);
  worker->start();
  const CompiledKernel kernel = compile(delayed(generate({problem, fusing(4)}), kMicroseconds));
  const DeviceResult alone = worker->run(code(fusing(4)), kernel, {});
  ASSERT_EQ(alone.outcome, Outcome::ok) << alone.message;
  const DeviceResult raced = worker->race({{code(fusing(4)), kernel}}, {.rounds = 3}).front();
  for (const double found : {alone.timing.median_ms, raced.timing.median_ms}) {
    EXPECT_NEAR(4 * found, kMicroseconds / 1e3, 0.025 * kMicroseconds / 1e3);
  }
}

TEST_F(DeviceWorkerTest, RecordsAnIllegalAccessAndGoesOn) {
  const DeviceResult result = run_planted("*reinterpret_cast<float*>(16 + i) = right;");
  EXPECT_EQ(result.outcome, Outcome::launch_failed) << result.message;
}

TEST_F(DeviceWorkerTest, RecordsAKernelThatNeverEndsAndGoesOn) {
  const DeviceResult result = run_planted("while (atomicAdd(a.out + i, 0.0f) != 12345.0f) {}");
  EXPECT_EQ(result.outcome, Outcome::timeout) << result.message;
}

TEST_F(DeviceWorkerTest, RecordsAKernelTheDeviceCannotHold) {
  const DeviceResult result = run_planted("a.out[i] = right;", "__launch_bounds__(1)");
  EXPECT_EQ(result.outcome, Outcome::exceeds_limits) << result.message;
}

TEST_F(DeviceWorkerTest, RefusesABinaryThatIsNone) {
  const Problem problem = make_problem(three_points(), ElementType::f32, kHold, {1, {4096, 1, 1}});
  const auto worker = start_device_worker(StencilSubject(problem), options_);
  worker->start();
  const CompiledKernel garbage{std::vector<std::byte>(1000, std::byte{1}), "planted", {}, 0};
  EXPECT_EQ(worker->run(code(Tuning{}), garbage, {}).outcome, Outcome::launch_failed);
}

TEST_F(DeviceWorkerTest, MeasuresTheSessionBeforeTheFirstCandidate) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, kHold, {3, {512, 512, 256}});
  const DeviceSession session = start_device_worker(StencilSubject(problem), options_)->start();
  EXPECT_EQ(session.device.uuid, device_.uuid);
  EXPECT_GT(session.ceiling_gbs, 50);
  EXPECT_LT(session.ceiling_gbs, 50000);
  EXPECT_EQ(session.fits_in_l2, 2 * problem.field_bytes() <= device_.l2_bytes);
}

TEST_F(DeviceWorkerTest, SaysHowMuchMemoryAGridNeeds) {
  const Problem problem =
      make_problem(make_builtin(Shape::star, 3, 1), ElementType::f64, kHold, {3, {16384, 16384, 16384}});
  try {
    start_device_worker(StencilSubject(problem), options_)->start();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::exceeds_device_memory);
  }
}

TEST_F(DeviceWorkerTest, RacesFinalistsAndRanksThemAsTheyAre) {
  const Problem problem = make_problem(three_points(), ElementType::f32, kHold, {1, {1 << 24, 1, 1}});
  const Tuning tuning = *default_candidate(family_named("direct"), problem, device_.limits);
  const auto worker = start_device_worker(StencilSubject(problem), options_);
  worker->start();
  const CompiledKernel right = compile(generate({problem, tuning}));
  const CompiledKernel slow =
      compile(planted("float s = right; for (int k = 0; k < 500; ++k) s = s * a.c[0] + a.c[1];\n"
                      "a.out[i] = s;"));
  const auto results = worker->race({{code(tuning), slow}, {code(tuning), right}}, {.rounds = 3});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_GT(results[0].timing.median_ms, 1.5 * results[1].timing.median_ms);
}

TEST_F(DeviceWorkerTest, RacesFinalistsUnderLoadAndTellsTheirPower) {
  const Problem problem = make_problem(three_points(), ElementType::f32, kHold, {1, {1 << 26, 1, 1}});
  const Tuning tuning = *default_candidate(family_named("direct"), problem, device_.limits);
  const auto worker = start_device_worker(StencilSubject(problem), options_);
  worker->start();
  const CompiledKernel right = compile(generate({problem, tuning}));
  const auto results = worker->race({{code(tuning), right}, {code(tuning), right}}, {.rounds = 1, .under_load = 1});
  ASSERT_EQ(results.size(), 2u);
  const double ratio = results[0].sustained_ms / results[0].timing.median_ms;
  EXPECT_TRUE(ratio > 0.1 && ratio < 10) << ratio << ": a wrong unit; what the GPU does besides is no matter";
  EXPECT_EQ(results[1].sustained_ms, 0);
  if (!Nvml::open(device_.uuid)) GTEST_SKIP() << "no NVML here";
  EXPECT_GT(results[0].watts, 20);
  EXPECT_LT(results[0].watts, 2000);
  EXPECT_GT(results[0].clocks.sm_clock_mhz, 0);
}

/// Default candidates of all families, whole grids and awkward ones, for every element type and boundary.
struct Case {
  ElementType type;
  Boundary boundary;
};

class RealKernels : public GpuTest<testing::TestWithParam<Case>> {};

TEST_P(RealKernels, OfEveryFamilyAreRight) {
  const auto [type, boundary] = GetParam();
  const Problem problem =
      make_problem(make_builtin(Shape::star, 3, 2), type, {boundary, boundary, boundary}, {3, {128, 67, 45}});
  WorkerOptions options;
  options.device = device_.uuid;
  const auto worker = start_device_worker(StencilSubject(problem), options);
  worker->start();
  const auto compiler = open_nvrtc();
  for (const Family* family : families()) {
    const auto tuning = default_candidate(*family, problem, device_.limits);
    if (!tuning) continue;
    const auto kernel = compiler->compile(generate({problem, *tuning}), device_.architecture);
    const DeviceResult result = worker->run(code(*tuning), kernel, {});
    EXPECT_EQ(result.outcome, Outcome::ok) << *tuning << ": " << result.message;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    all.push_back({type, Boundary::hold});
  }
  for (const Boundary boundary : {Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    all.push_back({ElementType::f32, boundary});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, RealKernels, testing::ValuesIn(cases()), [](const auto& one) {
  return std::string(name(one.param.type)) + "_" + std::string(name(one.param.boundary));
});

}  // namespace
}  // namespace stencil_tune
