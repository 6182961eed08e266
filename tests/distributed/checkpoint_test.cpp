// Checkpoints: a run that goes on from one is the run that was never stopped; what does not fit is refused.
#include "tests/distributed/runs_on_host.hpp"

#include "tests/runtime/temporary_folder.hpp"

#include <filesystem>
#include <fstream>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

class Checkpoints : public RunsOnHost {
 protected:
  using Body = std::function<void(DistributedKernel&, DistributedFields&)>;

  std::vector<std::string> on_ranks(const Request& request, const Cut& cut, const Body& body) {
    Library library = this->library(1);
    return ThreadRanks(cut[0] * cut[1] * cut[2]).run([&](const auto& ranks) {
      DistributedKernel kernel(library, ranks, request, {.cut = cut});
      kernel.prepare(nullptr);
      DistributedFields fields(kernel);
      body(kernel, fields);
    });
  }

  /// Random cells, then three steps, saved.
  void save(const Request& request, const Cut& cut, std::int64_t steps) {
    const std::vector<Cells> start = random_cells(request);
    const auto errors = on_ranks(request, cut, [&](DistributedKernel& kernel, DistributedFields& fields) {
      for (int field = 0; field < static_cast<int>(start.size()); ++field) {
        const Cells& cells = start[static_cast<std::size_t>(field)];
        if (is_profile(request.stencil, field)) {
          fields.write(field, as_bytes(cells));
        } else {
          fields.scatter(field, 0, kernel.rank() == 0 ? as_bytes(cells) : Span<const std::byte>());
        }
      }
      kernel.advance(nullptr, fields, 3);
      fields.save(path_, steps);
    });
    for (const std::string& error : errors) ASSERT_EQ(error, "");
  }

  void expect_refused(const Request& request, const Cut& cut, const std::string& words) {
    const auto errors =
        on_ranks(request, cut, [&](DistributedKernel&, DistributedFields& fields) { fields.load(path_); });
    for (const std::string& error : errors) EXPECT_NE(error.find(words), std::string::npos) << error;
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "run";
};

TEST_F(Checkpoints, ARunGoesOnAsIfItHadNeverStopped) {
  const Request request = request_for("corpus/yee3d_layer.toml", {9, 8, 7}, Boundary::hold);
  const Cut cut{2, 1, 2};
  save(request, cut, 3);
  const std::size_t cells = static_cast<std::size_t>(request.extents.cells());
  Cells stopped(cells), never(cells);
  const std::vector<Cells> start = random_cells(request);
  const auto gather = [](DistributedKernel& kernel, DistributedFields& fields, Cells& to) {
    fields.gather(1, 0, kernel.rank() == 0 ? as_writable_bytes(to) : Span<std::byte>());
  };
  auto errors = on_ranks(request, cut, [&](DistributedKernel& kernel, DistributedFields& fields) {
    EXPECT_EQ(fields.load(path_), 3);
    kernel.advance(nullptr, fields, 2);
    gather(kernel, fields, stopped);
  });
  for (const std::string& error : errors) ASSERT_EQ(error, "");
  Library library = this->library(1);
  Kernel whole = library.lookup(request);
  whole.prepare();
  std::vector<Cells> arrays = start;
  std::vector<void*> fields;
  for (Cells& array : arrays) fields.push_back(array.data());
  whole.advance(nullptr, fields, 5);
  never.assign(static_cast<const double*>(fields[1]), static_cast<const double*>(fields[1]) + cells);
  EXPECT_EQ(stopped, never);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 4)
      << "nothing is left over";
}

TEST_F(Checkpoints, OfAnotherRunAreRefused) {
  const Request request = request_for("heat2d", {16, 12, 1}, Boundary::hold);
  save(request, {1, 2, 1}, 3);
  expect_refused(request, {2, 1, 1}, "has cut '1x2', this run has '2x1'");
  expect_refused(request_for("heat2d", {16, 13, 1}, Boundary::hold), {1, 2, 1},
                 "has grid '16x12', this run has '16x13'");
  expect_refused(request_for("heat2d", {16, 12, 1}, Boundary::zero), {1, 2, 1}, "has boundary 'hold'");
  expect_refused(request_for("star2d1r", {16, 12, 1}, Boundary::hold), {1, 2, 1}, "has stencil");
}

TEST_F(Checkpoints, DamagedOnesAreRefusedOnAllRanks) {
  const Request request = request_for("heat2d", {16, 12, 1}, Boundary::hold);
  const fs::path second = path_.string() + ".1";
  const auto size = [&] { return fs::file_size(second); };
  save(request, {1, 2, 1}, 3);
  std::fstream file(second, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size() - 100));
  file.put('x').put('y');
  file.close();
  expect_refused(request, {1, 2, 1}, "rank 1: checkpoint '" + second.string() + "' is damaged: its checksum");
  fs::resize_file(second, 40);
  expect_refused(request, {1, 2, 1}, "it ends too early");
  std::ofstream(second) << "something else\n\n";
  expect_refused(request, {1, 2, 1}, "is no checkpoint");
  fs::remove(second);
  expect_refused(request, {1, 2, 1}, "cannot open");
}

TEST_F(Checkpoints, FilesOfDifferentStepsAreNoCheckpoint) {
  const Request request = request_for("heat2d", {16, 12, 1}, Boundary::hold);
  save(request, {1, 2, 1}, 3);
  fs::copy_file(path_.string() + ".1", folder_.path() / "old");
  save(request, {1, 2, 1}, 6);
  fs::rename(folder_.path() / "old", path_.string() + ".1");
  expect_refused(request, {1, 2, 1}, "after 6 steps on rank 0, 3 on rank 1");
}

}  // namespace
}  // namespace stencil_tune
