// Multiply-adds a clock of a whole GPU by where their operands come from: all three from registers of the thread, or the
// factor from a uniform register, as the coefficients of the templates do. On random numbers and on zeros.
//
//     nvcc -O3 -std=c++17 -arch=native bench/pipes.cu -o pipes && ./pipes
//
// One NVIDIA H200 at 1980 MHz, 2026-11-21, lanes an SM starts a clock, on random numbers and on zeros alike: f64 41.7 of 64
// from registers alone and 62.1 with a uniform factor; f32 75.1 and 110.6 of 128.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kValues = 8;        // of a thread: chains that do not wait for each other
constexpr int kAddsOfATurn = 32;  // 4 of each chain
constexpr int kTurns = 40000;

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class Value, bool kUniform>
__global__ void multiply_add(Value* out, long long* clocks, Value scale, Value factor) {
  Value values[kValues], others[kValues];
  for (int i = 0; i < kValues; ++i) {
    const unsigned noise = (threadIdx.x * kValues + i + 1) * 2654435761u;
    values[i] = scale * static_cast<Value>(noise) / static_cast<Value>(4294967296.0);
    others[i] = scale * static_cast<Value>(noise * 2246822519u) / static_cast<Value>(4294967296.0);
  }
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
#pragma unroll
    for (int j = 0; j < kAddsOfATurn / kValues; ++j) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        values[i] = values[i] * (kUniform ? factor : others[(i + j) % kValues]) + others[(i + 3 * j + 1) % kValues];
      }
    }
  }
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - start;
  Value sum = 0;
  for (int i = 0; i < kValues; ++i) sum += values[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class Value, bool kUniform>
void measure(const char* what, Value scale) {
  constexpr int kThreads = 512;
  int multiprocessors = 0;
  require(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  Value* out = nullptr;
  long long* clocks = nullptr;
  require(cudaMalloc(&out, sizeof(Value) * multiprocessors * kThreads));
  require(cudaMalloc(&clocks, sizeof(long long) * multiprocessors));
  long long taken = 0;
  for (int run = 0; run < 2; ++run) {  // the first warms up
    multiply_add<Value, kUniform><<<multiprocessors, kThreads>>>(out, clocks, scale, scale);
    require(cudaGetLastError());
    require(cudaMemcpy(&taken, clocks, sizeof taken, cudaMemcpyDeviceToHost));
  }
  require(cudaFree(out));
  require(cudaFree(clocks));
  std::printf("%-36s %6.1f lanes a clock\n", what, 1.0 * kThreads * kTurns * kAddsOfATurn / static_cast<double>(taken));
}

}  // namespace

int main() {
  measure<double, false>("f64, registers, random", 0.5);
  measure<double, false>("f64, registers, zeros", 0);
  measure<double, true>("f64, uniform factor, random", 0.5);
  measure<float, false>("f32, registers, random", 0.5f);
  measure<float, false>("f32, registers, zeros", 0);
  measure<float, true>("f32, uniform factor, random", 0.5f);
}
