#include "runtime/compile/nvrtc_compiler.hpp"

#include "tests/runtime/expect_error.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

namespace stencil_tune {
namespace {

constexpr std::array kHeaders{
    TemplateFile{"stencil_tune/scale.cuh",
                 "namespace stencil_tune {\ntemplate <int N> struct Scale { static constexpr int value = N; };\n}  // "
                 "namespace stencil_tune\n"}};

/// The real compiler, or nothing on a machine without it.
std::unique_ptr<Compiler> real_compiler() {
  try {
    return open_nvrtc(NvrtcSearch::from_environment(), 0, kHeaders);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::missing_library) return nullptr;
    throw;
  }
}

#define REQUIRE_NVRTC(compiler)          \
  const auto compiler = real_compiler(); \
  if (!compiler) GTEST_SKIP() << "no NVRTC here"

TEST(NvrtcCompiler, MakesABinaryForTheNamedArchitectureAndReadsItsResources) {
  REQUIRE_NVRTC(compiler);
  const KernelSource source{.text = R"(#include "stencil_tune/scale.cuh"
extern "C" __global__ void twice(float* out, const float* in) {
  __shared__ float tile[64];
  tile[threadIdx.x] = stencil_tune::Scale<2>::value * in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
})",
                            .entry = "twice"};
  const CompiledKernel kernel = compiler->compile(source, "sm_90");
  ASSERT_GE(kernel.cubin.size(), 4U);
  EXPECT_EQ(std::memcmp(kernel.cubin.data(), "\177ELF", 4), 0);
  EXPECT_EQ(kernel.entry, "twice");
  EXPECT_GT(kernel.resources.registers, 0);
  EXPECT_EQ(kernel.resources.static_shared, 256);
  EXPECT_EQ(kernel.resources.spill_bytes, 0);
  EXPECT_GT(kernel.seconds, 0);
}

TEST(NvrtcCompiler, ReportsSpills) {
  REQUIRE_NVRTC(compiler);
  const KernelSource source{.text = R"(extern "C" __global__ void __launch_bounds__(1024, 2) crowded(float* p, int n) {
  float v[96];
  for (int i = 0; i < 96; ++i) v[i] = p[i * n];
  __syncthreads();
  for (int i = 0; i < 96; ++i) p[i * n] = v[95 - i] * v[(i * 7) % 96];
})",
                            .entry = "crowded"};
  EXPECT_GT(compiler->compile(source, "sm_90").resources.spill_bytes, 0);
}

TEST(NvrtcCompiler, KernelsOfTheUsersOwnFindTheToolkitsHeaders) {
  REQUIRE_NVRTC(compiler);
  if (!std::filesystem::is_regular_file("/usr/local/cuda/include/cuda_fp16.h")) GTEST_SKIP() << "no toolkit here";
  const KernelSource source{.text = R"(#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void twice(__half* out, const __nv_bfloat16* in) {
  out[threadIdx.x] = __float2half(2 * __bfloat162float(in[threadIdx.x]));
})",
                            .entry = "twice",
                            .is_own = true};
  EXPECT_NE(compiler->compile(source, "sm_90").entry.find("twice"), std::string::npos);
}

TEST(NvrtcCompiler, CompileErrorCarriesTheCompilersLog) {
  REQUIRE_NVRTC(compiler);
  const KernelSource source{.text = "extern \"C\" __global__ void broken() { no_such_thing(); }", .entry = "broken"};
  EXPECT_ERROR(compiler->compile(source, "sm_90"), ErrorCode::compile_failed, "no_such_thing");
}

TEST(NvrtcCompiler, RefusesWhatIsNoArchitecture) {
  REQUIRE_NVRTC(compiler);
  const KernelSource source{.text = "extern \"C\" __global__ void empty() {}", .entry = "empty"};
  EXPECT_ERROR(compiler->compile(source, "sm_90 --maxrregcount=16"), ErrorCode::unknown_name, "sm_90");
  EXPECT_ERROR(compiler->compile(source, "hopper"), ErrorCode::unknown_name, "hopper");
}

TEST(NvrtcCompiler, SaysWhichArchitecturesItCompilesFor) {
  REQUIRE_NVRTC(compiler);
  compiler->require_architecture("sm_90");
  compiler->require_architecture("sm_90a");
  EXPECT_ERROR(compiler->require_architecture("sm_35"), ErrorCode::unknown_name, "sm_90");
  EXPECT_ERROR(compiler->require_architecture("sm_91"), ErrorCode::unknown_name, "sm_91");
}

TEST(NvrtcCompiler, VersionIsTheOneTheFilesNamesTell) {
  REQUIRE_NVRTC(compiler);
  const std::string by_name = version_by_name(NvrtcSearch::from_environment(), 0);
  if (by_name.empty()) GTEST_SKIP() << "the files' names do not tell here";
  EXPECT_EQ(compiler->version(), by_name);
}

}  // namespace
}  // namespace stencil_tune
