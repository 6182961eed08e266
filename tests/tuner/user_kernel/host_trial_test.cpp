// Plain CUDA on the CPU.
#include "tuner/user_kernel/host_trial.hpp"

#include "stencil_tune/error.hpp"
#include "tests/generator/user_kernel/definitions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stencil_tune {
namespace {

using testing::kSaxpy;
using testing::replaced;

UserKernel small(const std::string& definition) {
  auto kernel = with_small_sizes(parse_user_kernel(definition, "k.cu").kernel);
  EXPECT_TRUE(kernel);
  return std::move(*kernel);
}

/// What is wrong with the first legal configuration; empty where it is right.
std::string wrong(const std::string& definition) {
  const UserKernel kernel = small(definition);
  return wrong_on_host(kernel, legal_configurations(kernel).front(), {}).value_or("");
}

/// Sums of blocks of 128 cells: shared memory, both kinds, shuffles and atomics.
constexpr std::string_view kSums = R"cu(/* stencil-tune
kernel = "sums"
[sizes]
n = 100000
[parameters]
WAY = [0, 1, 2, 3]
[launch]
block = 128
grid = "ceil_div(n, 128)"
shared_bytes = "4 * 128"
[[arguments]]
name = "out"
type = "i32*"
length = "ceil_div(n, 128)"
fill = "zeros"
inout = true
[[arguments]]
name = "in"
type = "i32*"
length = "n"
fill = "integers"
[[arguments]]
name = "n"
type = "i32"
value = "n"
[reference]
kernel = "sums_naive"
block = 1
grid = "ceil_div(n, 128)"
*/
__global__ void __launch_bounds__(128) sums(int* __restrict__ out, const int* __restrict__ in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = i < n ? __ldg(in + i) : 0;
#if WAY == 0
  __shared__ int parts[128];
#else
  extern __shared__ int parts[];
#endif
#if WAY < 2
  parts[threadIdx.x] = value;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
#elif WAY == 2
  for (int by = 16; by > 0; by /= 2) value += __shfl_down_sync(0xffffffffu, value, by);
  if (threadIdx.x % warpSize == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
#else
  atomicAdd(&out[blockIdx.x], value);
#endif
}

__global__ void sums_naive(int* out, const int* in, int n) {
  for (int i = 128 * blockIdx.x; i < n && i < 128 * (blockIdx.x + 1); ++i) out[blockIdx.x] += in[i];
}
)cu";

TEST(HostTrial, PlainCudaRuns) {
  const UserKernel kernel = small(std::string(kSums));
  EXPECT_EQ(kernel.sizes[0].value, 37);
  const UserKernel larger = [] {
    UserKernel some = parse_user_kernel(kSums, "k.cu").kernel;
    some.sizes[0].value = 1000;
    return some;
  }();
  for (const UserKernel& each : {kernel, larger}) {
    for (const ParameterValues& values : legal_configurations(each)) {
      EXPECT_EQ(wrong_on_host(each, values, {}).value_or(""), "") << configuration_code(each, values);
    }
  }
  EXPECT_EQ(wrong(std::string(kSaxpy)), "");
}

TEST(HostTrial, KernelsFindWhatIsInConstantMemory) {
  EXPECT_EQ(wrong(std::string(testing::kWeighted)), "");
  EXPECT_NE(wrong(replaced(testing::kWeighted, "weights[2]) *", "weights[1]) *")).find("cells of 'out' are wrong"),
            std::string::npos)
      << "the weights are not 0";
  const UserKernel too_long = small(replaced(testing::kWeighted, "length = 3", "length = 4"));
  try {
    (void)wrong_on_host(too_long, {32}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the symbol 'weights' has 12 bytes, its argument 16");
  }
}

// What a short search of a large space may never come to: the textbook's ways to read cells and weights.
TEST(HostTrial, ConvolutionsAreRightWhereverCellsAndWeightsAre) {
  for (const char* name : {"convolution1d", "convolution2d"}) {
    UserKernel kernel = load_user_kernel(STENCIL_TUNE_SOURCE "/kernels/" + std::string(name) + ".cu");
    const bool is_1d = kernel.sizes.size() == 2;
    set_sizes(kernel, is_1d ? std::vector<std::string>{"n=300", "radius=3"}
                            : std::vector<std::string>{"width=37", "height=21", "pitch=40", "radius=2"});
    ParameterValues values = default_configuration(kernel).values;
    const std::size_t mask = values.size() - 1, shared = mask - 1;
    const auto expect_right = [&] {
      EXPECT_EQ(wrong_on_host(kernel, values, {}).value_or(""), "") << configuration_code(kernel, values);
    };
    values[mask] = 2;
    for (const std::int64_t staged : kernel.parameters[shared].values) {
      values[shared] = staged;
      expect_right();
    }
    for (const std::int64_t from : {0, 1}) {
      values[mask] = from;
      expect_right();
    }
  }
}

TEST(HostTrial, TheBasicMatrixProductIsRight) {
  UserKernel kernel = load_user_kernel(STENCIL_TUNE_SOURCE "/kernels/matmul.cu");
  set_sizes(kernel, std::vector<std::string>{"m=37", "n=21", "k=19"});
  ParameterValues values = default_configuration(kernel).values;
  values[0] = 0;
  EXPECT_EQ(configuration_code(kernel, values).substr(0, 18), "TILED=0,TILE_M=16,");
  EXPECT_FALSE(broken_rule(kernel, values));
  EXPECT_EQ(wrong_on_host(kernel, values, {}).value_or(""), "");
}

TEST(HostTrial, AMissingBarrierIsFound) {
  const UserKernel kernel = [] {
    UserKernel some = parse_user_kernel(replaced(kSums, "    __syncthreads();\n", ""), "k.cu").kernel;
    some.sizes[0].value = 1000;
    return some;
  }();
  EXPECT_NE(wrong_on_host(kernel, {0}, {}).value_or("").find("cells of 'out' are wrong"), std::string::npos);
}

TEST(HostTrial, AnAccessBeyondAnArrayIsFound) {
  EXPECT_NE(wrong(replaced(kSaxpy, "if (i < n) y[i] = a * x[i] + y[i];\n  }", "y[i] = a * x[i] + y[i];\n  }")), "");
}

TEST(HostTrial, SizesAreAsSmallAsTheRulesAllow) {
  const std::string definition = replaced(kSaxpy, "\"at most 256", "\"whole blocks\" = \"n % 64 == 0\"\n\"at most 256");
  EXPECT_EQ(small(definition).sizes[0].value, 64);
  const std::string large = replaced(kSaxpy, "\"at most 256", "\"large\" = \"n >= 1025\"\n\"at most 256");
  EXPECT_FALSE(with_small_sizes(parse_user_kernel(replaced(large, "n = 1000", "n = 5000"), "k.cu").kernel));
}

TEST(HostTrial, WhatTheHostCannotCompileIsSaid) {
  try {
    wrong(replaced(kSaxpy, "__global__ void saxpy(", "#include <cuda_nothing.h>\n__global__ void saxpy("));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  }
}

}  // namespace
}  // namespace stencil_tune
