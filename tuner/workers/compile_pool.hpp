// Compile workers as child processes: a compiler that crashes or never ends costs its candidate, never the session.
#pragma once

#include "tuner/workers/process.hpp"
#include "tuner/workers/worker.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// Cores that this process may run on, which a batch system or taskset may have limited; at least 1.
int usable_cores();

/// Not thread-safe. Work is handed out in submit() and poll() only.
class CompilePool : public CompileWorkers {
 public:
  /// `opening` is each worker's first message (see compile_worker_main). Waits for the first worker to be ready, so
  /// that what would stop all of them, a missing NVRTC, is thrown here as the worker's own Error; not after a stop.
  CompilePool(Message opening, int width, std::chrono::milliseconds deadline, WorkerCommand command,
              const std::atomic<bool>* stop = nullptr);

  int width() const override { return static_cast<int>(slots_.size()); }
  void submit(const std::string& code) override;
  int pending() const override;
  std::optional<CompileResult> poll(std::chrono::milliseconds wait) override;

 private:
  using Clock = ChildProcess::Clock;

  struct Slot {
    std::optional<ChildProcess> child;
    std::optional<std::string> job;  ///< a candidate
    Clock::time_point deadline{};
  };

  void start(Slot& slot);
  void hand_out();
  void serve(Slot& slot);
  void give_up(Slot& slot, Outcome outcome, const std::string& why);
  void wait_until(Clock::time_point deadline);

  Message opening_;
  std::chrono::milliseconds deadline_;
  WorkerCommand command_;
  std::vector<Slot> slots_;
  std::deque<std::string> queue_;
  std::deque<CompileResult> ready_;
};

}  // namespace stencil_tune
