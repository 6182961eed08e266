#include "stencil_tune/stencil_tune.h"

#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <memory>

namespace stencil_tune {
namespace {

class CApiTest : public testing::Test {
 protected:
  CApiTest() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [this] { return std::make_shared<FakeCompiler>(compiled_); };
    parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
    library_ = make_c_handle(Library(std::make_unique<Library::Impl>(std::move(parts))));
    request_.stencil = "heat3d";
    request_.extents[0] = request_.extents[1] = request_.extents[2] = 32;
  }
  ~CApiTest() override {
    stencil_tune_release(kernel_);
    stencil_tune_close(library_);
  }

  std::string message() { return stencil_tune_error_message(); }

  FakeDriver driver_;
  std::atomic<int> compiled_{0};
  stencil_tune_library* library_ = nullptr;
  stencil_tune_kernel* kernel_ = nullptr;
  stencil_tune_request request_ = STENCIL_TUNE_REQUEST_INIT;
};

TEST_F(CApiTest, LooksUpPreparesAndLaunches) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_kernel_match(kernel_), STENCIL_TUNE_MATCH_DEFAULT);
  EXPECT_EQ(stencil_tune_kernel_field_count(kernel_), 2);
  EXPECT_EQ(stencil_tune_kernel_field_bytes(kernel_), 4U * 32 * 32 * 32);
  EXPECT_EQ(stencil_tune_kernel_gstencils(kernel_), 0);
  EXPECT_NE(std::string(stencil_tune_kernel_evidence(kernel_)).find(stencil_tune_kernel_code(kernel_)),
            std::string::npos);
  ASSERT_EQ(stencil_tune_prepare(kernel_), STENCIL_TUNE_OK) << message();
  void* fields[] = {at(0x100000), at(0x900000)};
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 2, nullptr, 0, nullptr, nullptr), STENCIL_TUNE_OK)
      << message();
  const std::int64_t low[] = {1, 1, 1};
  const std::int64_t high[] = {31, 31, 2};
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 2, nullptr, 0, low, high), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_advance(kernel_, nullptr, fields, 2, 3, nullptr, 0), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(fields[0], at(0x900000));
  EXPECT_EQ(driver_.launches.size(), 5U);
}

TEST_F(CApiTest, PlacesPointsAndAdvancesWithThem) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  const double position[] = {10, 11.25, 12.5};
  stencil_tune_point_cell cells[8];
  ASSERT_EQ(stencil_tune_spread(0, 1, position, cells), 4);
  EXPECT_EQ(cells[3].cell[1], 12);
  EXPECT_EQ(cells[3].weight, 0.125);
  const stencil_tune_point_cell receiver = {0, 0, {5, 5, 5}, 1};
  stencil_tune_point_list list = STENCIL_TUNE_POINT_LIST_INIT;
  list.source_cells = cells;
  list.source_cell_count = 4;
  list.sources = 1;
  list.receiver_cells = &receiver;
  list.receiver_cell_count = 1;
  list.receivers = 1;
  list.every = 2;
  stencil_tune_points* points = nullptr;
  ASSERT_EQ(stencil_tune_place_points(kernel_, &list, &points), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_points_records(points, 5), 2);
  EXPECT_EQ(stencil_tune_points_fused_steps(points), 1);
  EXPECT_STREQ(stencil_tune_points_notes(points), "");
  void* fields[] = {at(0x100000), at(0x900000)};
  EXPECT_EQ(stencil_tune_advance_with_points(kernel_, points, at(0x10000), at(0x20000), nullptr, 0, nullptr, fields, 2,
                                             5, nullptr, 0),
            STENCIL_TUNE_OK)
      << message();
  EXPECT_EQ(driver_.launches.size(), 5U + 5U) << "steps, and what sources and receivers do after each";
  EXPECT_EQ(stencil_tune_advance_with_points(kernel_, points, nullptr, at(0x20000), nullptr, 0, nullptr, fields, 2, 5,
                                             nullptr, 0),
            STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("series"), std::string::npos);
  stencil_tune_release_points(points);
  list.source_cells = nullptr;
  EXPECT_EQ(stencil_tune_place_points(kernel_, &list, &points), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(points, nullptr);
  EXPECT_EQ(driver_.count("allocate"), driver_.count("free"));
}

TEST_F(CApiTest, RunsOnAThreadWithoutAContext) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_kernel_device(kernel_), 0);
  EXPECT_EQ(stencil_tune_kernel_workspace_bytes(kernel_), 0U);
  driver_.current = -1;
  void* fields[] = {at(0x100000), at(0x900000)};
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 2, nullptr, 0, nullptr, nullptr),
            STENCIL_TUNE_INVALID_ARGUMENT);
  ASSERT_EQ(stencil_tune_launch_on_device(kernel_, nullptr, fields, 2, nullptr, 0, nullptr, nullptr), STENCIL_TUNE_OK)
      << message();
  ASSERT_EQ(stencil_tune_advance_on_device(kernel_, nullptr, fields, 2, 3, nullptr, 0), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.launches.size(), 4U);
  EXPECT_EQ(driver_.current, -1) << "what was current before is afterwards";
  ASSERT_EQ(stencil_tune_copy_field_on_device(kernel_, nullptr, fields[0], fields[1]), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.count("copy_on_device"), 1);
  float cell = 0;
  ASSERT_EQ(stencil_tune_read_array_on_device(kernel_, nullptr, &cell, fields[0], sizeof(cell)), STENCIL_TUNE_OK)
      << message();
  ASSERT_EQ(stencil_tune_write_array_on_device(kernel_, nullptr, fields[0], &cell, sizeof(cell)), STENCIL_TUNE_OK)
      << message();
  EXPECT_EQ(driver_.count("copy_to_host"), 1);
  EXPECT_EQ(driver_.count("copy_to_device"), 1);
  EXPECT_EQ(driver_.current, -1);
  EXPECT_EQ(driver_.count("retain_primary_context"), 1);
  EXPECT_EQ(driver_.count("load_module"), 2) << "the kernel, and the one that copies layers";
}

TEST_F(CApiTest, AStepIsALaunchOfAllWithTheStencilsCoefficients) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  void* fields[] = {at(0x100000), at(0x900000)};
  ASSERT_EQ(stencil_tune_step_on_device(kernel_, nullptr, fields), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(stencil_tune_launch_on_device(kernel_, nullptr, fields, 2, nullptr, 0, nullptr, nullptr), STENCIL_TUNE_OK);
  ASSERT_EQ(driver_.launches.size(), 2U);
  EXPECT_EQ(driver_.launches[0].argument, driver_.launches[1].argument);
  EXPECT_EQ(stencil_tune_step_on_device(nullptr, nullptr, fields), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_step_on_device(kernel_, nullptr, nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, AStepIntoNewOutputsCopiesTheLayersOfTheFieldsThatTheyBecome) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  void* fields[] = {at(0x100000), at(0x900000)};
  ASSERT_EQ(stencil_tune_step_into_new_on_device(kernel_, nullptr, fields, nullptr, 0), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(stencil_tune_step_on_device(kernel_, nullptr, fields), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.box_copies.size(), 1U);
  ASSERT_EQ(driver_.launches.size(), 2U);
  EXPECT_EQ(driver_.launches[0].argument, driver_.launches[1].argument);
  void* same[] = {at(0x100000), at(0x100000)};
  EXPECT_EQ(stencil_tune_step_into_new_on_device(kernel_, nullptr, same, nullptr, 0), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(driver_.box_copies.size(), 1U) << "checked before anything is done";
  stencil_tune_release(kernel_);
  request_.boundary = "periodic";
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(stencil_tune_step_into_new_on_device(kernel_, nullptr, fields, nullptr, 0), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.box_copies.size(), 1U) << "every cell is written";
}

TEST_F(CApiTest, LayersThatAreAlikeAreNotCopiedAgain) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  void* fields[] = {at(0x100000), at(0x900000)};
  ASSERT_EQ(stencil_tune_advance_on_device(kernel_, nullptr, fields, 2, 3, nullptr, 0), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.box_copies.size(), 1U);
  ASSERT_EQ(stencil_tune_advance_again_on_device(kernel_, nullptr, 3, nullptr, fields, 2, 4, nullptr, 0),
            STENCIL_TUNE_OK)
      << message();
  EXPECT_EQ(driver_.box_copies.size(), 1U);
  EXPECT_EQ(driver_.launches.size(), 7U);
  EXPECT_EQ(fields[0], at(0x900000));
}

TEST_F(CApiTest, LaunchesSomeBoxesInOneCall) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  void* fields[] = {at(0x100000), at(0x900000)};
  std::int64_t boxes[] = {1, 1, 1, 31, 31, 2, 1, 1, 30, 31, 31, 31};
  ASSERT_EQ(stencil_tune_launch_boxes_on_device(kernel_, nullptr, fields, 2, nullptr, 0, boxes, 2), STENCIL_TUNE_OK)
      << message();
  for (std::int64_t* box : {boxes, boxes + 6}) {
    ASSERT_EQ(stencil_tune_launch_on_device(kernel_, nullptr, fields, 2, nullptr, 0, box, box + 3), STENCIL_TUNE_OK);
  }
  ASSERT_EQ(driver_.launches.size(), 4U);
  for (const std::size_t i : {0, 1}) EXPECT_EQ(driver_.launches[i].argument, driver_.launches[i + 2].argument);
  EXPECT_NE(driver_.launches[0].argument, driver_.launches[1].argument);
  boxes[6] = 0;  // a layer that is held
  EXPECT_EQ(stencil_tune_launch_boxes_on_device(kernel_, nullptr, fields, 2, nullptr, 0, boxes, 2),
            STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(driver_.launches.size(), 5U) << "those before it were launched";
  EXPECT_EQ(stencil_tune_launch_boxes_on_device(kernel_, nullptr, fields, 2, nullptr, 0, boxes, -1),
            STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, GoesToTheKernelsGpuAndBack) {
  driver_.gpus = {{}, {.name = "Fake GPU", .uuid_start = 0x50}};
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  driver_.current = 1;
  EXPECT_EQ(stencil_tune_prepare(kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_prepare_on_device(kernel_, nullptr), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.current, 1);
  driver_.current = 0;
  void* fields[] = {at(0x100000), at(0x900000)};
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 2, nullptr, 0, nullptr, nullptr), STENCIL_TUNE_OK)
      << "prepared there: " << message();
}

TEST_F(CApiTest, AKernelForANamedGpuRunsOnNone) {
  request_.gpu = "sm_90";
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_kernel_device(kernel_), -1);
  EXPECT_EQ(stencil_tune_prepare_on_device(kernel_, nullptr), STENCIL_TUNE_NO_DEVICE);
}

TEST_F(CApiTest, ADefinitionsElementTypeServesWhereNoneIsGiven) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "shift.toml").string();
  std::ofstream(file) << "rank = 1\nelement = \"f64\"\nfields = [\"u\", \"v\"]\n[update]\nv = \"u[x+1]\"\n";
  request_ = STENCIL_TUNE_REQUEST_INIT;
  request_.stencil = file.c_str();
  request_.extents[0] = 100;
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_kernel_field_bytes(kernel_), 8U * 100);
}

TEST_F(CApiTest, ErrorsAreStatusesWithMessages) {
  EXPECT_EQ(stencil_tune_lookup(library_, nullptr, &kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("request"), std::string::npos);
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_prepare(nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
  request_.objective = "speed";
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_UNKNOWN_NAME);
  EXPECT_NE(message().find("unknown objective 'speed' (known: time, burst, energy)"), std::string::npos) << message();
  request_.objective = "energy";
  request_.stencil = "heat5d";
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_UNKNOWN_NAME);
  EXPECT_NE(message().find("heat5d"), std::string::npos);
  EXPECT_EQ(kernel_, nullptr);
  stencil_tune_library* library = nullptr;
  EXPECT_EQ(stencil_tune_open("/no/such/winners.db", &library), STENCIL_TUNE_DATABASE_IO);
  EXPECT_EQ(library, nullptr);
}

TEST_F(CApiTest, OneNumberStandsForTheCurrentGpu) {
  request_.device = -2;
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("device -2: an ordinal, or -1 for the GPU of the current context"), std::string::npos);
  request_.gpu = "sm_90";
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, ARequestIsCheckedWithoutAGpu) {
  char* boundary = nullptr;
  request_.boundary = "x=zero,z=periodic";
  ASSERT_EQ(stencil_tune_check_request(&request_, &boundary), STENCIL_TUNE_OK) << message();
  EXPECT_STREQ(boundary, "x=zero,y=hold,z=periodic");
  stencil_tune_free_text(boundary);
  EXPECT_EQ(stencil_tune_check_request(&request_, nullptr), STENCIL_TUNE_OK);
  request_.extents[1] = 0;
  EXPECT_EQ(stencil_tune_check_request(&request_, &boundary), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(boundary, nullptr);
  const std::string said = message();
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), said);
  EXPECT_EQ(stencil_tune_check_request(nullptr, &boundary), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, APointStandsAtANumberOfCells) {
  stencil_tune_point_cell cells[8];
  for (const double wrong : {std::nan(""), HUGE_VAL, -0x1p62}) {
    const double position[] = {1, wrong, 0};
    EXPECT_EQ(stencil_tune_spread(3, 0, position, cells), 0);
    EXPECT_NE(message().find("point 3 at"), std::string::npos) << message();
  }
}

TEST_F(CApiTest, ALaunchRefusesBadAddressesAndCounts) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(stencil_tune_prepare(kernel_), STENCIL_TUNE_OK) << message();
  void* fields[] = {at(0x100000), at(0x100000)};
  const double one[] = {1};
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 2, nullptr, 0, nullptr, nullptr),
            STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("overlaps"), std::string::npos);
  fields[1] = at(0x900000);
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 1, nullptr, 0, nullptr, nullptr),
            STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 2, one, 99, nullptr, nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, fields, 2, one, -1, nullptr, nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_launch(kernel_, nullptr, nullptr, 2, nullptr, 0, nullptr, nullptr),
            STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_TRUE(driver_.launches.empty());
}

TEST_F(CApiTest, AStageIsLaunchedByItself) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(stencil_tune_prepare(kernel_), STENCIL_TUNE_OK) << message();
  void* fields[] = {at(0x100000), at(0x900000)};
  EXPECT_EQ(stencil_tune_launch_stage(kernel_, 0, nullptr, fields, 2, nullptr, 0, nullptr, nullptr), STENCIL_TUNE_OK)
      << message();
  EXPECT_EQ(driver_.launches.size(), 1U);
  EXPECT_EQ(stencil_tune_launch_stage(kernel_, 1, nullptr, fields, 2, nullptr, 0, nullptr, nullptr),
            STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, AParsedStencilIsLookedUp) {
  stencil_tune_stencil* stencil = nullptr;
  ASSERT_EQ(stencil_tune_stencil_parse("u_next = u[x-1] + a*w; a = 2", 3, &stencil), STENCIL_TUNE_OK) << message();
  request_.parsed = stencil;
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("`parsed`"), std::string::npos) << message();
  request_.stencil = nullptr;
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  stencil_tune_stencil_release(stencil);
  EXPECT_EQ(stencil_tune_kernel_field_count(kernel_), 3);
  EXPECT_EQ(stencil_tune_kernel_coefficient_count(kernel_), 1);
}

TEST_F(CApiTest, ARequestOfAnOlderProgramIsServed) {
  stencil_tune_stencil* unset = reinterpret_cast<stencil_tune_stencil*>(0x1);  // beyond what that program knows
  request_.parsed = unset;
  request_.struct_size = offsetof(stencil_tune_request, parsed);
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  stencil_tune_release(kernel_);
  request_.struct_size = sizeof(request_) + 8;
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, ALibraryIsReadAnew) {
  EXPECT_EQ(stencil_tune_reload(library_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_reload(nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CApiTest, ARequestOfAnotherSizeIsRefused) {
  request_.struct_size = 8;
  EXPECT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("struct_size"), std::string::npos);
}

/// Programs that were compiled before hold the numbers.
TEST_F(CApiTest, MatchesKeepTheirNumbers) {
  const std::array names{"exact",   "nearest size", "same architecture", "predicted",
                         "default", "stale",        "same form",         "unknown"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_STREQ(stencil_tune_match_name(static_cast<stencil_tune_match>(i)), names[i]);
  }
  for (const Match each : {Match::exact, Match::stale, Match::same_form, Match::nearest_size, Match::same_architecture,
                           Match::predicted, Match::default_candidate}) {
    EXPECT_EQ(stencil_tune_match_name(to_c(each)), name(each));
  }
}

TEST_F(CApiTest, NamesAndPitch) {
  EXPECT_EQ(std::string(stencil_tune_version()).find_first_not_of("0123456789."), std::string::npos);
  EXPECT_STREQ(stencil_tune_status_name(STENCIL_TUNE_OK), "ok");
  EXPECT_STREQ(stencil_tune_status_name(STENCIL_TUNE_DATABASE_IO), "database_io");
  EXPECT_EQ(stencil_tune_padded_pitch(100, "f32"), 128);
  EXPECT_EQ(stencil_tune_padded_pitch(100, "f33"), 0);
  EXPECT_NE(message().find("f33"), std::string::npos);
}

TEST_F(CApiTest, OptionsAreCheckedAndTakeEffect) {
  stencil_tune_library* library = nullptr;
  stencil_tune_options options = STENCIL_TUNE_OPTIONS_INIT;
  EXPECT_EQ(stencil_tune_open_with(nullptr, &library), STENCIL_TUNE_INVALID_ARGUMENT);
  options.tune_on_miss_s = -1;
  EXPECT_EQ(stencil_tune_open_with(&options, &library), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("tune_on_miss_s"), std::string::npos) << message();
  options.tune_on_miss_s = 0;
  options.database = "/no/such/winners.db";
  EXPECT_EQ(stencil_tune_open_with(&options, &library), STENCIL_TUNE_DATABASE_IO);
  options.struct_size -= 1;
  EXPECT_EQ(stencil_tune_open_with(&options, &library), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("STENCIL_TUNE_OPTIONS_INIT"), std::string::npos) << message();
  EXPECT_EQ(library, nullptr);
}

TEST_F(CApiTest, AKernelIsReadyOnceItWasWaitedFor) {
  ASSERT_EQ(stencil_tune_lookup(library_, &request_, &kernel_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_kernel_ready(kernel_), 0);
  EXPECT_EQ(stencil_tune_wait(kernel_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_kernel_ready(kernel_), 1);
  EXPECT_EQ(stencil_tune_kernel_ready(nullptr), 0);
}

}  // namespace
}  // namespace stencil_tune
