// The device worker as the session sees it: a child process with deadlines, replaced when a candidate ends it.
#pragma once

#include "tuner/measure/gpu_lock.hpp"
#include "tuner/workers/process.hpp"
#include "tuner/workers/worker.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {

/// How long a worker may take.
struct DeviceDeadlines {
  double run_s = 20;
  double start_s = 300;
  std::string waited_for{};  ///< at the start, for messages: Subject::waited_for_at_start
};

/// Holds the GPU's lock while its worker uses the GPU, and only then. Not thread-safe.
class DeviceProxy : public DeviceWorker {
 public:
  /// `opening` is each worker's first message (see device_worker_main).
  DeviceProxy(Message opening, DeviceDeadlines deadlines, WorkerCommand command, WorkerTies ties = {});

  DeviceSession start() override;

  /// Throws Error(device_lost) only when no fresh worker can be started any more.
  DeviceResult run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) override;

  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) override;

 private:
  struct Answer {
    std::optional<Message> message;
    Outcome outcome = Outcome::launch_failed;  ///< without a message: what to record
    std::string why;
  };

  bool is_stopped() const { return ties_.stop != nullptr && *ties_.stop; }
  std::optional<GpuLock> lock_gpu() const;  ///< nothing after a stop
  Message begin(bool measure);
  ChildProcess::Received await(ChildProcess::Clock::time_point deadline);
  void restart();
  Answer ask(const Message& request, double deadline_s);
  Message ask_or_throw(const Message& request, double deadline_s, const std::string& waited_for = {});
  DeviceResult run_once(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan);
  std::optional<std::vector<DeviceResult>> race_once(const std::vector<CodedKernel>& finalists, const RacePlan& plan);

  Message opening_;
  DeviceDeadlines deadlines_;
  WorkerCommand command_;
  WorkerTies ties_;
  std::optional<ChildProcess> child_;
  std::string uuid_;
};

}  // namespace stencil_tune
