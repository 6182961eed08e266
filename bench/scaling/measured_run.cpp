#include "bench/scaling/measured_run.hpp"

#include "bench/scaling/starting_cells.hpp"
#include "bench/scaling/told_numbers.hpp"
#include "generator/stencil/problem.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace bench {
namespace {

using namespace stencil_tune;
using Clock = std::chrono::steady_clock;

constexpr int kRepeats = 5;

Problem step_of(const Request& whole) {
  return make_problem(whole.stencil, whole.type, whole.boundaries, whole.extents, 0, 1, kWholeStep);
}

/// Seconds of a run that all ranks begin together; of the slowest. What ranks tell each other is not timed.
double time_run(DistributedKernel& kernel, DistributedFields& fields, Communicator& ranks, int steps) {
  tell_all(ranks, 0);
  const auto start = Clock::now();
  kernel.advance(nullptr, fields, steps);
  kernel.wait(nullptr);
  const std::vector<double> all = tell_all(ranks, std::chrono::duration<double>(Clock::now() - start).count());
  return *std::max_element(all.begin(), all.end());
}

}  // namespace

void start_fields(const DistributedKernel& kernel, const Request& whole, DistributedFields& fields) {
  const StepFacts step = step_of(whole).step;
  const auto seed = static_cast<std::uint64_t>(kernel.rank());
  for (const auto& [start, numbers] : {std::pair(Start::state, step.state), std::pair(Start::known, step.constants)}) {
    if (numbers.empty()) continue;
    const auto cells = starting_cells(kernel.owned().cells(), whole.type, start, seed);
    for (const int field : numbers) fields.write(field, cells);
  }
}

MeasuredRun measure(Ranks& group, const std::function<Library()>& library, const Request& whole,
                    std::chrono::milliseconds rest) {
  const auto updates = static_cast<double>(updated_box(step_of(whole)).cells()) * whole.steps;
  MeasuredRun run;
  group.run([&](const std::shared_ptr<Communicator>& ranks) {
    Library mine = library();
    DistributedKernel kernel(mine, ranks, whole);
    kernel.prepare(nullptr);
    DistributedFields fields(kernel);
    start_fields(kernel, whole, fields);
    const std::vector<double> matches = tell_all(*ranks, static_cast<int>(kernel.kernel().match()));
    time_run(kernel, fields, *ranks, whole.steps);
    std::vector<double> seconds;
    for (int i = 0; i < kRepeats; ++i) {
      std::this_thread::sleep_for(rest);
      seconds.push_back(time_run(kernel, fields, *ranks, whole.steps));
    }
    if (ranks->rank() > 0) return;
    std::sort(seconds.begin(), seconds.end());
    run = {.cut = kernel.decomposition().cut(),
           .fused_steps = kernel.kernel().fused_steps(),
           .steps_per_exchange = kernel.steps_per_exchange(),
           .gstencils = updates / seconds[kRepeats / 2] / 1e9,
           .slowest = updates / seconds.back() / 1e9,
           .fastest = updates / seconds.front() / 1e9,
           .match = static_cast<Match>(static_cast<int>(*std::max_element(matches.begin(), matches.end()))),
           .evidence = kernel.kernel().run_evidence().sentence()};
  });
  return run;
}

void require_tuned(const MeasuredRun& run, const Request& whole) {
  if (run.match < Match::predicted) return;
  throw Error(ErrorCode::illegal_candidate,
              fmt::format("nobody tuned a kernel for it (match: {}): stencil-tune --stencil {} --dims {} --steps {}",
                          name(run.match), whole.stencil.name, to_string(whole.extents), whole.steps));
}

}  // namespace bench
