// A solver in CUDA with kernels of its own, and one of them replaced by a tuned one: same stream, same buffers.
//
//     example_user_kernel [CELLS_ON_AN_AXIS [STEPS]]      512 and 100 where nothing is given
//
// The solver conducts heat (the 3D 7-point star) and heats a few cells after every 20 steps. It runs twice: with
// `conduct`, the kernel as one writes it, and with the library in its place. Both results are compared, and timed.
// Exit status: 0 the same, 1 different or an error, 77 no GPU.
#include <stencil_tune/stencil_tune.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

constexpr float kAlpha = 0.1F;
constexpr int kStepsBetweenSources = 20;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

// What the tuned kernel replaces. The outermost layer of cells is never written.
__global__ void conduct(const float* u, float* next, int n) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z);
  if (x < 1 || x >= n - 1 || y < 1 || y >= n - 1 || z < 1 || z >= n - 1) return;
  const size_t row = static_cast<size_t>(n);
  const size_t plane = row * row;
  const size_t i = z * plane + y * row + x;
  next[i] = u[i] + kAlpha * (u[i - 1] + u[i + 1] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane] - 6 * u[i]);
}

// A kernel of the solver's own, which stays as it is.
__global__ void heat_source(float* u, int n) {
  const size_t middle = static_cast<size_t>(n / 2);
  u[(middle * n + middle) * n + middle + threadIdx.x - 2] += 1.0F;
}

/// Runs the solver on both buffers: `advance` makes some steps and leaves the newest state in the first. Returns it.
template <class Advance>
std::vector<float> solve(float* u, float* next, int n, int steps, cudaStream_t stream, Advance advance, float* seconds) {
  std::vector<float> cells(static_cast<size_t>(n) * n * n);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int run = 0; run < 2; ++run) {  // the first warms up
    check(cudaMemsetAsync(u, 0, cells.size() * sizeof(float), stream));
    check(cudaMemsetAsync(next, 0, cells.size() * sizeof(float), stream));
    check(cudaEventRecord(begin, stream));
    for (int done = 0; done < steps; done += kStepsBetweenSources) {
      heat_source<<<1, 4, 0, stream>>>(u, n);
      advance(u, next, std::min(kStepsBetweenSources, steps - done));
    }
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
  }
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end));
  *seconds = milliseconds / 1e3F;
  check(cudaMemcpy(cells.data(), u, cells.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return cells;
}

int run(int n, int steps) {
  float *u = nullptr, *next = nullptr;
  const size_t bytes = static_cast<size_t>(n) * n * n * sizeof(float);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  check(cudaMalloc(&u, bytes));
  check(cudaMalloc(&next, bytes));

  float own_seconds = 0;
  const auto conduct_steps = [&](float*& in, float*& out, int count) {
    const dim3 block(32, 8);
    const dim3 grid((n + 31) / 32, (n + 7) / 8, n);
    for (int i = 0; i < count; ++i, std::swap(in, out)) conduct<<<grid, block, 0, stream>>>(in, out, n);
  };
  const std::vector<float> expected = solve(u, next, n, steps, stream, conduct_steps, &own_seconds);

  stencil_tune::Library library;
  stencil_tune::Kernel kernel = library.lookup({.stencil = stencil_tune::find_builtin("star3d1r"),
                                                .extents = {.rank = 3, .n = {n, n, n}},
                                                .steps = kStepsBetweenSources});
  kernel.prepare();
  std::printf("kernel: %s\n", kernel.evidence().sentence().c_str());
  const double a = kAlpha;
  const std::vector<double> weights{1 - 6 * a, a, a, a, a, a, a};  // the centre, then x-, x+, y-, y+, z-, z+
  float tuned_seconds = 0;
  const auto tuned_steps = [&](float*& in, float*& out, int count) {
    void* fields[] = {in, out};
    kernel.advance(stream, fields, count, weights);
    in = static_cast<float*>(fields[0]);
    out = static_cast<float*>(fields[1]);
  };
  const std::vector<float> found = solve(u, next, n, steps, stream, tuned_steps, &tuned_seconds);

  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double error = std::fabs(static_cast<double>(found[i]) - expected[i]);
    if (!(error <= worst)) worst = error;  // a NaN stays
  }
  const double updates = static_cast<double>(n - 2) * (n - 2) * (n - 2) * steps / 1e9;
  std::printf("own kernel: %.1f GStencil/s; tuned, %d steps a launch: %.1f, %.2f x\n", updates / own_seconds,
              kernel.fused_steps(), updates / tuned_seconds, own_seconds / tuned_seconds);
  std::printf("largest difference of a cell: %.2g\n", worst);
  check(cudaFree(u));
  check(cudaFree(next));
  check(cudaStreamDestroy(stream));
  return worst < 6e-7 * (steps + 1) ? 0 : 1;  // a few roundings a step, of values up to about 2
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 512;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::fprintf(stderr, "this example needs an NVIDIA GPU\n");
    return 77;
  }
  try {
    return run(n, steps);
  } catch (const stencil_tune::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
