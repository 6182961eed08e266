// Runs that the library makes as CUDA graphs, on the host executor: to the bit what launches one by one leave.
#include "tests/runtime/library/graph_runs.hpp"

#include <cstdlib>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kRounds = 4;  // a graph has as few as make 32 launches of nine zones and bring arrays back

class GraphsOnHost : public TunedZones {
 protected:
  ~GraphsOnHost() override { unsetenv("STENCIL_TUNE_GRAPHS"); }

  RunResult result_of(const Problem& problem, Kernel& kernel, int steps, const PointList& list = {},
                      Launched launched = Launched::at_once) {
    return stencil_tune::result_of(driver_, stream_, problem, kernel, steps, list, launched);
  }

  /// What the run leaves with graphs and without is the same, and so many were launched.
  void expect_same(const Problem& problem, Kernel& kernel, int steps, int graphs, int updated,
                   const PointList& list = {}) {
    const auto run = [&] { return result_of(problem, kernel, steps, list); };
    setenv("STENCIL_TUNE_GRAPHS", "0", 1);
    driver_.graphs = {};
    driver_.launched = 0;
    const RunResult expected = run();
    const int launched = std::exchange(driver_.launched, 0);
    EXPECT_EQ(driver_.graphs.launched, 0) << "forbidden";
    unsetenv("STENCIL_TUNE_GRAPHS");
    EXPECT_TRUE(run() == expected);
    EXPECT_EQ(driver_.graphs.launched, asks_layers(problem) ? graphs : 0) << "unasked";
    driver_.graphs = {};
    driver_.launched = 0;
    setenv("STENCIL_TUNE_GRAPHS", "1", 1);
    EXPECT_TRUE(run() == expected);
    EXPECT_EQ(driver_.graphs.launched, graphs);
    EXPECT_EQ(driver_.graphs.instantiated, graphs > 0);
    EXPECT_EQ(driver_.graphs.updated, updated);
    const int more = driver_.launched - launched;  // sums of what a graph's launches captured
    EXPECT_TRUE(list.sources > 0 ? more > 0 : more == 0) << more;
    EXPECT_EQ(driver_.graphs.alive(), 0U);
  }

  Kernel prepared(const Problem& problem, std::set<int> steps) {
    Kernel kernel = lookup_tuned(problem, std::move(steps));
    kernel.prepare(stream_);
    return kernel;
  }

  CUstream_st* stream_ = driver_.create_stream();
};

TEST_F(GraphsOnHost, ARunInZonesLaunchesOneGraphAgainAndAgain) {
  const Problem problem = layered(kAbsorbed, kGraphGrid, "4", Boundary::hold);
  Kernel kernel = prepared(problem, {2});
  expect_same(problem, kernel, 2 * (3 * kRounds - 1) + 1, 0, 0);  // fewer than pay
  expect_same(problem, kernel, 2 * (4 * kRounds + 3) + 1, 3, 0);
}

TEST_F(GraphsOnHost, StepsAreNumberedInGraphsToo) {
  const Problem problem = layered(kNumbered, kGraphGrid, "x=6:3,y=5", Boundary::reflect);
  Kernel kernel = prepared(problem, {2});
  expect_same(problem, kernel, 2 * (3 * kRounds + 1) + 1, 2, 1);
}

TEST_F(GraphsOnHost, PointsAreAddedAndRecordedInGraphsToo) {
  const Problem problem = layered(kAbsorbed, kGraphGrid, "4", Boundary::zero);
  Kernel kernel = prepared(problem, {2});
  expect_same(problem, kernel, 2 * (3 * kRounds + 1) + 1, 2, 1, some_points(problem, 1));
  constexpr int kUntilAlike = 6;  // rounds of a graph: every third step is recorded, and arrays are back after two
  expect_same(problem, kernel, 2 * (3 * kUntilAlike + 1) + 1, 2, 1, some_points(problem, 3));
}

/// Whatever fails, and whenever: no step is lost or made twice.
TEST_F(GraphsOnHost, WhatFailsIsLaunchedOneByOne) {
  constexpr int kSteps = 2 * (3 * kRounds + 1) + 1;
  const auto expect_right = [&](const char* definition, std::initializer_list<std::pair<const char*, int>> failures) {
    const Problem problem = layered(definition, kGraphGrid, "4", Boundary::hold);
    Kernel kernel = prepared(problem, {2});
    setenv("STENCIL_TUNE_GRAPHS", "0", 1);
    driver_.launched = 0;
    const RunResult expected = result_of(problem, kernel, kSteps);
    const int launched = driver_.launched;
    unsetenv("STENCIL_TUNE_GRAPHS");
    for (const auto& [what, after] : failures) {
      SCOPED_TRACE(std::string(what) + " after " + std::to_string(after));
      driver_.graphs = {};
      driver_.graphs.fails = what;
      driver_.graphs.fails_after = after;
      driver_.launched = 0;
      ::testing::internal::CaptureStderr();
      EXPECT_TRUE(result_of(problem, kernel, kSteps) == expected);
      const std::string said = ::testing::internal::GetCapturedStderr();
      EXPECT_NE(said.find("goes on without CUDA graphs: made to fail: "), std::string::npos) << said;
      EXPECT_EQ(driver_.launched, launched);
      EXPECT_EQ(driver_.graphs.alive(), 0U);
    }
  };
  expect_right(kNumbered, {{"begin", 0}, {"begin", 1}, {"keep", 17}, {"keep", 50}, {"end", 1}});
  expect_right(kAbsorbed, {{"end", 0}, {"launch", 0}, {"launch", 1}});
}

/// The user's graph has the whole run. What zones of fewer steps capture of receivers' cells comes after the sums of
/// those with more.
TEST_F(GraphsOnHost, WhatTheUserCapturesIsOneGraph) {
  const Problem problem = layered(kAbsorbed, kGraphGrid, "4", Boundary::zero);
  Kernel kernel = prepared(problem, {2, 3});
  const PointList list = some_points(problem, 1);
  constexpr int kSteps = 3 * 13 + 2;
  EXPECT_EQ(kernel.place_points(list).fused_steps(), 3);
  setenv("STENCIL_TUNE_GRAPHS", "0", 1);
  const RunResult expected = result_of(problem, kernel, kSteps, list);
  unsetenv("STENCIL_TUNE_GRAPHS");
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(result_of(problem, kernel, kSteps, list, Launched::from_graph) == expected);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "no graph within it was tried";
  EXPECT_EQ(driver_.graphs.instantiated, 1);
}

TEST_F(GraphsOnHost, ShortLaunchesOfOneKernelAreGraphsUnlessTheyDiffer) {
  constexpr Extents kSmall{2, {34, 9, 1}};
  const auto expect = [&](const std::string& update, int graphs) {
    const std::string fields = "rank = 2\nfields = [\"u\", \"u_next\"]\n[update]\n";
    const Stencil stencil = parse_definition(fields + "u_next = \"" + update + "\"", "short.toml");
    const Problem problem = make_problem(stencil, ElementType::f64, {}, kSmall, 0, 1, kWholeStep);
    Kernel kernel = lookup(problem, {});
    kernel.prepare(stream_);
    expect_same(problem, kernel, 32 * 4 + 3, graphs, 0);
  };
  expect("0.5*u + 0.2*(u[x-1] + u[y+1])", 3);
  expect("0.5*u + 0.2*(u[x-1] + u[y+1]) + 0.1*cos(t)", 0);
}

/// Two axes of so many cells: the host is ahead of a GPU that takes long for each launch.
TEST_F(GraphsOnHost, LongLaunchesOfOneKernelAreNotGraphs) {
  setenv("STENCIL_TUNE_GRAPHS", "1", 1);
  for (const auto& [cells, graphs] : {std::pair{2000, 3}, {2100, 0}}) {
    FakeDriver driver;
    LibraryParts parts;
    parts.driver = [&driver]() -> Driver& { return driver; };
    parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
    parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
    Library library(std::make_unique<Library::Impl>(std::move(parts)));
    Kernel kernel = library.lookup({.stencil = make_builtin(Shape::star, 2, 1), .extents = {2, {cells, cells, 1}}});
    kernel.prepare();
    std::vector<void*> fields{at(std::uintptr_t{1} << 30), at(std::uintptr_t{1} << 31)};
    kernel.advance(nullptr, fields, 128);
    EXPECT_EQ(driver.count("launch_graph"), graphs);
    EXPECT_EQ(driver.count("destroy_graph"), graphs > 0);
  }
}

}  // namespace
}  // namespace stencil_tune
