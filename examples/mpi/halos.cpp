// Heat between cold walls on several GPUs: slabs along z, a rank each, whose halos are exchanged by sub-boxes.
//
//     mpirun -n 2 example_mpi_halos [CELLS_ON_AN_AXIS [STEPS]]      256 and 100 where nothing is given
//
// A step updates the planes that the neighbours wait for, sends them, and updates the rest meanwhile. Planes travel by
// the host, so that any MPI will do. Where there is no GPU a loop on the CPU takes the kernel's place, and says so: the
// exchange is the same. Every cell is compared with the exact decay of a product of sines.
// Exit status: 0 right, 1 wrong or an error, 2 usage.
#include "stencil_tune/stencil_tune.h"
#include "stencil_tune/stencil_tune.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace {

namespace st = stencil_tune;

constexpr double kAlpha = 0.1;
const double kPi = std::acos(-1.0);

/// The planes of one rank: 0 and planes - 1 are halos, or the walls.
struct Extents {
  std::int64_t n;       ///< cells on x and y
  std::int64_t planes;  ///< planes of this rank, with both halos
  std::int64_t first;   ///< the global index of plane 0

  std::int64_t plane_cells() const { return n * n; }
  st::Box planes_from(std::int64_t low, std::int64_t high) const { return {{1, 1, low}, {n - 1, n - 1, high}}; }
};

/// What an exchange needs of a slab, on a GPU or not.
class Slab {
 public:
  virtual ~Slab() = default;
  virtual void update(const st::Box& cells) = 0;                ///< cells of the next state; may be asynchronous
  virtual void get(std::int64_t plane, float* host) = 0;        ///< reads from the next state; waits for its updates
  virtual void set(std::int64_t plane, const float* host) = 0;  ///< writes to the next state
  virtual void swap() = 0;                                      ///< the next state becomes the present one
  virtual std::vector<float> cells() = 0;                       ///< all cells of the present state
};

class GpuSlab : public Slab {
 public:
  /// Throws Error(no_device) and Error(missing_library) where there is none.
  GpuSlab(const Extents& extents, int device, const std::vector<float>& start)
      : extents_(extents),
        context_(device),
        u_(grid(), st::ElementType::f32, extents.n),
        next_(grid(), st::ElementType::f32, extents.n),
        kernel_(look_up()) {
    kernel_.prepare();
    u_.copy_from(st::as_bytes(start));
    next_.copy_from(st::as_bytes(start));  // the walls stand in both
  }

  void update(const st::Box& cells) override { kernel_.launch(nullptr, u_.data(), next_.data(), weights(), cells); }
  void get(std::int64_t plane, float* host) override {
    check(stencil_tune_copy_to_host(host, address(plane), bytes(), nullptr));
  }
  void set(std::int64_t plane, const float* host) override {
    check(stencil_tune_copy_to_device(address(plane), host, bytes(), nullptr));
  }
  void swap() override { std::swap(u_, next_); }
  std::vector<float> cells() override {
    std::vector<float> cells(static_cast<std::size_t>(grid().cells()));
    u_.copy_to(st::as_writable_bytes(cells));
    return cells;
  }

  const st::Kernel& kernel() const { return kernel_; }

 private:
  st::Extents grid() const { return {3, {extents_.n, extents_.n, extents_.planes}}; }
  st::Kernel look_up() {
    st::Request request;
    request.stencil = st::find_builtin("star3d1r");
    request.extents = grid();
    return st::Library().lookup(request);
  }
  static std::vector<double> weights() {  // the centre, then x-, x+, y-, y+, z-, z+
    return {1 - 6 * kAlpha, kAlpha, kAlpha, kAlpha, kAlpha, kAlpha, kAlpha};
  }
  static void check(stencil_tune_status status) {
    if (status != STENCIL_TUNE_OK) throw std::runtime_error(stencil_tune_error_message());
  }
  float* address(std::int64_t plane) const {
    return static_cast<float*>(next_.data()) + plane * extents_.plane_cells();
  }
  std::size_t bytes() const { return static_cast<std::size_t>(extents_.plane_cells()) * sizeof(float); }

  Extents extents_;
  st::DeviceContext context_;
  st::DeviceField u_, next_;
  st::Kernel kernel_;
};

/// The loop in the kernel's place.
class HostSlab : public Slab {
 public:
  HostSlab(const Extents& extents, const std::vector<float>& start) : extents_(extents), u_(start), next_(start) {}

  void update(const st::Box& cells) override {
    const std::int64_t row = extents_.n;
    const std::int64_t plane = extents_.plane_cells();
    for (std::int64_t z = cells.low[2]; z < cells.high[2]; ++z) {
      for (std::int64_t y = cells.low[1]; y < cells.high[1]; ++y) {
        for (std::int64_t x = cells.low[0]; x < cells.high[0]; ++x) {
          const float* c = &u_[static_cast<std::size_t>(z * plane + y * row + x)];
          const float around = c[-1] + c[1] + c[-row] + c[row] + c[-plane] + c[plane];
          next_[static_cast<std::size_t>(z * plane + y * row + x)] =
              c[0] + static_cast<float>(kAlpha) * (around - 6 * c[0]);
        }
      }
    }
  }
  void get(std::int64_t plane, float* host) override {
    std::copy_n(next_.begin() + plane * extents_.plane_cells(), extents_.plane_cells(), host);
  }
  void set(std::int64_t plane, const float* host) override {
    std::copy_n(host, extents_.plane_cells(), next_.begin() + plane * extents_.plane_cells());
  }
  void swap() override { u_.swap(next_); }
  std::vector<float> cells() override { return u_; }

 private:
  Extents extents_;
  std::vector<float> u_, next_;
};

/// The neighbours' ranks, or MPI_PROC_NULL beside a wall, and what travels between them.
class Halo {
 public:
  Halo(int rank, int ranks, const Extents& extents)
      : extents_(extents),
        below_(rank > 0 ? rank - 1 : MPI_PROC_NULL),
        above_(rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL) {
    for (std::vector<float>* plane : {&to_below_, &to_above_, &from_below_, &from_above_}) {
      plane->resize(static_cast<std::size_t>(extents.plane_cells()));
    }
  }

  /// One step of the slab. It has at least three planes to update.
  void step(Slab& slab) {
    const std::int64_t last = extents_.planes - 2;
    slab.update(extents_.planes_from(1, 2));
    slab.update(extents_.planes_from(last, last + 1));
    slab.get(1, to_below_.data());
    slab.get(last, to_above_.data());
    const auto count = static_cast<int>(extents_.plane_cells());
    std::array<MPI_Request, 4> requests{};
    MPI_Irecv(from_below_.data(), count, MPI_FLOAT, below_, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_above_.data(), count, MPI_FLOAT, above_, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(to_below_.data(), count, MPI_FLOAT, below_, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(to_above_.data(), count, MPI_FLOAT, above_, 0, MPI_COMM_WORLD, &requests[3]);
    slab.update(extents_.planes_from(2, last));  // while the planes travel
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    if (below_ != MPI_PROC_NULL) slab.set(0, from_below_.data());
    if (above_ != MPI_PROC_NULL) slab.set(last + 1, from_above_.data());
    slab.swap();
  }

 private:
  Extents extents_;
  int below_, above_;
  std::vector<float> to_below_, to_above_, from_below_, from_above_;
};

/// Cells of a rank's planes: a product of sines between the walls.
std::vector<float> mode(const Extents& extents) {
  std::vector<double> sine;
  for (std::int64_t i = 0; i < extents.n; ++i) {
    sine.push_back(std::sin(kPi * static_cast<double>(i) / static_cast<double>(extents.n - 1)));
  }
  const auto at = [&](std::int64_t i) { return sine[static_cast<std::size_t>(i)]; };
  std::vector<float> cells;
  for (std::int64_t z = extents.first; z < extents.first + extents.planes; ++z) {
    for (std::int64_t i = 0; i < extents.plane_cells(); ++i) {
      cells.push_back(static_cast<float>(at(i % extents.n) * at(i / extents.n) * at(z)));
    }
  }
  return cells;
}

/// The largest difference of this rank's cells to what they must have decayed to.
double worst_error(const std::vector<float>& cells, const std::vector<float>& start, std::int64_t n, int steps) {
  const double decay = std::pow(1 - 12 * kAlpha * std::pow(std::sin(kPi / static_cast<double>(n - 1) / 2), 2), steps);
  double worst = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double error = std::fabs(cells[i] - decay * static_cast<double>(start[i]));
    if (!(error <= worst)) worst = error;  // a NaN stays
  }
  return worst;
}

/// On the GPU of that number, else on the CPU. Ranks take turns where they see fewer GPUs than there are ranks on a
/// node.
std::unique_ptr<Slab> make_slab(const Extents& extents, int device, const std::vector<float>& start, int rank) {
  for (int gpus = device + 1; gpus > 0; --gpus) {
    try {
      auto slab = std::make_unique<GpuSlab>(extents, device % gpus, start);
      if (rank == 0) std::printf("kernel: %s\n", slab->kernel().evidence().sentence().c_str());
      return slab;
    } catch (const st::Error& error) {
      if (error.code() != st::ErrorCode::no_device && error.code() != st::ErrorCode::missing_library) throw;
    }
  }
  if (rank == 0) std::printf("no GPU: a loop on the CPU takes the kernel's place\n");
  return std::make_unique<HostSlab>(extents, start);
}

int device_of(MPI_Comm world, int rank) {
  MPI_Comm node;
  int device = 0;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &device);
  MPI_Comm_free(&node);
  return device;
}

int run(std::int64_t n, int steps) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (n < 3 * ranks + 2 || steps < 1) {
    if (rank == 0) std::fprintf(stderr, "usage: example_mpi_halos [CELLS [STEPS]], three planes a rank at least\n");
    return 2;
  }
  // Equal slabs share one tuned kernel; where the planes cannot be divided, some ranks have one more.
  const std::int64_t low = (n - 2) * rank / ranks;
  const std::int64_t high = (n - 2) * (rank + 1) / ranks;
  const Extents extents{n, high - low + 2, low};
  const std::vector<float> start = mode(extents);
  const std::unique_ptr<Slab> slab = make_slab(extents, device_of(MPI_COMM_WORLD, rank), start, rank);

  Halo halo(rank, ranks, extents);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) halo.step(*slab);
  const std::vector<float> cells = slab->cells();  // waits for the GPU
  const double seconds = MPI_Wtime() - begin;

  const double mine = worst_error(cells, start, n, steps);
  double worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%d ranks, %d steps: %.2f GStencil/s; largest error of a cell %.2g\n", ranks, steps,
                std::pow(static_cast<double>(n - 2), 3) * steps / seconds / 1e9, worst);
  }
  return worst < 1.2e-7 * (steps + 1) ? 0 : 1;  // a few roundings of half a unit a step
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = run(argc > 1 ? std::atoll(argv[1]) : 256, argc > 2 ? std::atoi(argv[2]) : 100);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);  // the others wait for this one
  }
  MPI_Finalize();
  return status;
}
