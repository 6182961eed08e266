// Grids that are cut over all GPUs of this machine, with halos by NCCL: every cell is that of one GPU. The same cases
// run on the CPU in tests/distributed.
#include "bench/scaling/gpu_ranks.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/cuda/device.hpp"
#include "stencil_tune/error.hpp"
#include "tests/distributed/cut_cases.hpp"
#include "tests/gpu/graph_capture.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>

namespace stencil_tune {
namespace {

class GpuMachine final : public Machine {
 public:
  bench::Ranks& ranks(int count) override {
    auto& group = ranks_[count];
    if (!group) group = std::make_unique<bench::GpuRanks>(count);
    return *group;
  }
  Driver& driver() override { return cuda_driver(); }
  std::shared_ptr<Compiler> compiler() override { return open_cached_nvrtc(); }
  void replay(CUstream_st* stream, int launches, const std::function<void()>& work) override {
    Capture capture(functions_, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);  // the other ranks are threads
    work();
    capture.finish();
    for (int i = 0; i < launches; ++i) capture.launch();
    driver().synchronize_stream(stream);  // the graph is destroyed here
  }

 private:
  std::map<int, std::unique_ptr<bench::GpuRanks>> ranks_;
  DriverFunctions functions_;
};

class NcclRuns : public ::testing::TestWithParam<CutCases> {
 protected:
  void SetUp() override {
    try {
      gpus_ = static_cast<int>(list_devices().size());
      bench::nccl_version();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    if (gpus_ < 2) GTEST_SKIP() << "two GPUs are needed, " << gpus_ << " found";
  }

  int gpus_ = 0;
};

TEST_P(NcclRuns, AreThoseOfOneGpu) {
  GpuMachine machine;
  const std::int64_t gpus = gpus_;  // parts stay as wide as the tiles of four fused steps
  for (const CutCase& run : GetParam().make(cuts_into(gpus_, 3), {130 * gpus, 33 * gpus, 35 * gpus})) {
    const Compared compared = compare_with_one_rank(machine, run);
    EXPECT_EQ(compared.difference, "") << run.describe();
    const char* right = compared.to_the_bit ? "equal to the bit" : "equal but for roundings";
    std::printf("%s: %s\n", run.describe().c_str(), compared.difference.empty() ? right : "WRONG");
  }
}

INSTANTIATE_TEST_SUITE_P(All, NcclRuns, ::testing::ValuesIn(all_cut_cases().begin(), all_cut_cases().end()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace stencil_tune
