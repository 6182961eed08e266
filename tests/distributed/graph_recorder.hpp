// CUDA graphs of this thread's rank: what streams are given while it captures is kept, and done when the graph is
// launched.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {

/// Work with the addresses that it was captured with.
using RecordedGraph = std::vector<std::function<void()>>;

class GraphRecorder {
 public:
  static GraphRecorder& of_thread() {
    thread_local GraphRecorder recorder;
    return recorder;
  }

  void begin() { captures_ = true; }
  RecordedGraph end() {
    captures_ = false;
    return std::exchange(work_, {});
  }

  /// Does it now, or keeps it.
  void run(std::function<void()> work) {
    if (captures_) {
      work_.push_back(std::move(work));
    } else {
      work();
    }
  }

  /// Refuses what CUDA refuses during a capture.
  void refuse(const std::string& what) const {
    if (captures_) throw std::logic_error(what + " while a stream is captured");
  }

 private:
  bool captures_ = false;
  RecordedGraph work_;
};

inline void launch(const RecordedGraph& graph) {
  for (const auto& work : graph) work();
}

}  // namespace stencil_tune
