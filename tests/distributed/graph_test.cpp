// Steps that are captured once and launched many times, as CUDA graphs have them: addresses are those of the capture.
#include "tests/distributed/runs_on_host.hpp"

#include <cstring>

namespace stencil_tune {
namespace {

Span<const std::byte> bytes_of(const Cells& cells) {
  return {reinterpret_cast<const std::byte*>(cells.data()), cells.size() * sizeof(double)};
}

Span<std::byte> bytes_of(Cells& cells) {
  return {reinterpret_cast<std::byte*>(cells.data()), cells.size() * sizeof(double)};
}

struct CapturedRun {
  Request request{};
  Cut cut{1, 1, 1};
  int fused = 1;
  int per_exchange = 0;  ///< 0: as the library chooses
  int steps = 4;         ///< steps of the graph; they bring fields back
  int launches = 3;
  bool overlap = false;
};

class DistributedGraph : public RunsOnHost {
 protected:
  /// Graphs that are launched again and again leave what one domain has. `change`: fields that their owners set to
  /// other values after the first launch.
  void expect_equal(const CapturedRun& run, const std::vector<std::size_t>& change = {}) {
    const std::vector<Cells> start = random_cells(run.request), later = random_cells(run.request);
    std::vector<Cells> gathered(start.size());
    Library library = this->library(run.fused);
    const auto errors =
        ThreadRanks(run.cut[0] * run.cut[1] * run.cut[2]).run([&](const std::shared_ptr<Communicator>& ranks) {
          DistributedKernel kernel(library, ranks, run.request,
                                   {.cut = run.cut, .overlap = run.overlap, .steps_per_exchange = run.per_exchange});
          CUstream_st* stream = driver().create_stream();
          kernel.prepare(stream);
          DistributedFields fields(kernel);
          const auto scatter = [&](std::size_t field, const Cells& cells) {
            fields.scatter(static_cast<int>(field), 0, ranks->rank() == 0 ? bytes_of(cells) : Span<const std::byte>(),
                           stream);
          };
          for (std::size_t field = 0; field < start.size(); ++field) scatter(field, start[field]);
          kernel.refresh(stream, fields);
          const RecordedGraph graph = capture(kernel, fields, stream, run.steps);
          for (int i = 0; i < run.launches; ++i) {
            launch(graph);
            if (i > 0) continue;
            for (const std::size_t field : change) scatter(field, scaled(later[field]));
            kernel.refresh(stream, fields);
          }
          kernel.wait(stream);
          for (std::size_t field = 0; field < start.size(); ++field) {
            gathered[field].resize(ranks->rank() == 0 ? start[field].size() : gathered[field].size());
            fields.gather(static_cast<int>(field), 0,
                          ranks->rank() == 0 ? bytes_of(gathered[field]) : Span<std::byte>(), stream);
          }
        });
    for (const std::string& error : errors) EXPECT_EQ(error, "");

    Kernel whole = library.lookup(run.request);
    whole.prepare();
    std::vector<Cells> arrays = start;
    std::vector<void*> fields;
    for (Cells& array : arrays) fields.push_back(array.data());
    for (int i = 0; i < run.launches; ++i) {
      whole.advance(nullptr, fields, run.steps);
      if (i > 0) continue;
      for (const std::size_t field : change) {
        std::memcpy(fields[field], scaled(later[field]).data(), later[field].size() * sizeof(double));
      }
    }
    const auto* expected = static_cast<const double*>(fields[0]);
    EXPECT_EQ(gathered[0], Cells(expected, expected + gathered[0].size())) << to_string(run.cut, 3);
  }

 private:
  static Cells scaled(Cells cells) {
    for (double& cell : cells) cell *= 0.5;
    return cells;
  }

  static RecordedGraph capture(DistributedKernel& kernel, DistributedFields& fields, CUstream_st* stream, int steps) {
    const void* const before = fields.data(0);
    GraphRecorder::of_thread().begin();
    kernel.advance(stream, fields, steps);
    RecordedGraph graph = GraphRecorder::of_thread().end();
    EXPECT_EQ(fields.data(0), before) << "another number of steps brings the fields back";
    EXPECT_FALSE(graph.empty());
    return graph;
  }
};

TEST_F(DistributedGraph, LaunchesAreAsMuchAsTheirSteps) {
  for (const Boundary boundary : {Boundary::hold, Boundary::periodic}) {
    const Request heat = request_for("heat2d", {47, 24, 1}, boundary);
    expect_equal({.request = heat, .cut = {1, 3, 1}});
    expect_equal({.request = heat, .cut = {2, 2, 1}, .fused = 2, .steps = 8});
  }
}

TEST_F(DistributedGraph, HalosMayTravelBesideLaunches) {
  const Request heat = request_for("heat3d", {40, 12, 14}, Boundary::clamp);
  expect_equal({.request = heat, .cut = {1, 1, 2}, .overlap = true});
  expect_equal({.request = heat, .cut = {1, 2, 2}, .fused = 2, .steps = 4, .overlap = true});
}

// Where an exchange serves two steps, the first computes the halo too, and there read the velocity of cells that
// another rank owns.
TEST_F(DistributedGraph, KnownFieldsThatAreChangedAreRefreshed) {
  const Request wave = request_for("corpus/acoustic3d_o4.toml", {20, 8, 16}, Boundary::hold);
  ASSERT_EQ(wave.stencil.fields[2], "v");
  expect_equal({.request = wave, .cut = {1, 1, 2}, .per_exchange = 2, .steps = 6, .launches = 2}, {2});
}

}  // namespace
}  // namespace stencil_tune
