// The model against measured runs over several GPUs: those that are recorded, and made-up ones that show the bound.
#include "bench/scaling/scaling_record.hpp"

#include "tests/runtime/expect_error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace bench {
namespace {

using stencil_tune::ErrorCode;

namespace fs = std::filesystem;

/// A run of two GPUs of so many GStencil/s.
std::string record(double gstencils) {
  return R"({"format": "stencil-tune scaling", "gpu": "made up",
             "links": {"node_gbs": 400, "node_latency_us": 20, "copy_gbs": 4000},
             "points": [{"stencil": "heat3d", "type": "f32", "boundary": "hold", "dims": [1000, 1000, 2000],
                         "cut": [1, 1, 2], "fused_steps": 4, "steps_per_exchange": 4, "one_gpu_gstencils": 1000,
                         "gstencils": )" +
         std::to_string(gstencils) + "}]}";
}

TEST(ScalingRecord, ThePredictionIsOfTheSameRun) {
  const auto measured = read_scaling_record(record(1900));
  ASSERT_EQ(measured.size(), 1u);
  const double step_us = 998 * 998 * 1002 / 1e6 + (20 + 4 * 1e6 * 4 / 400e3) / 4;  // an array has 1004 planes, 2 held
  EXPECT_NEAR(measured[0].predicted.gstencils, 998 * 998 * 1998 / step_us / 1e3, 1e-6);
  EXPECT_NEAR(measured[0].error(), measured[0].predicted.gstencils / 1900 - 1, 1e-12);
  EXPECT_EQ(measured[0].name, "heat3d f32 1000x1000x2000 over 2 GPUs");
}

TEST(ScalingRecord, TheBoundTellsRightFromWrong) {
  EXPECT_TRUE(read_scaling_record(record(1850))[0].is_within_bound());
  EXPECT_TRUE(read_scaling_record(record(2100))[0].is_within_bound());
  EXPECT_FALSE(read_scaling_record(record(1700))[0].is_within_bound());
  EXPECT_FALSE(read_scaling_record(record(2300))[0].is_within_bound());
}

TEST(ScalingRecord, OtherTextIsRefused) {
  EXPECT_ERROR(read_scaling_record("{}"), ErrorCode::malformed_definition, "no record of bench/scaling");
  EXPECT_ERROR(read_scaling_record("[1"), ErrorCode::malformed_definition, "no record of bench/scaling");
  EXPECT_ERROR(read_scaling_record(R"({"format": "shopping list", "points": []})"), ErrorCode::malformed_definition,
               "another format");
}

TEST(ScalingRecord, TheModelIsWithinTheBoundOfAllThatIsRecorded) {
  int records = 0;
  for (const auto& folder : fs::directory_iterator(STENCIL_TUNE_RESULTS)) {
    const fs::path file = folder.path() / "scaling.json";
    if (!fs::exists(file)) continue;
    ++records;
    std::ifstream in(file);
    const auto measured = read_scaling_record(std::string(std::istreambuf_iterator<char>(in), {}));
    EXPECT_FALSE(measured.empty()) << file;
    for (const MeasuredScaling& each : measured) {
      EXPECT_TRUE(each.is_within_bound())
          << file << ": " << each.name << ": predicted " << each.predicted.gstencils << ", measured " << each.gstencils;
    }
  }
  if (records == 0) GTEST_SKIP() << "nothing is recorded: bench/scaling on a machine with several GPUs does it";
}

}  // namespace
}  // namespace bench
