// The seam between the tuning session and what compiles and runs candidates.
//
// The session's process holds no CUDA context. Compile workers turn candidates into binaries, one process per core;
// a device worker process for each GPU loads, verifies and times them. Either may be killed at any time: the candidate
// it was working on gets an outcome and a fresh worker goes on.
#pragma once

#include "db/records.hpp"
#include "runtime/compile/compiler.hpp"
#include "tuner/measure/plan.hpp"
#include "tuner/subject/subject.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

struct CompileResult {
  std::string code;               ///< the candidate
  Outcome outcome = Outcome::ok;  ///< ok, compile_failed, worker_killed or compile_timeout
  std::string message;
  CompiledKernel kernel;
};

/// Compiles candidates side by side, in the order they were submitted, finished in any order.
class CompileWorkers {
 public:
  virtual ~CompileWorkers() = default;

  virtual int width() const = 0;  ///< how many run at once
  virtual void submit(const std::string& code) = 0;
  virtual int pending() const = 0;  ///< submitted and not yet returned by poll
  /// The next finished one, waiting at most `wait`; nothing when none finished in time.
  virtual std::optional<CompileResult> poll(std::chrono::milliseconds wait) = 0;
};

/// Loads, verifies and times candidates on one GPU.
class DeviceWorker {
 public:
  virtual ~DeviceWorker() = default;

  /// Allocates, fills, computes the reference, measures the copy ceiling. Throws Error(exceeds_device_memory, ...),
  /// Error(timeout) when it takes longer than it may.
  virtual DeviceSession start() = 0;

  /// Never throws for what the candidate did: a crash, hang or lost device is its outcome. After a stop: worker_killed,
  /// which says nothing of the candidate.
  virtual DeviceResult run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) = 0;

  /// Times all of them in turn, `rounds` times round robin and more until each has kFewestSamples, so that drift hits
  /// them alike, then under load as the plan says, and verifies each again. Results in the same order. A finalist that
  /// ends the worker is out, and the others race without it, at last without load; where that fails too, they are
  /// verified and timed alone, and not raced.
  virtual std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) = 0;
};

struct WorkerOptions {
  std::string device = "0";  ///< ordinal or UUID
  std::string architecture;  ///< "sm_90"; empty: the device's
  int compile_width = 0;     ///< compilers at once; 0: one per usable core
  double compile_deadline_s = 60;
  double run_deadline_s = 20;
  double start_deadline_s = 300;  ///< references of large grids on GPUs with little f64 take their time
  /// Memory that a compiler may take beyond what it holds when it begins: the largest kernels of the corpus took 0.5
  /// GB, and a runaway is stopped before it takes the machine's memory from others.
  std::uint64_t compile_memory_bytes = std::uint64_t{4} << 30;
  std::uint64_t seed = 1;  ///< draws the random input
};

/// What ties workers to whom they work for.
struct WorkerTies {
  const std::atomic<bool>* stop = nullptr;         ///< once it is set, nothing takes longer than a second
  std::function<void(const std::string&)> tell{};  ///< hears what is waited for; empty: nobody does
};

/// The real ones: child processes of this program (`stencil-tune internal-compile-worker`, `internal-device-worker`).
std::unique_ptr<CompileWorkers> start_compile_workers(const Subject& subject, const WorkerOptions& options,
                                                      const WorkerTies& ties = {});
std::unique_ptr<DeviceWorker> start_device_worker(const Subject& subject, const WorkerOptions& options,
                                                  const WorkerTies& ties = {});

/// Entry points of the child processes; they speak the protocol on standard input and output. Return the exit status.
int compile_worker_main();
int compile_worker_main(const std::function<std::unique_ptr<Compiler>()>& open_compiler);
int device_worker_main();

}  // namespace stencil_tune
