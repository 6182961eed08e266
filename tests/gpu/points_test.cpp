// Sources and receivers of runs on a GPU: fused, from a graph, and through the C interface, against plain loops.
#include "tests/runtime/library/points/point_cases.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/kernel_source/signature.hpp"
#include "gpu_test.hpp"
#include "graph_capture.hpp"
#include "runtime/bindings/c_handles.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/stencil_tune.h"
#include "stencil_tune/stencil_tune.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace stencil_tune {
namespace {

constexpr double kTolerance = 1e-12;

/// Numbers on the device, at least one.
class DeviceNumbers {
 public:
  explicit DeviceNumbers(const std::vector<double>& values)
      : values_(values),
        field_({1, {std::max<std::int64_t>(1, static_cast<std::int64_t>(values.size())), 1, 1}}, ElementType::f64) {
    set(values);
  }

  void set(std::vector<double> values) {
    values.resize(std::max<std::size_t>(1, values_.size()));
    field_.copy_from(std::as_bytes(std::span(values)));
  }
  std::vector<double> get() const {
    std::vector<double> values(std::max<std::size_t>(1, values_.size()));
    field_.copy_to(std::as_writable_bytes(std::span(values)));
    values.resize(values_.size());
    return values;
  }
  void* data() const { return field_.data(); }

 private:
  std::vector<double> values_;
  DeviceField field_;
};

/// The fields of a run, and what stands for each after it.
class RunFields {
 public:
  explicit RunFields(const Problem& problem) : problem_(problem) {
    for (const std::vector<double>& cells : random_fields(problem, 1)) numbers_.emplace_back(cells);
    for (const DeviceNumbers& each : numbers_) now_.push_back(each.data());
  }

  /// The cells that they began with; the buffers stay where they are.
  void reset() {
    const Fields cells = random_fields(problem_, 1);
    for (std::size_t i = 0; i < cells.size(); ++i) numbers_[i].set(cells[i]);
  }

  std::vector<void*>& addresses() { return now_; }

  Fields values() const {
    Fields values;
    for (void* address : now_) {
      for (const DeviceNumbers& each : numbers_) {
        if (each.data() == address) values.push_back(each.get());
      }
    }
    return values;
  }

 private:
  const Problem& problem_;
  std::vector<DeviceNumbers> numbers_;
  std::vector<void*> now_;
};

template <class Base>
class PointsTest : public GpuTest<Base> {
 protected:
  void SetUp() override {
    GpuTest<Base>::SetUp();
    if (this->IsSkipped()) return;
    context_.emplace(0);
    stream_.emplace(cuda_driver());
  }

  /// A library whose only winner is the case's.
  Library library_for(const PointCase& each) {
    LibraryParts parts;
    parts.driver = []() -> Driver& { return cuda_driver(); };
    parts.compiler = [] { return std::shared_ptr<Compiler>(open_nvrtc()); };
    parts.winners = [this, winner = each.winner()](const Problem&, const std::string& architecture) {
      WinnerRecord here = winner;
      here.trial.platform = {.gpu = this->device_.name,
                             .architecture = architecture,
                             .driver = this->device_.driver,
                             .nvrtc = "",
                             .template_signature = template_signature(parse_code(winner.trial.code))};
      return std::vector{here};
    };
    return Library(std::make_unique<Library::Impl>(std::move(parts)));
  }

  Kernel lookup(const PointCase& each) {
    Kernel kernel = library_for(each).lookup({.stencil = each.stencil,
                                              .type = ElementType::f64,
                                              .extents = each.extents,
                                              .boundaries = each.boundaries,
                                              .steps = 100});
    EXPECT_EQ(kernel.run_evidence().code, each.code) << kernel.run_evidence().sentence();
    return kernel;
  }

  std::optional<DeviceContext> context_;
  std::optional<Stream> stream_;
};

class DevicePoints : public PointsTest<testing::TestWithParam<PointCase>> {
 protected:
  void expect_right(const Kernel& kernel, const Points& points, const PointList& list, int steps) {
    const Problem problem = GetParam().problem();
    const std::vector<double> series = random_series(list, steps, 3);
    const PointResult expected = run_with_points(problem, random_fields(problem, 1), list, series, steps);
    RunFields fields(problem);
    const DeviceNumbers series_there(series);
    const DeviceNumbers records(std::vector<double>(expected.records.size()));
    kernel.advance_with_points(points, {series_there.data(), records.data()}, stream_->get(), fields.addresses(),
                               steps);
    stream_->synchronize();
    EXPECT_LT(difference(problem, fields.values(), records.get(), expected), kTolerance)
        << steps << " steps, recorded every " << list.every;
  }
};

TEST_P(DevicePoints, AreThoseOfSingleSteps) {
  Problem run = GetParam().problem();
  run.steps = 100;
  if (!is_legal({run, parse_code(GetParam().code)}, device_.limits)) GTEST_SKIP() << "not on this GPU";
  Kernel kernel = lookup(GetParam());
  kernel.prepare(stream_->get());
  const int steps = GetParam().fused();
  for (const int every : {1, 3}) {
    const PointList list = points_of(GetParam(), every);
    const Points points = kernel.place_points(list);
    EXPECT_EQ(points.fused_steps(), steps);
    for (const int length : {1, steps, 2 * steps + 1, 17 * steps + 2}) expect_right(kernel, points, list, length);
  }
}

INSTANTIATE_TEST_SUITE_P(Points, DevicePoints, testing::ValuesIn(point_cases()),
                         [](const auto& test) { return test.param.name; });

PointCase case_named(const std::string& name) {
  for (const PointCase& each : point_cases()) {
    if (each.name == name) return each;
  }
  throw std::invalid_argument("no case of points " + name);
}

using DevicePointRuns = PointsTest<testing::Test>;

/// Other series, other records: what the graph was captured with stays where it is.
TEST_F(DevicePointRuns, AreCapturedInAGraphAndRunAgainWithOtherSeries) {
  const PointCase wave = case_named("two_time_levels");
  const Problem problem = wave.problem();
  Kernel kernel = lookup(wave);
  kernel.prepare(stream_->get());
  const PointList list = points_of(wave, 2);
  const Points points = kernel.place_points(list);
  const int steps = 3 * wave.fused() + 2;
  DriverFunctions functions;
  RunFields fields(problem);
  DeviceNumbers series(random_series(list, steps, 3));
  DeviceNumbers records(std::vector<double>(static_cast<std::size_t>(points.records(steps) * list.receivers)));
  Capture capture(functions, stream_->get());
  kernel.advance_with_points(points, {series.data(), records.data()}, stream_->get(), fields.addresses(), steps);
  capture.finish();
  for (const std::uint64_t seed : {3, 4}) {
    const std::vector<double> values = random_series(list, steps, seed);
    fields.reset();
    series.set(values);
    capture.launch();
    stream_->synchronize();
    const PointResult expected = run_with_points(problem, random_fields(problem, 1), list, values, steps);
    EXPECT_LT(difference(problem, fields.values(), records.get(), expected), kTolerance) << "series " << seed;
  }
}

/// Equal runs have equal bits: no sum depends on which block comes first.
TEST_F(DevicePointRuns, HaveEqualBitsEachTime) {
  const PointCase yee = case_named("yee3d");
  const Problem problem = yee.problem();
  Kernel kernel = lookup(yee);
  kernel.prepare(stream_->get());
  const PointList list = points_of(yee, 1);
  const Points points = kernel.place_points(list);
  constexpr int kSteps = 9;
  const DeviceNumbers series(random_series(list, kSteps, 3));
  std::vector<double> first;
  for (int run = 0; run < 4; ++run) {
    RunFields fields(problem);
    const DeviceNumbers records(std::vector<double>(static_cast<std::size_t>(kSteps * list.receivers)));
    kernel.advance_with_points(points, {series.data(), records.data()}, stream_->get(), fields.addresses(), kSteps);
    stream_->synchronize();
    if (run == 0) first = records.get();
    EXPECT_EQ(records.get(), first);
  }
}

std::vector<stencil_tune_point_cell> c_cells(const std::vector<PointCell>& cells) {
  std::vector<stencil_tune_point_cell> result;
  for (const PointCell& each : cells) {
    result.push_back({each.point, each.field, {each.cell[0], each.cell[1], each.cell[2]}, each.weight});
  }
  return result;
}

TEST_F(DevicePointRuns, GoThroughTheCInterface) {
  const PointCase wave = case_named("wave3d");
  const Problem problem = wave.problem();
  Kernel kernel = lookup(wave);
  kernel.prepare(stream_->get());
  stencil_tune_kernel* handle = make_c_handle(kernel, static_cast<int>(wave.stencil.fields.size()), 0);
  const PointList given = points_of(wave, 2);
  const auto sources = c_cells(given.source_cells);
  const auto receivers = c_cells(given.receiver_cells);
  stencil_tune_point_list list = STENCIL_TUNE_POINT_LIST_INIT;
  list.sources = given.sources;
  list.source_cells = sources.data();
  list.source_cell_count = static_cast<std::int64_t>(sources.size());
  list.receivers = given.receivers;
  list.receiver_cells = receivers.data();
  list.receiver_cell_count = static_cast<std::int64_t>(receivers.size());
  list.every = given.every;
  stencil_tune_points* points = nullptr;
  ASSERT_EQ(stencil_tune_place_points(handle, &list, &points), STENCIL_TUNE_OK) << stencil_tune_error_message();
  EXPECT_EQ(stencil_tune_points_fused_steps(points), wave.fused());
  const int steps = 2 * wave.fused() + 1;
  const std::vector<double> values = random_series(given, steps, 3);
  RunFields fields(problem);
  const DeviceNumbers series(values);
  const DeviceNumbers records(
      std::vector<double>(static_cast<std::size_t>(stencil_tune_points_records(points, steps) * given.receivers)));
  ASSERT_EQ(stencil_tune_advance_with_points(handle, points, series.data(), records.data(), nullptr, 0, stream_->get(),
                                             fields.addresses().data(),
                                             static_cast<std::int32_t>(fields.addresses().size()), steps, nullptr, 0),
            STENCIL_TUNE_OK)
      << stencil_tune_error_message();
  stream_->synchronize();
  const PointResult expected = run_with_points(problem, random_fields(problem, 1), given, values, steps);
  EXPECT_LT(difference(problem, fields.values(), records.get(), expected), kTolerance);
  stencil_tune_release_points(points);
  stencil_tune_release(handle);
}

}  // namespace
}  // namespace stencil_tune
