#include "distributed/exchange_choice.hpp"

#include "distributed/agreement.hpp"
#include "distributed/exchange_time.hpp"
#include "distributed/local_request.hpp"
#include "generator/cut/exchange_options.hpp"
#include "generator/cut/part_problem.hpp"
#include "runtime/library/kernel_state.hpp"
#include "runtime/library/launch/stage_launch.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace stencil_tune {
namespace {

/// Rates were measured on other grids than the parts, and links once: what is not faster by as much may be slower.
constexpr double kClearlyFaster = 0.97;  // times the other's time

/// One rank's part in weighing kernels and exchanges.
class Weighing {
 public:
  Weighing(Library& library, Communicator& ranks, const Request& request, const Problem& whole, const Cut& cut)
      : library_(library), ranks_(ranks), request_(request), whole_(whole), cut_(cut) {}

  /// What serves the run itself: tuned where the library tunes what it does not know.
  LocalKernel of_run() {
    agree(ranks_, [&] {
      const Decomposition grid = decompose(whole_, ranks_.size(), cut_, 1);
      const Request own = request_of_part(request_, grid, grid.owned(ranks_.rank()), request_.steps);
      run_.emplace(library_.lookup(own));
    });
    return agreed(*run_);
  }

  ExchangeTime time_exchange(int steps) {
    const std::size_t cell = size_of(whole_.type);
    return stencil_tune::time_exchange(driver_of(run_->state()), ranks_, exchange_before(*grid_for(steps), steps),
                                       cell);
  }

  /// Nothing where parts are too thin.
  std::optional<Decomposition> grid_for(int steps) const {
    try {
      return decompose(whole_, ranks_.size(), cut_, steps);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      return std::nullopt;
    }
  }

  /// What is known for runs of so many steps. By the GPU's name: nothing is tuned, and no kernel made.
  std::optional<LocalKernel> known(int steps) {
    const auto grid = grid_for(steps);
    if (!grid) return std::nullopt;
    std::optional<Kernel> kernel;
    agree(ranks_, [&] {
      Request named = request_of_part(request_, *grid, grid->owned(ranks_.rank()), steps);
      named.device = -1;
      named.gpu = run_->state().gpu;
      try {
        kernel.emplace(library_.lookup(named));
      } catch (const Error& error) {
        if (error.code() != ErrorCode::unknown_name) throw;
        named.gpu = run_->state().architecture;
        kernel.emplace(library_.lookup(named));
      }
    });
    return agreed(*kernel);
  }

  /// Seconds of a step on the slowest rank; nothing where parts are too thin.
  std::optional<double> step_time(const LocalKernel& kernel, int per_exchange, const ExchangeTime& exchange) {
    const auto grid = grid_for(per_exchange);
    if (!grid) return std::nullopt;
    const double cells = cells_updated(lengths_of(grid->array(ranks_.rank())), layers_held_in_arrays(whole_, *grid));
    const double bytes = bytes_of(exchange_before(*grid, per_exchange), size_of(whole_.type));
    return largest(ranks_, cells / kernel.gstencils / 1e9 + exchange.of(bytes) / per_exchange);
  }

 private:
  ExchangePlan exchange_before(const Decomposition& grid, int steps) const {
    return plan_exchange(grid, ranks_.rank(), halos_before(whole_, steps));
  }

  /// The steps that all ranks can fuse, and this one's rate where all know theirs.
  LocalKernel agreed(const Kernel& mine) {
    const double rate = mine.state().known_rate();
    const std::vector<std::int64_t> fused = gather_numbers(ranks_, mine.fused_steps());
    const std::vector<std::int64_t> knows = gather_numbers(ranks_, rate > 0 ? 1 : 0);
    const bool all_know = std::all_of(knows.begin(), knows.end(), [](std::int64_t known) { return known != 0; });
    return {static_cast<int>(*std::min_element(fused.begin(), fused.end())), all_know ? rate : 0};
  }

  Library& library_;
  Communicator& ranks_;
  const Request& request_;
  const Problem& whole_;
  const Cut& cut_;
  std::optional<Kernel> run_;
};

}  // namespace

ExchangeChoice choose_exchange(Library& library, Communicator& ranks, const Request& request, const Problem& whole,
                               const DistributedOptions& options) {
  if (request.steps == 1) return {};
  Weighing weighing(library, ranks, request, whole, options.cut);
  LocalKernel kernel = weighing.of_run();
  const int fused = feasible_steps(whole, ranks.size(), options.cut, kernel.fused_steps);
  ExchangeChoice chosen{fused, fused};
  if (ranks.size() == 1 || options.overlap) return chosen;
  if (fused < kernel.fused_steps) kernel = *weighing.known(fused);
  if (!(kernel.gstencils > 0)) return chosen;
  const ExchangeTime exchange = weighing.time_exchange(fused);
  double least = kClearlyFaster * *weighing.step_time(kernel, fused, exchange);
  each_exchange_option(
      request.steps, [&](int steps) { return weighing.known(steps); },
      [&](const LocalKernel& other, int per_exchange) {
        const auto time = weighing.step_time(other, per_exchange, exchange);
        if (!time) return false;
        if (*time < least) {
          least = *time;
          chosen = {other.fused_steps, per_exchange};
        }
        return true;
      });
  return chosen;
}

}  // namespace stencil_tune
