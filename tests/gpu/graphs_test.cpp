// Runs that the library makes as CUDA graphs on a GPU: to the bit what launches one by one leave.
#include "gpu_test.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "stencil_tune/stencil_tune.hpp"
#include "tests/runtime/library/graph_runs.hpp"

#include <cstdlib>
#include <optional>

namespace stencil_tune {
namespace {

class DeviceGraphs : public GpuTest<> {
 protected:
  ~DeviceGraphs() override { unsetenv("STENCIL_TUNE_GRAPHS"); }

  void SetUp() override {
    GpuTest<>::SetUp();
    if (IsSkipped()) return;
    context_.emplace(0);
    stream_.emplace(cuda_driver());
  }

  /// Each zone is known to be made two steps at once; what has no layers is not known at all.
  Kernel prepared(const Problem& problem) {
    LibraryParts parts;
    parts.driver = []() -> Driver& { return cuda_driver(); };
    parts.compiler = [] { return std::shared_ptr<Compiler>(open_nvrtc()); };
    parts.winners = [whole = problem](const Problem& zone, const std::string& architecture) {
      std::optional<Tuning> tuning;
      if (zone.steps == 2 && asks_layers(whole)) tuning = default_candidate(family_named("system"), zone, {});
      if (!tuning) return std::vector<WinnerRecord>();
      tuning->steps = 2;
      WinnerRecord winner = winner_of(zone, 2, *tuning);
      winner.trial.platform.architecture = architecture;
      winner.trial.rate = zone.extents != whole.extents ? 4 : 2;
      return std::vector{winner};
    };
    library_.emplace(std::make_unique<Library::Impl>(std::move(parts)));
    Kernel kernel = library_->lookup({.stencil = problem.stencil,
                                      .type = problem.type,
                                      .extents = problem.extents,
                                      .boundaries = problem.boundaries,
                                      .alignment = 8,
                                      .steps = 100});
    EXPECT_EQ(kernel.fused_steps(), asks_layers(problem) ? 2 : 1) << kernel.run_evidence().sentence();
    kernel.prepare(stream_->get());
    return kernel;
  }

  void expect_same(const Problem& problem, Kernel& kernel, const PointList& points = {}) {
    const auto run = [&](Launched launched) {
      return result_of(cuda_driver(), stream_->get(), problem, kernel, 205, points, launched);
    };
    setenv("STENCIL_TUNE_GRAPHS", "0", 1);
    const RunResult expected = run(Launched::at_once);
    setenv("STENCIL_TUNE_GRAPHS", "1", 1);
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(run(Launched::at_once) == expected);
    EXPECT_TRUE(run(Launched::from_graph) == expected);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "nothing went on without graphs";
  }

  std::optional<DeviceContext> context_;
  std::optional<Stream> stream_;
  std::optional<Library> library_;
};

TEST_F(DeviceGraphs, OfZonesAreTheirLaunches) {
  const Problem absorbed = layered(kAbsorbed, kGraphGrid, "4", Boundary::hold);
  Kernel kernel = prepared(absorbed);
  expect_same(absorbed, kernel);
  for (const int every : {1, 3}) expect_same(absorbed, kernel, some_points(absorbed, every));
  const Problem numbered = layered(kNumbered, kGraphGrid, "x=6:3,y=5", Boundary::reflect);
  kernel = prepared(numbered);
  expect_same(numbered, kernel);
}

TEST_F(DeviceGraphs, OfShortLaunchesAreTheseLaunches) {
  const Problem star =
      make_problem(make_builtin(Shape::star, 3, 1), ElementType::f64, {}, {3, {61, 38, 33}}, 0, 1, kWholeStep);
  Kernel kernel = prepared(star);
  expect_same(star, kernel);
}

}  // namespace
}  // namespace stencil_tune
