// Library::kernel on a driver that runs kernels on the CPU.
#include "runtime/cuda/device_facts.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/library.hpp"
#include "tests/generator/user_kernel/definitions.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/library/host_driver.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

using testing::kSaxpy;
using testing::replaced;

class UserKernels : public ::testing::Test {
 protected:
  UserKernels() { write(kSaxpy); }
  ~UserKernels() override { ::unsetenv("STENCIL_TUNE_KERNELS"); }

  void write(std::string_view text) { std::ofstream(file_, std::ios::trunc) << text; }

  /// A winner of the definition as it is now.
  void add_winner(const std::string& code, std::int64_t n, const std::string& gpu = "NVIDIA H200",
                  const std::string& architecture = "sm_90") {
    UserKernel kernel = load_user_kernel(file_);
    set_sizes(kernel, std::vector<std::string>{std::to_string(n)});
    WinnerRecord winner;
    TrialRecord& trial = winner.trial;
    trial.problem.kind = SubjectKind::kernel;
    trial.problem.stencil_key = user_kernel_key(kernel);
    trial.problem.stencil_name = kernel.name;
    trial.problem.sizes = sizes_text(kernel);
    trial.problem.unit = "GFLOP/s";
    trial.platform.gpu = gpu;
    trial.platform.architecture = architecture;
    trial.code = code;
    trial.rate = 5;
    trial.created_at = "2026-11-24T00:00:00Z";
    winners_.push_back(winner);
  }

  Library library() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
    parts.kernel_winners = [this](const std::string& name) {
      EXPECT_EQ(name, "saxpy");
      return winners_;
    };
    return Library(std::make_unique<Library::Impl>(std::move(parts)));
  }

  TunedKernel kernel(std::int64_t n) { return library().kernel(file_, {{"n", n}}); }

  TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "saxpy.cu").string();
  HostDriver driver_;
  std::vector<WinnerRecord> winners_;
};

TEST_F(UserKernels, SayHowGoodTheMatchIs) {
  EXPECT_EQ(kernel(500).match(), Match::default_candidate);
  EXPECT_EQ(kernel(500).evidence().code, "BLOCK=32,ITEMS=1");
  const std::string here = driver_.device_name(0);
  add_winner("BLOCK=128,ITEMS=1", 500, "another GPU", read_device(driver_, 0).architecture);
  EXPECT_EQ(kernel(500).match(), Match::same_architecture);
  add_winner("BLOCK=32,ITEMS=4", 100000, here);
  add_winner("BLOCK=64,ITEMS=4", 900, here);
  EXPECT_EQ(kernel(500).match(), Match::nearest_size);
  EXPECT_EQ(kernel(500).evidence().code, "BLOCK=64,ITEMS=4");
  EXPECT_EQ(kernel(80000).evidence().code, "BLOCK=32,ITEMS=4");
  add_winner("BLOCK=64,ITEMS=2", 500, here);
  EXPECT_EQ(kernel(500).match(), Match::exact);
  EXPECT_NE(kernel(500).evidence().sentence().find("BLOCK=64,ITEMS=2 (match: exact): tuned at n=500"),
            std::string::npos);
  write(replaced(kSaxpy, "a * x[i] + y[i];\n  }", "y[i] + a * x[i];\n  }"));
  EXPECT_EQ(kernel(500).match(), Match::stale);
}

TEST_F(UserKernels, TakeTheDefinitionsDefaultWhereNothingIsKnown) {
  write(replaced(kSaxpy, "[rules]", "[default]\nBLOCK = 128\nITEMS = \"n / 250\"\n[rules]"));
  EXPECT_EQ(kernel(500).evidence().code, "BLOCK=128,ITEMS=2");
  const TunedKernel other = kernel(1000);
  EXPECT_EQ(other.evidence().code, "BLOCK=32,ITEMS=1");
  EXPECT_NE(other.evidence().sentence().find("the default BLOCK=128,ITEMS=4 breaks 'at most 256 cells a block'"),
            std::string::npos)
      << other.evidence().sentence();
}

TEST_F(UserKernels, PassOverWhatIsNoConfigurationHere) {
  add_winner("BLOCK=128,ITEMS=4", 500, driver_.device_name(0));
  const TunedKernel found = kernel(500);
  EXPECT_EQ(found.match(), Match::default_candidate);
  EXPECT_NE(found.evidence().sentence().find("passed over BLOCK=128,ITEMS=4: at most 256 cells a block"),
            std::string::npos);
}

TEST_F(UserKernels, LaunchWithPlainArguments) {
  add_winner("BLOCK=64,ITEMS=2", 1000, driver_.device_name(0));
  TunedKernel saxpy = kernel(1000);
  std::vector<float> y(1000, 1), x(1000, 4);
  EXPECT_THROW(saxpy.launch(nullptr, y.data(), x.data(), 0.5F, 1000), Error) << "not prepared";
  saxpy.prepare();
  saxpy.launch(nullptr, y.data(), x.data(), 0.5F, 1000);
  EXPECT_EQ(y, std::vector<float>(1000, 3));
  EXPECT_EQ(driver_.launched, 1);
  EXPECT_TRUE(saxpy.source().starts_with("#define BLOCK 64\n#define ITEMS 2\n"));

  EXPECT_THROW(saxpy.launch(nullptr, y.data(), x.data(), 0.5F), Error);
  EXPECT_THROW(saxpy.launch(nullptr, y.data(), x.data(), 0.5, 1000), Error) << "a double";
  EXPECT_THROW(saxpy.launch(nullptr, y.data(), x.data(), 1, 1000), Error) << "a whole number";
  EXPECT_THROW(saxpy.launch(nullptr, y.data(), 7, 0.5F, 1000), Error) << "no address";
  EXPECT_THROW(saxpy.launch(nullptr, y.data(), static_cast<float*>(nullptr), 0.5F, 1000), Error);
}

TEST_F(UserKernels, CopyWhatIsInConstantMemoryBeforeALaunch) {
  const std::string file = (folder_.path() / "weighted.cu").string();
  std::ofstream(file) << testing::kWeighted;
  LibraryParts parts;
  parts.driver = [this]() -> Driver& { return driver_; };
  parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
  parts.kernel_winners = [](const std::string&) { return std::vector<WinnerRecord>{}; };
  TunedKernel weighted = Library(std::make_unique<Library::Impl>(std::move(parts))).kernel(file, {{"n", 10}});
  weighted.prepare();
  std::vector<float> out(10), weights{1, 2, 4}, in(10, 3);
  weighted.launch(nullptr, out.data(), weights.data(), in.data(), 10);
  EXPECT_EQ(out, std::vector<float>(10, 21));
  weights[0] = 2;
  weighted.launch(nullptr, out.data(), weights.data(), in.data(), 10);
  EXPECT_EQ(out, std::vector<float>(10, 24)) << "as they are now";
}

TEST_F(UserKernels, CaptureTheirFirstLaunch) {
  const auto captures = folder_.path() / "captures";
  ::setenv("STENCIL_TUNE_CAPTURE", captures.c_str(), 1);
  TunedKernel saxpy = kernel(1000);
  ::unsetenv("STENCIL_TUNE_CAPTURE");
  saxpy.prepare();
  std::vector<float> y(1000, 1), x(1000, 4);
  for (int i = 0; i < 2; ++i) saxpy.launch(nullptr, y.data(), x.data(), 0.25F, 1000);
  EXPECT_EQ(y, std::vector<float>(1000, 3)) << "launches are what they are without it";

  const UserKernel captured = load_user_kernel((captures / "saxpy.n=1000").string());
  EXPECT_EQ(user_kernel_key(captured), user_kernel_key(load_user_kernel(file_)));
  EXPECT_EQ(sizes_text(captured), "n=1000");
  const auto held = [&](std::size_t argument) {
    std::ifstream file(captured.arguments[argument].captured, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto bytes = [](const auto& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  EXPECT_EQ(held(0), bytes(std::vector<float>(1000, 1))) << "before the first launch";
  EXPECT_EQ(held(1), bytes(x));
  EXPECT_EQ(held(2), bytes(std::vector<float>{0.25F}));
  EXPECT_EQ(held(3), bytes(std::vector<int>{1000}));
  EXPECT_TRUE(load_user_kernel(file_).arguments[0].captured.empty());

  EXPECT_TRUE(load_user_kernel(file_).captured_data.empty());
  EXPECT_EQ(captured.captured_data.size(), 32U);
  std::ofstream(captures / "saxpy.n=1000" / "a.bin", std::ios::binary) << "abcd";
  EXPECT_NE(load_user_kernel((captures / "saxpy.n=1000").string()).captured_data, captured.captured_data);
}

TEST_F(UserKernels, AreFoundByNameInTheFoldersOfTheEnvironment) {
  ::setenv("STENCIL_TUNE_KERNELS", ("/no/such:" + folder_.path().string()).c_str(), 1);
  EXPECT_EQ(library().kernel("saxpy").evidence().code, "BLOCK=32,ITEMS=1");
  EXPECT_ERROR(library().kernel("sxpy"), ErrorCode::unknown_name, "did you mean 'saxpy'?");
  EXPECT_ERROR((library().kernel("saxpy", {{"m", 3}})), ErrorCode::unknown_name, "'m' is no size of saxpy");
}

}  // namespace
}  // namespace stencil_tune
