#include "runtime/compile/ptxas_log.hpp"

#include "tests/runtime/expect_error.hpp"

namespace stencil_tune {
namespace {

// As NVRTC 13.0 writes it.
constexpr std::string_view kLog =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'stencil_a' for 'sm_90'\n"
    "ptxas info    : Function properties for stencil_a\n"
    "ptxas         .     64 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Used 48 registers, used 1 barriers, 256 bytes smem\n"
    "ptxas info    : Compile time = 7.420 ms\n"
    "ptxas info    : Compiling entry function 'stencil_b' for 'sm_90'\n"
    "ptxas info    : Function properties for stencil_b\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 22 registers, used 0 barriers\n";

TEST(PtxasLog, ReadsRegistersSpillsStackAndSharedMemory) {
  EXPECT_EQ(read_ptxas_log(kLog, "stencil_a"),
            (KernelResources{.registers = 48, .spill_bytes = 32, .stack_bytes = 64, .static_shared = 256}));
}

TEST(PtxasLog, KeepsKernelsOfOneLogApart) {
  EXPECT_EQ(read_ptxas_log(kLog, "stencil_b"), (KernelResources{.registers = 22}));
}

TEST(PtxasLog, DescribesNoKernelThatAWarningAloneNames) {
  EXPECT_TRUE(ptxas_log_describes(kLog, "stencil_a"));
  EXPECT_FALSE(ptxas_log_describes("rows.cuh(45): warning #128-D: [with S=stencil_a::Stencil]\n", "stencil_a"));
}

TEST(PtxasLog, RefusesToMakeUpFiguresOfAnUnknownKernel) {
  EXPECT_ERROR(read_ptxas_log(kLog, "stencil"), ErrorCode::internal, "stencil");
}

}  // namespace
}  // namespace stencil_tune
