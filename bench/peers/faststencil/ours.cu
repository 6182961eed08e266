// An exported kernel, timed as FastStencil times itself: events around all launches of a run, after the cells came from
// the host. EXPORTED is the file, whose launcher is called `ours`; STEPS are those of a launch, RANK its axes, LAYERS
// those that boundary hold keeps. Arguments: NX NY [NZ].
#include EXPORTED
#include "timed.hpp"

#include <cstdlib>
#include <utility>

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main(int, char** argv) {
  const long long nx = std::atoll(argv[1]), ny = std::atoll(argv[2]), nz = RANK == 3 ? std::atoll(argv[3]) : 1;
  const std::vector<double> cells = random_cells(static_cast<std::size_t>(nx * ny * nz));
  const std::size_t bytes = cells.size() * sizeof(double);
  const double updated = double(nx - 2 * LAYERS) * double(ny - 2 * LAYERS) * (RANK == 3 ? double(nz - 2 * LAYERS) : 1);
  double *in = nullptr, *out = nullptr;
  cudaEvent_t start, stop;
  require(cudaEventCreate(&start));
  require(cudaEventCreate(&stop));
  require(cudaMalloc(&in, bytes));
  require(cudaMalloc(&out, bytes));
  serve([&](int steps) {
    const int launches = (steps + STEPS - 1) / STEPS;
    require(cudaMemcpy(in, cells.data(), bytes, cudaMemcpyHostToDevice));
    require(cudaMemcpy(out, cells.data(), bytes, cudaMemcpyHostToDevice));  // for the layers that hold
    require(cudaEventRecord(start));
    for (int i = 0; i < launches; ++i) {
#if RANK == 3
      require(ours(in, out, nx, ny, nz, nx, nx * ny, nullptr, nullptr));
#else
      require(ours(in, out, nx, ny, nx, nullptr, nullptr));
#endif
      std::swap(in, out);
    }
    require(cudaEventRecord(stop));
    require(cudaEventSynchronize(stop));
    float ms = 0;
    require(cudaEventElapsedTime(&ms, start, stop));
    std::printf("%.3f GStencil/s\n", updated * launches * STEPS / ms / 1e6);
  });
}
