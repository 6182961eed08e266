// Kernels for a GPU by its name, through C: evidence, source and export.
#include "stencil_tune/stencil_tune.h"

#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace stencil_tune {
namespace {

std::string message() { return stencil_tune_error_message(); }

std::string taken(char* text) {
  std::string copy = text != nullptr ? text : "";
  stencil_tune_free_text(text);
  return copy;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The 3D 7-point star for runs on an H200: its winner ships with the library.
class CTextTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_DATA_HOME", folder_.path().c_str(), 1);
    unsetenv("STENCIL_TUNE_DB");
    stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
    request.stencil = "star3d1r";
    request.extents[0] = request.extents[1] = request.extents[2] = 512;
    request.steps = 100;
    request.gpu = "h200";
    ASSERT_EQ(stencil_tune_open(nullptr, &library_), STENCIL_TUNE_OK) << message();
    ASSERT_EQ(stencil_tune_lookup(library_, &request, &kernel_), STENCIL_TUNE_OK) << message();
  }
  ~CTextTest() override {
    stencil_tune_release(kernel_);
    stencil_tune_close(library_);
  }

  TemporaryFolder folder_;
  stencil_tune_library* library_ = nullptr;
  stencil_tune_kernel* kernel_ = nullptr;
};

TEST_F(CTextTest, EvidenceIsGivenPieceByPiece) {
  stencil_tune_evidence evidence = STENCIL_TUNE_EVIDENCE_INIT;
  ASSERT_EQ(stencil_tune_kernel_evidence_of(kernel_, 0, &evidence), STENCIL_TUNE_OK) << message();
  EXPECT_STREQ(evidence.code, stencil_tune_kernel_code(kernel_));
  EXPECT_STREQ(evidence.gpu, "NVIDIA H200");
  EXPECT_EQ(evidence.tuned_extents[2], 512);
  EXPECT_EQ(evidence.tuned_pitch, 512);
  EXPECT_EQ(evidence.gstencils, stencil_tune_kernel_gstencils(kernel_));
  EXPECT_GT(evidence.gstencils, 0);
  EXPECT_GT(evidence.share, 1);
  EXPECT_EQ(evidence.match, stencil_tune_kernel_match(kernel_));
  EXPECT_EQ(evidence.fused_steps, stencil_tune_kernel_fused_steps(kernel_));
  EXPECT_GT(evidence.fused_steps, 1);
  EXPECT_NE(std::string(evidence.notes).find("no GPU was asked"), std::string::npos) << evidence.notes;
  EXPECT_EQ(std::string(evidence.tuned_at).substr(0, 2), "20");
  EXPECT_EQ(stencil_tune_kernel_evidence_of(kernel_, 1, &evidence), STENCIL_TUNE_INVALID_ARGUMENT);
  evidence.struct_size = 4;
  EXPECT_EQ(stencil_tune_kernel_evidence_of(kernel_, 0, &evidence), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("STENCIL_TUNE_EVIDENCE_INIT"), std::string::npos);
}

TEST_F(CTextTest, AKernelSaysWhatItIsFor) {
  std::int64_t low[3] = {0, 0, 0};
  std::int64_t high[3] = {0, 0, 0};
  EXPECT_STREQ(stencil_tune_kernel_architecture(kernel_), "sm_90");
  EXPECT_EQ(stencil_tune_kernel_stage_count(kernel_), 1);
  ASSERT_EQ(stencil_tune_kernel_updated_box(kernel_, 0, low, high), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(low[2], 1);
  EXPECT_EQ(high[2], 511);
  EXPECT_EQ(stencil_tune_kernel_updated_box(kernel_, 3, low, high), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CTextTest, SourceAndFilesAreTheCallers) {
  char* text = nullptr;
  ASSERT_EQ(stencil_tune_kernel_source(kernel_, 0, &text), STENCIL_TUNE_OK) << message();
  EXPECT_NE(taken(text).find("__global__"), std::string::npos);

  char* header = nullptr;
  stencil_tune_export_options options = STENCIL_TUNE_EXPORT_OPTIONS_INIT;
  options.name = "conduct";
  options.split_header = 1;
  EXPECT_EQ(stencil_tune_export_text(kernel_, &options, &text, nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
  ASSERT_EQ(stencil_tune_export_text(kernel_, &options, &text, &header), STENCIL_TUNE_OK) << message();
  EXPECT_NE(taken(text).find("#include \"conduct.h\""), std::string::npos);
  EXPECT_NE(taken(header).find("cudaError_t conduct("), std::string::npos);
  ASSERT_EQ(stencil_tune_export_text(kernel_, nullptr, &text, nullptr), STENCIL_TUNE_OK) << message();
  EXPECT_NE(taken(text).find("cudaError_t star3d1r("), std::string::npos);
}

TEST_F(CTextTest, AFileIsNamedByItsPath) {
  const std::filesystem::path path = folder_.path() / "step.cu";
  stencil_tune_export_options options = STENCIL_TUNE_EXPORT_OPTIONS_INIT;
  options.split_header = 1;
  ASSERT_EQ(stencil_tune_export_file(kernel_, &options, path.c_str()), STENCIL_TUNE_OK) << message();
  EXPECT_NE(read(path).find("#include \"step.h\""), std::string::npos);
  EXPECT_NE(read(folder_.path() / "step.h").find("cudaError_t step("), std::string::npos);
  options.name = "other";
  EXPECT_EQ(stencil_tune_export_file(kernel_, &options, path.c_str()), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_export_file(kernel_, nullptr, "/no/such/folder/step.cu"), STENCIL_TUNE_FILE_IO);
}

TEST_F(CTextTest, RunningItSaysWhatIsMissing) {
  void* fields[] = {reinterpret_cast<void*>(0x1000), reinterpret_cast<void*>(0x90000000)};
  EXPECT_EQ(stencil_tune_prepare(kernel_), STENCIL_TUNE_NO_DEVICE);
  EXPECT_NE(message().find("NVIDIA H200 by name"), std::string::npos) << message();
  EXPECT_EQ(stencil_tune_advance(kernel_, nullptr, fields, 2, 10, nullptr, 0), STENCIL_TUNE_NO_DEVICE);
}

}  // namespace
}  // namespace stencil_tune
