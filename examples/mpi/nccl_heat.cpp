// Heat in a cube over the GPUs of an MPI job: the library cuts the grid, and halos travel by NCCL. MPI only starts it.
//
//     mpirun -n 2 example_nccl_heat [CELLS_ON_AN_AXIS [STEPS]]      256 and 200 where nothing is given
//
// Its walls are cold, and hold. A product of sines then decays by a factor known exactly, which each rank checks on its
// own cells. The stencil is star3d1r, whose shipped winners fuse steps. Exit status: 0 right, 1 wrong or an error, 2
// usage, 77 no GPU.
#include "stencil_tune/distributed.hpp"
#include "stencil_tune/stencil_tune.hpp"

#include <mpi.h>
#include <nccl.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

namespace st = stencil_tune;

constexpr double kAlpha = 0.1;
const double kPi = std::acos(-1.0);

void check(ncclResult_t result) {
  if (result != ncclSuccess) throw std::runtime_error(ncclGetErrorString(result));
}

/// A communicator of all ranks, a GPU each. It is left to the process's end, as errors may have aborted it.
ncclComm_t nccl_of_world(int rank, int ranks) {
  ncclUniqueId id{};
  if (rank == 0) check(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t communicator = nullptr;
  check(ncclCommInitRank(&communicator, ranks, id, rank));
  return communicator;
}

int rank_on_node() {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank;
}

/// The GPU of the rank; nothing on all ranks where one has none. Ranks take turns where they see fewer GPUs than there
/// are ranks on a node, as where each sees its own alone.
std::unique_ptr<st::DeviceContext> gpu_of_rank() {
  const int rank = rank_on_node();
  std::unique_ptr<st::DeviceContext> gpu;
  for (int gpus = rank + 1; gpus > 0 && gpu == nullptr; --gpus) {
    try {
      gpu = std::make_unique<st::DeviceContext>(rank % gpus);
    } catch (const st::Error& error) {
      if (gpus == 1) std::fprintf(stderr, "%s\n", error.what());
    }
  }
  int mine = gpu != nullptr ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all == 0) gpu.reset();
  return gpu;
}

double mode(std::int64_t i, std::int64_t n) {
  return std::sin(kPi * static_cast<double>(i) / static_cast<double>(n - 1));
}

std::vector<float> product_of_sines(const st::Box& box, std::int64_t n, double amplitude) {
  std::vector<float> cells;
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
        cells.push_back(static_cast<float>(amplitude * mode(x, n) * mode(y, n) * mode(z, n)));
      }
    }
  }
  return cells;
}

/// The largest error on this rank.
double run(const std::shared_ptr<st::Communicator>& ranks, std::int64_t n, int steps) {
  st::Library library;
  st::Request request;
  request.stencil = st::find_builtin("star3d1r");
  request.extents = {3, {n, n, n}};
  request.steps = steps;
  st::DistributedKernel kernel(library, ranks, request);
  kernel.prepare(nullptr);
  st::DistributedFields fields(kernel);
  if (kernel.rank() == 0) {
    const st::Cut& cut = kernel.decomposition().cut();
    std::printf("%dx%dx%d parts, %d steps an exchange; rank 0 runs %s\n", cut[0], cut[1], cut[2],
                kernel.steps_per_exchange(), kernel.kernel().run_evidence().sentence().c_str());
  }
  fields.write(0, st::as_bytes(product_of_sines(kernel.owned(), n, 1)));
  // The centre, then x-, x+, y-, y+, z-, z+.
  const std::vector<double> weights{1 - 6 * kAlpha, kAlpha, kAlpha, kAlpha, kAlpha, kAlpha, kAlpha};
  kernel.advance(nullptr, fields, steps, weights);
  kernel.wait(nullptr);

  std::vector<float> found(static_cast<std::size_t>(kernel.owned().cells()));
  fields.read(0, st::as_writable_bytes(found));
  const double factor = 1 - 6 * kAlpha * (1 - std::cos(kPi / static_cast<double>(n - 1)));
  const std::vector<float> exact = product_of_sines(kernel.owned(), n, std::pow(factor, steps));
  double error = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    error = std::max(error, std::fabs(static_cast<double>(found[i]) - static_cast<double>(exact[i])));
  }
  return error;
}

int run_all(std::int64_t n, int steps) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto gpu = gpu_of_rank();
  if (gpu == nullptr) return 77;
  double error = run(st::nccl_communicator(nccl_of_world(rank, ranks)), n, steps);
  double largest = 0;
  MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("largest error after %d steps on %d ranks: %.1e\n", steps, ranks, largest);
  return largest < 1e-4 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 256;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  int status = 2;
  if (n < 3 || steps < 1) {
    std::fprintf(stderr, "usage: %s [CELLS_ON_AN_AXIS [STEPS]]\n", argv[0]);
  } else {
    try {
      status = run_all(n, steps);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
