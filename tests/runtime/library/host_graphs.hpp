// CUDA graphs where kernels run on the CPU. A capture keeps what streams are given, and what of it has to come before
// what. A graph does it in an order that is as far from the one of the capture as that allows.
#pragma once

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace stencil_tune {

/// One capture at a time.
class HostGraphs {
 public:
  int launched = 0;      ///< graphs
  int instantiated = 0;  ///< captures that became a new graph ...
  int updated = 0;       ///< ... or an earlier one's parameters
  std::string fails;     ///< "begin", "keep", "end", "launch": what fails, once ...
  int fails_after = 0;   ///< ... it was done so often

  std::size_t alive() const { return graphs_.size(); }
  bool captures(CUstream_st* stream) const { return capture_ && capture_->last.count(stream) > 0; }

  void begin(CUstream_st* stream) {
    may_fail("begin");
    if (capture_ || stream == nullptr) refuse("such a stream cannot be captured");
    capture_.emplace().origin = stream;
    capture_->last[stream] = {};
  }

  void keep(CUstream_st* stream, std::function<void()> work) {
    may_fail("keep");
    capture_->nodes.push_back({std::move(work), std::exchange(capture_->last[stream], {capture_->nodes.size()})});
  }

  void record(CUevent_st* event, CUstream_st* stream) {
    if (!capture_) return;
    capture_->events.erase(event);
    if (captures(stream)) capture_->events[event] = capture_->last[stream];
  }

  /// A stream that waits for what is captured is captured from then on.
  void wait(CUstream_st* stream, CUevent_st* event) {
    if (!capture_) return;
    const auto recorded = capture_->events.find(event);
    if (recorded != capture_->events.end())
      return capture_->last[stream].insert(recorded->second.begin(), recorded->second.end());
    if (captures(stream)) refuse("a captured stream waits for what is not captured");
  }

  void drop() { capture_.reset(); }

  CUgraphExec_st* end(CUstream_st* stream, CUgraphExec_st* earlier) {
    const Capture done = *std::exchange(capture_, std::nullopt);
    may_fail("end");
    if (stream != done.origin || comes_before(done.nodes, done.last.at(stream)).size() != done.nodes.size()) {
      refuse("a captured stream was not joined");
    }
    if (earlier == nullptr) {
      ++instantiated;
      return reinterpret_cast<CUgraphExec_st*>(graphs_.insert(std::make_unique<Nodes>(done.nodes)).first->get());
    }
    Nodes& nodes = nodes_of(earlier);
    const auto same = [](const Node& a, const Node& b) { return a.after == b.after; };
    if (!std::equal(nodes.begin(), nodes.end(), done.nodes.begin(), done.nodes.end(), same)) {
      refuse("the update changes what a graph consists of");
    }
    ++updated;
    nodes = done.nodes;
    return earlier;
  }

  void launch(CUgraphExec_st* graph) {
    may_fail("launch");
    ++launched;
    const Nodes& nodes = nodes_of(graph);
    std::set<std::size_t> left, done;
    for (std::size_t i = 0; i < nodes.size(); ++i) left.insert(i);
    while (!left.empty()) {
      const auto next = std::find_if(left.rbegin(), left.rend(), [&](std::size_t i) {
        return std::includes(done.begin(), done.end(), nodes[i].after.begin(), nodes[i].after.end());
      });
      const std::size_t number = *next;
      nodes[number].work();
      done.insert(number);
      left.erase(number);
    }
  }

  void destroy(CUgraphExec_st* graph) noexcept {
    std::erase_if(graphs_, [&](const auto& each) { return each.get() == &nodes_of(graph); });
  }

 private:
  using Numbers = std::set<std::size_t>;
  struct Node {
    std::function<void()> work;
    Numbers after;
  };
  using Nodes = std::vector<Node>;
  struct Capture {
    CUstream_st* origin = nullptr;
    Nodes nodes;
    std::map<CUstream_st*, Numbers> last;  ///< what the stream's next work comes after
    std::map<CUevent_st*, Numbers> events;
  };

  static Nodes& nodes_of(CUgraphExec_st* graph) { return *reinterpret_cast<Nodes*>(graph); }

  /// These and all that they come after.
  static Numbers comes_before(const Nodes& nodes, Numbers numbers) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (numbers.count(i) > 0) numbers.insert(nodes[i].after.begin(), nodes[i].after.end());
    }
    return numbers;
  }

  [[noreturn]] static void refuse(const std::string& why) { throw Error(ErrorCode::launch_failed, why); }
  void may_fail(const std::string& what) {
    if (what == fails && fails_after-- == 0) refuse("made to fail: " + what);
  }

  std::optional<Capture> capture_;
  std::set<std::unique_ptr<Nodes>> graphs_;
};

}  // namespace stencil_tune
