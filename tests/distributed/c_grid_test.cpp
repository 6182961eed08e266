// The C interface to grids over many GPUs, on ranks that are threads.
#include "distributed/bindings/c_grid.hpp"

#include "tests/distributed/runs_on_host.hpp"
#include "tests/runtime/temporary_folder.hpp"

namespace stencil_tune {
namespace {

class CGrid : public RunsOnHost {};

TEST_F(CGrid, ScattersAdvancesSavesAndGathers) {
  TemporaryFolder folder;
  const std::string path = folder.path() / "heat";
  Library library = this->library(1);
  stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
  request.stencil = "heat2d";
  request.type = "f64";
  request.boundary = "clamp";
  request.extents[0] = 16;
  request.extents[1] = 12;
  request.alignment = 16;
  stencil_tune_cut cut = STENCIL_TUNE_CUT_INIT;
  cut.parts[0] = cut.parts[2] = 1;
  cut.parts[1] = 3;
  cut.steps_per_exchange = 2;

  const std::vector<Cells> start = random_cells(request_for("heat2d", {16, 12, 1}, Boundary::clamp));
  const std::size_t bytes = start[0].size() * sizeof(double);
  Cells found(start[0].size());
  const auto errors = ThreadRanks(3).run([&](const std::shared_ptr<Communicator>& ranks) {
    stencil_tune_grid* grid = make_c_grid(library, ranks, request, cut, nullptr);
    const bool first = ranks->rank() == 0;
    std::array<int64_t, 3> low{}, high{};
    stencil_tune_grid_owned(grid, low.data(), high.data());
    EXPECT_EQ(low[1], 4 * ranks->rank());
    EXPECT_EQ(high[1], 4 * ranks->rank() + 4);
    EXPECT_EQ(stencil_tune_grid_steps_per_exchange(grid), 2);
    EXPECT_NE(std::string(stencil_tune_grid_evidence(grid)), "");
    EXPECT_EQ(stencil_tune_grid_scatter(grid, 0, 0, first ? start[0].data() : nullptr, first ? bytes : 0),
              STENCIL_TUNE_OK);
    EXPECT_EQ(stencil_tune_grid_advance(grid, 3, nullptr, 0, nullptr, 0), STENCIL_TUNE_OK);
    EXPECT_EQ(stencil_tune_grid_save(grid, path.c_str(), 3), STENCIL_TUNE_OK);
    EXPECT_EQ(stencil_tune_grid_advance(grid, 9, nullptr, 0, nullptr, 0), STENCIL_TUNE_OK);
    int64_t steps = 0;
    EXPECT_EQ(stencil_tune_grid_load(grid, path.c_str(), &steps), STENCIL_TUNE_OK);
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(stencil_tune_grid_advance(grid, 2, nullptr, 0, nullptr, 0), STENCIL_TUNE_OK);
    EXPECT_EQ(stencil_tune_grid_wait(grid), STENCIL_TUNE_OK);
    EXPECT_EQ(stencil_tune_grid_gather(grid, 0, 0, first ? found.data() : nullptr, first ? bytes : 0), STENCIL_TUNE_OK);
    EXPECT_EQ(stencil_tune_grid_read(grid, 0, found.data(), 8), STENCIL_TUNE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(stencil_tune_error_message()).find("512 bytes"), std::string::npos);
    stencil_tune_grid_release(grid);
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");

  Kernel whole = library.lookup(request_for("heat2d", {16, 12, 1}, Boundary::clamp));
  whole.prepare();
  std::vector<Cells> arrays = start;
  std::vector<void*> fields{arrays[0].data(), arrays[1].data()};
  whole.advance(nullptr, fields, 5);
  const auto* expected = static_cast<const double*>(fields[0]);
  EXPECT_EQ(found, Cells(expected, expected + found.size()));
}

TEST_F(CGrid, NullPointersAreRefused) {
  EXPECT_EQ(stencil_tune_grid_advance(nullptr, 1, nullptr, 0, nullptr, 0), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_distribute(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            STENCIL_TUNE_INVALID_ARGUMENT);
  stencil_tune_grid_release(nullptr);
}

}  // namespace
}  // namespace stencil_tune
