// Device workers side by side, one a GPU, all of the same model: they share the trials of one session.
#pragma once

#include "tuner/measure/clock.hpp"
#include "tuner/workers/worker.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace stencil_tune {

/// Each worker has a thread of its own and takes the next trial when it is done with one, so that none waits for
/// another. A single worker runs on the caller's thread. One that is lost leaves the others going: its candidate is
/// given to another. All functions are for one thread.
class DeviceTeam {
 public:
  /// A candidate that a worker is done with.
  struct Done {
    CompileResult compiled;
    DeviceResult result;
    double seconds = 0;  ///< time that the worker took
  };

  /// `workers`, at least one, and `clock` must outlive this. `tell` hears which GPU was lost.
  DeviceTeam(const std::vector<DeviceWorker*>& workers, const Clock& clock,
             std::function<void(const std::string&)> tell = {});
  ~DeviceTeam();
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  /// Starts all side by side. What it returns is of the first that started, which races the finalists. Throws what the
  /// first one threw where none did.
  DeviceSession start();

  int size() const;                 ///< workers that are not lost
  bool has_free() const;            ///< whether submit may be called
  int running() const noexcept;     ///< submitted and not yet returned by poll
  std::vector<int> trials() const;  ///< trials that each has come to an end with, lost ones included

  void submit(CompileResult compiled, const MeasurePlan& plan);

  /// The next that a worker is done with, waiting at most `wait`. Throws Error(device_lost) when the last is lost.
  std::optional<Done> poll(std::chrono::milliseconds wait);

  /// Only while none runs: on the first worker that is not lost, as DeviceWorker::race.
  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan);

 private:
  class Member;
  struct Trial;

  Member* first_left() const;
  Member* free_member() const;
  void give(Member& member, const std::shared_ptr<Trial>& trial);
  void lose(Member& member, const std::string& why);

  const Clock& clock_;
  std::function<void(const std::string&)> tell_;
  std::deque<std::shared_ptr<Trial>> returned_;  // trials of workers that were lost
  int running_ = 0;
  std::mutex mutex_;
  std::condition_variable done_something_;
  std::deque<std::shared_ptr<Trial>> done_;       // guarded by mutex_
  std::vector<std::unique_ptr<Member>> members_;  // their threads end before the rest
};

}  // namespace stencil_tune
