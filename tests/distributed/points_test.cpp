// Sources and receivers of a grid that is cut: those of one domain.
#include "tests/distributed/runs_on_host.hpp"

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

/// What a run with points leaves: cells of each field, and records.
struct FieldsAndRecords {
  std::vector<Cells> fields;
  Cells records;
};

class PointsOfRanks : public RunsOnHost {
 protected:
  FieldsAndRecords on_one_domain(const DistributedRun& run, const PointList& list, const Cells& series, int steps) {
    Library library = this->library(run.fused);
    Kernel kernel = library.lookup(run.request);
    const Points points = kernel.place_points(list);
    FieldsAndRecords left{random_cells(run.request),
                          Cells(static_cast<std::size_t>(points.records(steps) * list.receivers))};
    std::vector<void*> fields;
    for (Cells& cells : left.fields) fields.push_back(cells.data());
    kernel.advance_with_points(points, {series.data(), left.records.data()}, nullptr, fields, steps);
    std::vector<Cells> after;
    for (std::size_t field = 0; field < fields.size(); ++field) {
      const auto* cells = static_cast<const double*>(fields[field]);
      after.emplace_back(cells, cells + left.fields[field].size());
    }
    left.fields = std::move(after);
    return left;
  }

  FieldsAndRecords on_ranks(const DistributedRun& run, const PointList& list, const Cells& series, int steps) {
    Library library = this->library(run.fused);
    FieldsAndRecords left{random_cells(run.request), {}};
    const auto errors = ThreadRanks(run.cut[0] * run.cut[1] * run.cut[2]).run([&](const auto& ranks) {
      DistributedKernel kernel(library, ranks, run.request, {.cut = run.cut, .steps_per_exchange = run.per_exchange});
      CUstream_st* stream = driver().create_stream();
      kernel.prepare(stream);
      DistributedFields fields(kernel);
      const bool first = ranks->rank() == 0;
      for (int field = 0; field < static_cast<int>(left.fields.size()); ++field) {
        fields.scatter(field, 0,
                       first ? as_bytes(left.fields[static_cast<std::size_t>(field)]) : Span<const std::byte>());
      }
      const Points points = kernel.place_points(list);
      Cells records(static_cast<std::size_t>(points.records(steps) * list.receivers));
      kernel.advance_with_points(points, {series.data(), records.data()}, stream, fields, steps);
      Cells sums(first ? records.size() : 0);
      kernel.gather_records(points, records.data(), steps, 0, as_writable_bytes(sums), stream);
      for (int field = 0; field < static_cast<int>(left.fields.size()); ++field) {
        auto& cells = left.fields[static_cast<std::size_t>(field)];
        fields.gather(field, 0, first ? as_writable_bytes(cells) : Span<std::byte>());
      }
      if (first) left.records = std::move(sums);
    });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    return left;
  }

  void expect_equal_with_points(const DistributedRun& run, const PointList& list, int field) {
    SCOPED_TRACE(run.describe());
    constexpr int kSteps = 7;
    Cells series;
    for (int i = 0; i < kSteps * list.sources; ++i) series.push_back(std::sin(0.7 * i) + 0.25);
    const FieldsAndRecords expected = on_one_domain(run, list, series, kSteps);
    const FieldsAndRecords found = on_ranks(run, list, series, kSteps);
    EXPECT_EQ(found.fields[static_cast<std::size_t>(field)], expected.fields[static_cast<std::size_t>(field)]);
    ASSERT_EQ(found.records.size(), expected.records.size());
    for (std::size_t i = 0; i < expected.records.size(); ++i) {
      EXPECT_NEAR(found.records[i], expected.records[i], 1e-13) << "record " << i;  // shares are added in another order
    }
  }
};

/// Sources and receivers in the middle of parts, at cuts, in corners of the grid and between cells.
PointList points_of(const Request& request, int written, int recorded, int every, std::int64_t margin) {
  const auto& n = request.extents.n;
  const int rank = request.extents.rank;
  PointList list{.sources = 3, .source_cells = {}, .receivers = 4, .receiver_cells = {}, .every = every};
  const auto add = [&](std::vector<PointCell>& cells, int point, int field, std::array<double, kMaxRank> at) {
    for (std::size_t axis = static_cast<std::size_t>(rank); axis < kMaxRank; ++axis) at[axis] = 0;
    const std::vector<PointCell> around = spread(point, field, at);
    cells.insert(cells.end(), around.begin(), around.end());
  };
  const auto last = [&](std::size_t axis) { return static_cast<double>(n[axis] - 1 - margin); };
  const auto first = static_cast<double>(margin);
  const auto half = [&](std::size_t axis) { return static_cast<double>(n[axis]) / 2; };
  add(list.source_cells, 0, written, {half(0), half(1), half(2)});
  add(list.source_cells, 1, written, {first, first, first});
  add(list.source_cells, 2, written, {half(0) + 0.25, last(1) - 0.5, half(2) - 0.75});
  add(list.receiver_cells, 0, recorded, {half(0) - 0.5, half(1) - 0.5, half(2) - 0.5});
  add(list.receiver_cells, 1, recorded, {last(0), last(1), last(2)});
  add(list.receiver_cells, 3, recorded, {first, half(1) + 0.5, first});
  return list;
}

TEST_F(PointsOfRanks, AreThoseOfOneDomainInsideFusedSteps) {
  for (const Boundary boundary : {Boundary::hold, Boundary::periodic}) {
    const Request request = request_for("heat2d", {149, 23, 1}, boundary);
    const PointList list = points_of(request, 1, 0, 1, 1);
    ASSERT_EQ(request.stencil.fields[1], "u_next");
    for (const Cut& cut : {Cut{2, 2, 1}, Cut{1, 3, 1}}) {
      expect_equal_with_points({.request = request, .cut = cut, .fused = 3}, list, 0);
    }
  }
}

TEST_F(PointsOfRanks, AreThoseOfOneDomainStageByStage) {
  const Request yee = request_for("corpus/yee3d.toml", {9, 10, 8}, Boundary::zero);
  ASSERT_EQ(yee.stencil.fields[9], "ez_next");
  expect_equal_with_points({.request = yee, .cut = {2, 1, 2}, .per_exchange = 2}, points_of(yee, 9, 2, 3, 0), 2);
}

TEST_F(PointsOfRanks, OutsideTheGridAreRefusedByTheirNumberInTheWhole) {
  Library library = this->library(1);
  const Request request = request_for("heat2d", {16, 12, 1}, Boundary::hold);
  const auto errors = ThreadRanks(2).run([&](const auto& ranks) {
    DistributedKernel kernel(library, ranks, request);
    PointList list{.sources = 2, .source_cells = {{.point = 1, .field = 1, .cell = {3, 12, 0}}}};
    kernel.place_points(list);
  });
  for (const std::string& error : errors) EXPECT_NE(error.find("source 1"), std::string::npos) << error;
}

}  // namespace
}  // namespace stencil_tune
