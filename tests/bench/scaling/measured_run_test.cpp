// What is measured over several ranks, on threads and kernels on the CPU: times are whatever they are.
#include "bench/scaling/measured_run.hpp"

#include "bench/scaling/measured_links.hpp"
#include "bench/scaling/record.hpp"
#include "bench/scaling/starting_cells.hpp"
#include "tests/distributed/runs_on_host.hpp"
#include "tests/runtime/expect_error.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stencil_tune {
namespace {

class Threads final : public bench::Ranks {
 public:
  explicit Threads(int count) : count_(count) {}
  int size() const override { return count_; }
  void run(const bench::RankBody& body) override {
    for (const std::string& error : ThreadRanks(count_).run(body)) {
      if (!error.empty()) throw std::runtime_error(error);
    }
  }

 private:
  int count_;
};

class CopyingDriver : public SharedHostDriver {
 public:
  void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st*) override {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  }
};

SharedHostDriver& driver() {
  static CopyingDriver driver;
  return driver;
}

Library library() {
  LibraryParts parts;
  parts.driver = []() -> Driver& { return driver(); };
  parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
  parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
  return Library(std::make_unique<Library::Impl>(std::move(parts)));
}

Request request_of(const std::string& stencil, int steps) {
  Request request;
  request.stencil = load_stencil(stencil);
  request.extents = {3, {12, 10, 14}};
  request.steps = steps;
  return request;
}

TEST(MeasuredRun, SaysWhatRan) {
  Threads ranks(2);
  const bench::MeasuredRun run =
      bench::measure(ranks, library, request_of("star3d1r", 2), std::chrono::milliseconds(0));
  EXPECT_EQ(run.cut, (Cut{1, 1, 2}));
  EXPECT_GT(run.gstencils, 0);
  EXPECT_LE(run.slowest, run.gstencils);
  EXPECT_GE(run.fastest, run.gstencils);
  EXPECT_EQ(run.match, Match::default_candidate);
  EXPECT_FALSE(run.evidence.empty());
  EXPECT_ERROR(bench::require_tuned(run, request_of("star3d1r", 2)), ErrorCode::illegal_candidate, "nobody tuned");
  bench::MeasuredRun tuned = run;
  tuned.match = Match::same_architecture;
  EXPECT_NO_THROW(bench::require_tuned(tuned, request_of("star3d1r", 2)));
}

/// Largest value of any field after so many steps of what start_fields() wrote.
double largest_after(const std::string& stencil, int steps) {
  const Request request = request_of(stencil, 1);
  double largest = 0;
  Threads(1).run([&](const std::shared_ptr<Communicator>& ranks) {
    Library mine = library();
    DistributedKernel kernel(mine, ranks, request);
    kernel.prepare(nullptr);
    DistributedFields fields(kernel);
    bench::start_fields(kernel, request, fields);
    kernel.advance(nullptr, fields, steps);
    const Problem step = make_problem(request.stencil, request.type, request.boundaries, request.extents, 0, 1, -1);
    for (const int field : step.step.state) {
      std::vector<std::byte> cells(static_cast<std::size_t>(request.extents.cells()) * sizeof(float));
      fields.read(field, cells);
      for (const double value : bench::values_of(cells, ElementType::f32)) {
        EXPECT_TRUE(std::isfinite(value)) << stencil;
        largest = std::max(largest, std::fabs(value));
      }
    }
  });
  return largest;
}

TEST(MeasuredRun, CellsAreNoZerosAndStayBounded) {
  for (const char* stencil : {"star3d1r", "acoustic3d_o4", "yee3d"}) {
    EXPECT_GT(largest_after(stencil, 0), 0.9) << stencil;
    const double later = largest_after(stencil, 100);
    EXPECT_GT(later, 1e-3) << stencil;
    EXPECT_LT(later, 300) << stencil << ": walls that hold random cells drive fields, but no faster than steps count";
  }
}

TEST(MeasuredLinks, HaveARateALatencyAndACopy) {
  Threads ranks(3);
  const bench::MeasuredLinks links = bench::measure_links(ranks, driver(), 1 << 12);
  EXPECT_GT(links.node_gbs, 0);
  EXPECT_GE(links.node_latency_us, 0);
  EXPECT_GT(links.copy_gbs, 0);
}

TEST(ScalingTable, SaysWhatWasReachedMissedAndNotMeasured) {
  nlohmann::ordered_json record{{"format", "stencil-tune scaling"},
                                {"date", "2026-01-01"},
                                {"commit", "abc"},
                                {"gpu", "made up"},
                                {"gpus", 2},
                                {"driver", "13.0"},
                                {"nvrtc", "13.0"},
                                {"nccl", "2.28.9"},
                                {"links", {{"node_gbs", 400.0}, {"node_latency_us", 20.0}, {"copy_gbs", 4000.0}}},
                                {"points", nlohmann::ordered_json::array()},
                                {"not_measured", {{{"stencil", "yee3d"}, {"scaling", "weak"}, {"why", "no room"}}}}};
  for (const double efficiency : {0.98, 0.96}) {
    record["points"].push_back({{"stencil", "star3d1r"},
                                {"type", "f32"},
                                {"boundary", "hold"},
                                {"scaling", "weak"},
                                {"dims", {1000, 1000, 2000}},
                                {"cut", {1, 1, 2}},
                                {"fused_steps", 5},
                                {"steps_per_exchange", 10},
                                {"gstencils", 2000 * efficiency},
                                {"one_gpu_gstencils", 1000.0},
                                {"whole_on_one_gstencils", 1000.0},
                                {"efficiency", efficiency},
                                {"target", 0.97}});
  }
  const std::string table = bench::scaling_table(record);
  EXPECT_NE(table.find("5           10"), std::string::npos) << "steps fused and steps an exchange: " << table;
  EXPECT_NE(table.find("98.0 %  97.0 %  reached"), std::string::npos) << table;
  EXPECT_NE(table.find("96.0 %  97.0 %  MISSED"), std::string::npos) << table;
  EXPECT_NE(table.find("NOT MEASURED: yee3d weak: no room"), std::string::npos) << table;
}

}  // namespace
}  // namespace stencil_tune
