#include "bench/scaling/measured_run.hpp"

#include "bench/scaling/nccl_group.hpp"
#include "stencil_tune/distributed.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace bench {
namespace {

using namespace stencil_tune;
using Clock = std::chrono::steady_clock;

constexpr int kRepeats = 5;
constexpr std::chrono::milliseconds kRest{500};

/// In f32 and f64: of all cells of the grid, from -1 to 1.
std::vector<std::byte> random_cells(std::int64_t cells, ElementType type, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> values(-1, 1);
  std::vector<std::byte> all(static_cast<std::size_t>(cells) * size_of(type));
  for (std::int64_t i = 0; i < cells; ++i) {
    if (type == ElementType::f64) {
      reinterpret_cast<double*>(all.data())[i] = values(random);
    } else {
      reinterpret_cast<float*>(all.data())[i] = static_cast<float>(values(random));
    }
  }
  return all;
}

/// Seconds of a run, begun by all ranks together.
double time_run(DistributedKernel& kernel, DistributedFields& fields, Communicator& ranks, int steps) {
  std::this_thread::sleep_for(kRest);
  const std::byte here{};
  ranks.all_gather(Span<const std::byte>(&here, 1));
  const auto start = Clock::now();
  kernel.advance(nullptr, fields, steps);
  kernel.wait(nullptr);
  ranks.all_gather(Span<const std::byte>(&here, 1));  // the slowest rank counts
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

MeasuredRun measure(const Request& whole, int gpus) {
  MeasuredRun run;
  on_gpus(gpus, [&](const std::shared_ptr<Communicator>& ranks) {
    Library library;
    DistributedKernel kernel(library, ranks, whole);
    kernel.prepare(nullptr);
    DistributedFields fields(kernel);
    time_run(kernel, fields, *ranks, whole.steps);
    std::vector<double> seconds;
    for (int i = 0; i < kRepeats; ++i) seconds.push_back(time_run(kernel, fields, *ranks, whole.steps));
    if (ranks->rank() > 0) return;
    std::sort(seconds.begin(), seconds.end());
    const double cells = static_cast<double>(whole.extents.cells()) * whole.steps;
    run = {.cut = kernel.decomposition().cut(),
           .fused_steps = kernel.kernel().fused_steps(),
           .steps_per_exchange = kernel.steps_per_exchange(),
           .gstencils = cells / seconds[kRepeats / 2] / 1e9,
           .evidence = kernel.kernel().run_evidence().sentence()};
  });
  return run;
}

std::vector<std::vector<std::byte>> cells_after(const Request& whole, int gpus, int steps) {
  std::vector<std::vector<std::byte>> after;
  on_gpus(gpus, [&](const std::shared_ptr<Communicator>& ranks) {
    Library library;
    DistributedKernel kernel(library, ranks, whole);
    kernel.prepare(nullptr);
    DistributedFields fields(kernel);
    const bool first = ranks->rank() == 0;
    const auto count = static_cast<int>(whole.stencil.fields.size());
    for (int field = 0; field < count; ++field) {
      const auto cells = first ? random_cells(whole.extents.cells(), whole.type, static_cast<unsigned>(field))
                               : std::vector<std::byte>();
      fields.scatter(field, 0, cells);
    }
    kernel.advance(nullptr, fields, steps);
    for (int field = 0; field < count; ++field) {
      std::vector<std::byte> cells(first ? static_cast<std::size_t>(whole.extents.cells()) * size_of(whole.type) : 0);
      fields.gather(field, 0, cells);
      if (first) after.push_back(std::move(cells));
    }
  });
  return after;
}

}  // namespace bench
