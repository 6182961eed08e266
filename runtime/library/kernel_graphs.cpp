// Runs as CUDA graphs, which live for one call of advance: STENCIL_TUNE_GRAPHS.
#include "runtime/cuda/module.hpp"
#include "runtime/library/kernel_run.hpp"
#include "runtime/library/launch/stage_launch.hpp"
#include "runtime/library/points/point_run.hpp"
#include "stencil_tune/error.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string_view>

namespace stencil_tune {
namespace {

/// Cell updates of a launch that may take no longer than the host needs to make one: 4 us at 1000 GStencil/s. Reckoned.
constexpr std::int64_t kFewUpdates = std::int64_t{1} << 22;
constexpr std::int64_t kLaunches = 32;    // a graph has at least: it is launched in the time of a few kernels
constexpr std::int64_t kMostRounds = 64;  // a graph has at most

bool is_wanted_as_graphs(const PlanPart& part) {
  const char* const value = std::getenv("STENCIL_TUNE_GRAPHS");
  const std::string_view asked = value == nullptr ? "" : value;
  return asked == "1" || (asked != "0" && part.in_zones());
}

/// Rounds after which every buffer is where it was, or more than a graph has.
std::int64_t rounds_of_turn(const std::vector<int>& next) {
  std::vector<int> first(next.size());
  std::iota(first.begin(), first.end(), 0);
  std::vector<int> now = first;
  std::int64_t rounds = 0;
  do {
    for (int& buffer : now) buffer = next[static_cast<std::size_t>(buffer)];
    ++rounds;
  } while (now != first && rounds <= kMostRounds);
  return rounds;
}

/// A graph, and the stream that its launches are captured on. It may be captured anew or destroyed while it runs (CUDA
/// C++ Programming Guide, Updating Instantiated Graphs; CUDA driver API, cuGraphExecDestroy).
class Graph {
 public:
  explicit Graph(Driver& driver) : driver_(driver), stream_(driver) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (made_ != nullptr) driver_.destroy_graph(made_);
  }

  CUstream_st* stream() const { return stream_.get(); }

  /// What `launches` gives the stream is what launch() does from now on.
  template <class Launches>
  void capture(const Launches& launches) {
    driver_.begin_capture(stream_.get());
    try {
      launches();
    } catch (...) {
      driver_.drop_capture(stream_.get());
      throw;
    }
    made_ = driver_.end_capture(stream_.get(), made_);
  }

  void launch(CUstream_st* stream) { driver_.launch_graph(made_, stream); }

 private:
  Driver& driver_;
  Stream stream_;
  CUgraphExec_st* made_ = nullptr;
};

}  // namespace

bool KernelRun::is_captured_anew(const PlanPart& part) const {
  return points_ != nullptr || std::any_of(part.stages.begin(), part.stages.end(),
                                           [](const StageKernel& stage) { return stage.problem.facts.asks_place; });
}

/// 0 where a graph gains nothing: while a launch takes longer than the host needs to make the next one, the host is
/// ahead of the GPU. Zones, of which some are always small, gain all the same: they need no events. Where each graph is
/// captured anew the host makes as many launches as before, so that zones alone gain.
std::int64_t KernelRun::rounds_of_graph(const PlanPart& part) const {
  const bool is_short = std::any_of(part.stages.begin(), part.stages.end(), [&](const StageKernel& stage) {
    return stage.updated.cells() * part.steps < kFewUpdates;
  });
  if (!is_short || (is_captured_anew(part) && !part.in_zones()) || !is_loaded(part, context_)) return 0;
  const std::int64_t alike = points_ != nullptr ? points_->rounds_alike(part.steps) : 1;
  const std::int64_t period = std::lcm(rounds_of_turn(part.next), alike);
  const std::int64_t launches = period * std::ssize(part.stages);
  const std::int64_t rounds = period * ((kLaunches + launches - 1) / launches);
  return rounds <= kMostRounds ? rounds : 0;
}

void KernelRun::launch_rounds(const PlanPart& part, std::size_t number, std::int64_t rounds) {
  for (std::int64_t n = 0; n < rounds; ++n) launch(part, number, nullptr);
  if (points_ != nullptr) points_->leave();
}

/// Returns how many of the rounds it made; the others are the caller's.
std::int64_t KernelRun::launch_as_graphs(const PlanPart& part, std::size_t number, std::int64_t rounds) {
  if (!is_wanted_as_graphs(part) || !histories_.empty()) return 0;
  Driver& driver = *state_.driver;
  const std::int64_t of_graph = rounds_of_graph(part);
  if (of_graph == 0 || rounds < 3 * of_graph || driver.captures(stream_)) return 0;
  launch_rounds(part, number, of_graph);  // copies held layers, which later rounds find, and runs while a graph is made
  std::int64_t made = of_graph;
  bool repeats = false;
  try {
    Graph graph(driver);
    for (; made + of_graph <= rounds; made += of_graph) {
      KernelRun ahead(*this);  // is what this run goes on from once the graph is launched
      std::optional<PointRun> points;
      ahead.stream_ = graph.stream();
      if (points_ != nullptr) ahead.points_ = &points.emplace(points_->on(graph.stream()));
      if (repeats) {
        ahead.here_.step += of_graph * part.steps;
      } else {
        graph.capture([&] { ahead.launch_rounds(part, number, of_graph); });
      }
      graph.launch(stream_);
      repeats = !is_captured_anew(part) && ahead.carried_ == carried_;
      here_ = ahead.here_;
      carried_ = ahead.carried_;  // buffers are where they were
      if (points_ != nullptr) points_->go_on_from(*points);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "stencil-tune: a run goes on without CUDA graphs: %s\n", error.what());
  }
  return made;
}

}  // namespace stencil_tune
