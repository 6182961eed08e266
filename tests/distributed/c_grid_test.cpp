// The C interface to grids over many GPUs, on ranks that are threads.
#include "distributed/bindings/c_grid.hpp"

#include "distributed/bindings/c_ranks.hpp"
#include "stencil_tune/error.hpp"
#include "tests/distributed/runs_on_host.hpp"
#include "tests/runtime/expect_error.hpp"
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

/// Ranks of a program's own: functions of C over ranks that are threads.
stencil_tune_ranks own_ranks(Communicator& communicator) {
  stencil_tune_ranks ranks = STENCIL_TUNE_RANKS_INIT;
  ranks.context = &communicator;
  ranks.rank = communicator.rank();
  ranks.size = communicator.size();
  ranks.exchange = [](void* context, const stencil_tune_transfer* sends, int32_t send_count,
                      const stencil_tune_transfer* receives, int32_t receive_count) {
    const auto all = [](const stencil_tune_transfer* first, int32_t count) {
      std::vector<Transfer> transfers;
      for (int32_t i = 0; i < count; ++i) transfers.push_back({first[i].peer, first[i].data, first[i].bytes});
      return transfers;
    };
    static_cast<Communicator*>(context)->exchange(all(sends, send_count), all(receives, receive_count), nullptr);
    return int32_t{0};
  };
  ranks.all_gather = [](void* context, const void* mine, size_t bytes, void* everything) {
    const auto said = static_cast<Communicator*>(context)->all_gather({static_cast<const std::byte*>(mine), bytes});
    std::copy(said.begin(), said.end(), static_cast<std::byte*>(everything));
    return int32_t{0};
  };
  ranks.abort = [](void* context) { static_cast<Communicator*>(context)->abort(); };
  return ranks;
}

TEST_F(CGrid, TheProgramsOwnRanksCarryHalosAndPoints) {
  constexpr int kSteps = 5;
  Library library = this->library(1);
  stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
  request.stencil = "heat2d";
  request.type = "f64";
  request.boundary = "periodic";
  request.extents[0] = 16;
  request.extents[1] = 12;
  request.alignment = 16;
  stencil_tune_cut cut = STENCIL_TUNE_CUT_INIT;
  cut.parts[0] = cut.parts[1] = 2;
  cut.parts[2] = 1;
  const stencil_tune_point_cell source{0, 1, {7, 5, 0}, 1}, receiver{0, 0, {8, 6, 0}, 1};
  stencil_tune_point_list list = STENCIL_TUNE_POINT_LIST_INIT;
  list.sources = list.receivers = 1;
  list.source_cells = &source;
  list.receiver_cells = &receiver;
  list.source_cell_count = list.receiver_cell_count = 1;
  const Cells series{1, 2, 3, 4, 5};

  const Request whole = request_for("heat2d", {16, 12, 1}, Boundary::periodic);
  const std::vector<Cells> start = random_cells(whole);
  const std::size_t bytes = start[0].size() * sizeof(double);
  Cells found(start[0].size()), sums(kSteps);
  for (const int32_t device_memory : {0, 1}) {
    const auto errors = ThreadRanks(4).run([&](const std::shared_ptr<Communicator>& threads) {
      const bool first = threads->rank() == 0;
      stencil_tune_ranks ranks = own_ranks(*threads);
      ranks.device_memory = device_memory;
      stencil_tune_grid* grid =
          make_c_grid(library, std::make_shared<CallbackCommunicator>(ranks, driver()), request, cut, nullptr);
      EXPECT_EQ(stencil_tune_grid_scatter(grid, 0, 0, first ? start[0].data() : nullptr, first ? bytes : 0),
                STENCIL_TUNE_OK);
      EXPECT_EQ(stencil_tune_grid_refresh(grid), STENCIL_TUNE_OK);
      stencil_tune_points* points = nullptr;
      EXPECT_EQ(stencil_tune_grid_place_points(grid, &list, &points), STENCIL_TUNE_OK);
      Cells records(kSteps);
      EXPECT_EQ(stencil_tune_grid_advance_with_points(grid, points, series.data(), records.data(), kSteps, nullptr, 0,
                                                      nullptr, 0),
                STENCIL_TUNE_OK);
      EXPECT_EQ(stencil_tune_grid_gather_records(grid, points, records.data(), kSteps, 0, first ? sums.data() : nullptr,
                                                 first ? sums.size() * sizeof(double) : 0),
                STENCIL_TUNE_OK);
      EXPECT_EQ(stencil_tune_grid_gather(grid, 0, 0, first ? found.data() : nullptr, first ? bytes : 0),
                STENCIL_TUNE_OK);
      stencil_tune_release_points(points);
      stencil_tune_grid_release(grid);
    });
    for (const std::string& error : errors) EXPECT_EQ(error, "");

    Kernel kernel = library.lookup(whole);
    const Points points = kernel.place_points({.sources = 1,
                                               .source_cells = {{.point = 0, .field = 1, .cell = {7, 5, 0}}},
                                               .receivers = 1,
                                               .receiver_cells = {{.point = 0, .field = 0, .cell = {8, 6, 0}}}});
    std::vector<Cells> arrays = start;
    std::vector<void*> fields{arrays[0].data(), arrays[1].data()};
    Cells records(kSteps);
    kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, fields, kSteps);
    const auto* expected = static_cast<const double*>(fields[0]);
    EXPECT_EQ(found, Cells(expected, expected + found.size()));
    EXPECT_EQ(sums, records);
    EXPECT_NE(sums, Cells(kSteps));
  }
}

TEST_F(CGrid, ARankWhoseFunctionFailsGivesItsGroupUp) {
  stencil_tune_ranks ranks = STENCIL_TUNE_RANKS_INIT;
  int aborted = 0;
  ranks.context = &aborted;
  ranks.exchange = [](void*, const stencil_tune_transfer*, int32_t, const stencil_tune_transfer*, int32_t) {
    return int32_t{7};
  };
  ranks.all_gather = [](void*, const void*, size_t, void*) { return int32_t{0}; };
  ranks.abort = [](void* context) { ++*static_cast<int*>(context); };
  CallbackCommunicator communicator(ranks, driver());
  EXPECT_ERROR(communicator.exchange({}, {}, nullptr), ErrorCode::launch_failed,
               "cannot exchange: the program's function returned 7");
  EXPECT_ERROR(communicator.check(), ErrorCode::launch_failed, "make a new one");
  EXPECT_EQ(aborted, 1);
  ranks.rank = 1;
  EXPECT_ERROR(CallbackCommunicator(ranks, driver()), ErrorCode::invalid_argument, "numbered from 0");
  ranks.exchange = nullptr;
  EXPECT_ERROR(CallbackCommunicator(ranks, driver()), ErrorCode::invalid_argument, "exchange is a null pointer");
}

TEST_F(CGrid, NullPointersAreRefused) {
  EXPECT_EQ(stencil_tune_grid_advance(nullptr, 1, nullptr, 0, nullptr, 0), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_distribute(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            STENCIL_TUNE_INVALID_ARGUMENT);
  stencil_tune_grid_release(nullptr);
}

}  // namespace
}  // namespace stencil_tune
