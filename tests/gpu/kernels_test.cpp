// Every form of kernel on a real GPU, every pair of settings, on awkward grids, against the CPU's reference: what the
// host executor cannot show is how the GPU's own compiler, warps, barriers and TMA run them.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/candidates/textbook/textbook.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/cuda/module.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/kernel_check.hpp"
#include "tests/gpu/watchdog.hpp"
#include "tests/kernels/copy_family.hpp"
#include "tests/kernels/fused/resident_cases.hpp"
#include "tests/kernels/fused/system_cases.hpp"
#include "tests/kernels/fused/systolic_cases.hpp"
#include "tests/kernels/fused/temporal_cases.hpp"
#include "tests/kernels/kernel_cases.hpp"
#include "tuner/measure/launcher.hpp"
#include "tuner/verify/verification.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::chrono::seconds kLongestCase{120};  // a memory checker makes milliseconds into seconds

/// STENCIL_TUNE_GPU_KERNELS=N: at most N kernels a test, spread over all of them, for tools that make kernels slow.
std::vector<HostCase> thinned(std::vector<HostCase> cases) {
  const char* text = std::getenv("STENCIL_TUNE_GPU_KERNELS");
  const std::size_t most = text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
  if (most == 0 || cases.size() <= most) return cases;
  std::vector<HostCase> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(std::move(cases[i * cases.size() / most]));
  return kept;
}

struct Compiled {
  CompiledKernel kernel;
  std::string error;
};

/// On all cores, each thread with a compiler of its own. Later runs find the binaries in the user's cache.
std::vector<Compiled> compile_all(const std::vector<HostCase>& cases, const std::string& architecture) {
  std::vector<Compiled> compiled(cases.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    const auto compiler = open_cached_nvrtc();
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      const HostCase& one = cases[i];
      const Problem& problem = one.generated_for ? *one.generated_for : one.problems.front();
      try {
        compiled[i].kernel = compiler->compile(generate({problem, one.tuning}), architecture);
      } catch (const Error& error) {
        compiled[i].error = error.what();
      }
    }
  };
  open_cached_nvrtc();  // throws here, not on a thread, where there is no compiler
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  threads.clear();
  return compiled;
}

class DeviceKernels : public GpuTest<> {
 protected:
  /// Compiles, runs and compares all cases that this GPU serves; each that is wrong is a failure with its name.
  void expect_right(std::vector<HostCase> cases) {
    std::erase_if(cases, [&](const HostCase& one) { return !served(one); });
    cases = thinned(std::move(cases));
    ASSERT_FALSE(cases.empty()) << "no kernel of the selection is legal on " << device_.architecture;
    const std::vector<Compiled> compiled = compile_all(cases, device_.architecture);
    Driver& driver = cuda_driver();
    const Context context(driver, device_.ordinal);
    std::size_t ran = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (check(driver, cases[i], compiled[i])) ++ran;
      ASSERT_TRUE(usable(driver)) << describe(cases[i]) << " broke the context; " << cases.size() - i - 1
                                  << " kernels after it were not run";
    }
    EXPECT_GE(2 * ran, cases.size()) << "most kernels could not be run on " << device_.name;
    std::cout << ran << " of " << cases.size() << " kernels ran\n";
  }

 private:
  bool served(const HostCase& one) const {
    return !one.problems.empty() && std::all_of(one.problems.begin(), one.problems.end(), [&](const Problem& problem) {
      return is_legal({problem, one.tuning}, device_.limits);
    });
  }

  /// Whether the kernel ran, right or wrong.
  static bool check(Driver& driver, const HostCase& one, const Compiled& compiled) {
    const std::string name = describe(one);
    if (!compiled.error.empty()) {
      ADD_FAILURE() << name << "\n" << compiled.error;
      return false;
    }
    try {
      const Watchdog watchdog(name, kLongestCase);
      const DeviceVerdict verdict = check_on_device(driver, one, compiled.kernel);
      EXPECT_EQ(verdict.wrong, "") << name;
      if (!verdict.not_run.empty()) {
        std::cout << "not run: " << name << ": " << verdict.not_run << "\n";
        return false;
      }
      EXPECT_GT(verdict.cells_checked, 0) << name;
    } catch (const Error& error) {
      ADD_FAILURE() << name << "\n" << error.what();
    }
    return true;
  }

  static bool usable(Driver& driver) {
    try {
      driver.synchronize_context();
      return true;
    } catch (const Error&) {
      return false;
    }
  }
};

// ---- a family of one's own
// -------------------------------------------------------------------------------------------

TEST_F(DeviceKernels, AFamilyThatWasAddedToTheTableIsLaunched) {
  std::vector<HostCase> cases;
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16}) {
    for (const char* code : {"copy.bx32.by4", "copy.bx64.by2.u4"}) {
      cases.push_back(
          {parse_code(code), {copy_problem({3, {67, 19, 5}}, type), copy_problem({3, {5, 40, 3}}, type)}, {}});
    }
  }
  expect_right(std::move(cases));
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

/// The part of a tuning that makes its form.
auto form_of(const Tuning& tuning) {
  return std::tuple(tuning.family, tuning.planes, tuning.keeps, tuning.copies, tuning.cover, tuning.neighbours);
}

const std::vector<HostCase>& all_pairs() {
  static const std::vector<HostCase> cases = pairwise_cases();
  return cases;
}

class DeviceKernelForms : public DeviceKernels, public testing::WithParamInterface<Tuning> {};

TEST_P(DeviceKernelForms, AgreeWithTheReferenceInEveryCell) {
  std::vector<HostCase> cases;
  std::copy_if(all_pairs().begin(), all_pairs().end(), std::back_inserter(cases),
               [](const HostCase& one) { return form_of(one.tuning) == form_of(GetParam()); });
  const bool by_tma = GetParam().planes == Planes::ring && GetParam().copies == Copies::tma;
  if (by_tma && device_.limits.compute_capability < 90) {
    GTEST_SKIP() << "no tensor copies on " << device_.architecture;
  }
  expect_right(std::move(cases));
}

/// "streaming_shared_cin": the words of the form that are not at their default.
std::string form_name(const testing::TestParamInfo<Tuning>& info) {
  std::string result(info.param.family->name);
  for (const Parameter& parameter : info.param.family->parameters) {
    const int value = parameter.get(info.param);
    if (!parameter.is_word() || !parameter.used_by(info.param)) continue;
    if (parameter.always_coded || value != parameter.default_value) result += "_" + part(parameter, value);
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Pairs, DeviceKernelForms, testing::ValuesIn(kernel_forms()), form_name);

// ---- many launches --------------------------------------------------------------------------------------------------

class DeviceRings : public GpuTest<> {};

// A copy that overtakes loads of the plane it replaces is wrong in few cells, and not in every launch.
TEST_F(DeviceRings, AreRightLaunchAfterLaunch) {
  constexpr int kLaunches = 100;
  if (device_.limits.compute_capability < 90) GTEST_SKIP() << "no tensor copies on " << device_.architecture;
  const Problem problem = make_problem(make_builtin(Shape::box, 3, 1), ElementType::f64, {}, {3, {256, 256, 256}});
  Driver& driver = cuda_driver();
  const Context context(driver, device_.ordinal);
  const Stream stream(driver);
  const FieldSet fields(driver, problem, problem.extents.cells());
  Verification verification(driver, device_.architecture, device_.limits, problem, fields, 1, stream.get());
  const auto compiler = open_cached_nvrtc();
  for (const char* code :
       {"streaming.bx16.by8.rx8.ry2.v2.cz8.ring.sums.pf2.zfirst",
        "streaming.bx16.by8.rx8.ry2.v2.cz8.ring.sums.step.pf2", "streaming.bx32.by4.rx2.ry2.v2.cz8.ring.pf2.cl2",
        "streaming.bx32.by4.rx4.v2.cz8.ring.sums.cpasync.pf2"}) {
    const Watchdog watchdog(code, kLongestCase);
    Launcher launcher(driver, parse_code(code),
                      compiler->compile(generate({problem, parse_code(code)}), device_.architecture));
    ASSERT_EQ(launcher.exceeded_limit(problem), std::nullopt) << code;
    EXPECT_EQ(verification.verify_launches(launcher, kLaunches), std::nullopt) << code;
  }
}

// ---- fused steps ----------------------------------------------------------------------------------------------------

class DeviceTemporalKernels : public DeviceKernels, public testing::WithParamInterface<Boundary> {};

TEST_P(DeviceTemporalKernels, AgreeWithRepeatedSweepsInEveryCell) {
  std::vector<HostCase> cases = temporal_cases(GetParam());
  // Where few of them run, others with each boundary.
  std::rotate(cases.begin(), cases.begin() + static_cast<int>(GetParam()) % static_cast<int>(cases.size()),
              cases.end());
  expect_right(std::move(cases));
}

INSTANTIATE_TEST_SUITE_P(Each, DeviceTemporalKernels,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

class DeviceTemporalForms : public DeviceKernels {};

TEST_F(DeviceTemporalForms, FuseTwoToEightSteps) { expect_right(temporal_step_cases()); }

TEST_F(DeviceTemporalForms, FuseStepsOnALine) { expect_right(temporal_line_cases()); }

TEST_F(DeviceTemporalForms, KeepFieldsThatNoStepChanges) { expect_right(temporal_constant_cases()); }

TEST_F(DeviceTemporalForms, KeepSums) { expect_right(temporal_sums_cases()); }

TEST_F(DeviceTemporalForms, KeepHeldCellsInEachLoop) { expect_right(temporal_held_cases()); }

TEST_F(DeviceTemporalForms, SharePlanesOut) { expect_right(temporal_share_cases()); }

TEST_F(DeviceTemporalForms, ShareStepsOut) { expect_right(temporal_group_cases()); }

TEST_F(DeviceTemporalForms, ReadRowsBeyondTheTile) { expect_right(temporal_rim_cases()); }
TEST_F(DeviceTemporalForms, ShareTilesInClusters) { expect_right(temporal_cluster_cases()); }

TEST_F(DeviceTemporalForms, SpanTilesWithSeveralWarps) { expect_right(wide_temporal_cases()); }

TEST_F(DeviceTemporalForms, WaitForEachOtherWithinAStep) { expect_right(split_barrier_cases()); }

TEST_F(DeviceTemporalForms, HaveRowsCopiedByTma) { expect_right(temporal_tma_cases()); }

TEST_F(DeviceTemporalForms, ReachFurtherToOneSide) { expect_right(lopsided_temporal_cases()); }

TEST_F(DeviceTemporalForms, ServeDefinitionsNonlinearAndWithoutCorners) { expect_right(defined_temporal_cases()); }

TEST_F(DeviceTemporalForms, PassRowsFromWarpToWarp) { expect_right(systolic_pipeline_cases()); }

TEST_F(DeviceTemporalForms, PassRowsOfStencilsThatReachFurtherToOneSide) { expect_right(lopsided_systolic_cases()); }

TEST_F(DeviceTemporalForms, PassRowsWithEveryBoundary) {
  for (const auto& [x, walk] : {std::pair{Boundary::hold, Boundary::hold},
                                {Boundary::zero, Boundary::zero},
                                {Boundary::periodic, Boundary::periodic},
                                {Boundary::clamp, Boundary::hold},
                                {Boundary::reflect, Boundary::zero}}) {
    expect_right(systolic_cases(x, walk));
  }
}

// ---- steps on chip --------------------------------------------------------------------------------------------------

class DeviceResidentKernels : public DeviceKernels, public testing::WithParamInterface<Boundary> {};

TEST_P(DeviceResidentKernels, AreExactAtEveryStep) { expect_right(resident_cases(on_all_sides(GetParam()))); }

INSTANTIATE_TEST_SUITE_P(Each, DeviceResidentKernels,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

class DeviceResidentForms : public DeviceKernels {};

TEST_F(DeviceResidentForms, ExchangeHalosAfterAnyNumberOfSteps) { expect_right(resident_exchange_cases()); }

TEST_F(DeviceResidentForms, ReachFurtherToOneSide) { expect_right(lopsided_resident_cases()); }

// ---- whole steps of systems -----------------------------------------------------------------------------------------

class DeviceSystemKernels : public DeviceKernels, public testing::WithParamInterface<Boundary> {};

TEST_P(DeviceSystemKernels, AgreeWithStagesOneAfterTheOther) { expect_right(system_cases(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Each, DeviceSystemKernels,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

class DeviceSystemForms : public DeviceKernels {};

TEST_F(DeviceSystemForms, FuseOneToSixSteps) { expect_right(system_step_cases()); }

TEST_F(DeviceSystemForms, HaveEveryParameter) { expect_right(system_parameter_cases()); }

TEST_F(DeviceSystemForms, ReadRowsBeyondTheTile) { expect_right(system_rim_cases()); }

TEST_F(DeviceSystemForms, EndRowsBeyondTheGrid) { expect_right(system_row_end_cases()); }

TEST_F(DeviceSystemForms, ComputeSharedPartsOnce) { expect_right(system_shared_part_cases()); }

// ---- the textbook's kernels -----------------------------------------------------------------------------------------

class DeviceTextbookKernels : public DeviceKernels, public testing::WithParamInterface<int> {};

TEST_P(DeviceTextbookKernels, AgreeWithTheReference) {
  const int rank = GetParam();
  constexpr std::array<std::tuple<Shape, int, ElementType>, 4> kStencils{{{Shape::star, 1, ElementType::f32},
                                                                          {Shape::star, 2, ElementType::f64},
                                                                          {Shape::star, 4, ElementType::f32},
                                                                          {Shape::box, 1, ElementType::f16}}};
  std::vector<HostCase> cases;
  for (const auto& [shape, order, type] : kStencils) {
    const Extents extents{rank, {64, rank > 1 ? 64 : 1, rank > 2 ? 64 : 1}};
    const Problem problem =
        make_problem(make_builtin(shape, rank, order), type, {Boundary::hold, Boundary::hold, Boundary::hold}, extents);
    for (const Baseline& baseline : textbook_baselines(problem, device_.limits)) {
      if (baseline.tuning) cases.push_back({*baseline.tuning, awkward_grids(problem, *baseline.tuning), {}});
    }
  }
  expect_right(std::move(cases));
}

INSTANTIATE_TEST_SUITE_P(Rank, DeviceTextbookKernels, testing::Values(1, 2, 3));

}  // namespace
}  // namespace stencil_tune
