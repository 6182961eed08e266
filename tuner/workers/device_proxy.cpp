#include "tuner/workers/device_proxy.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/workers/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kOpenDeadlineS = 120;  // a driver without persistence mode initialises all GPUs first
constexpr int kRestarts = 4;            // a killed worker's memory comes back a little later
constexpr std::chrono::seconds kRestartPause{2};
constexpr std::chrono::seconds kAfterStop{1};

Message candidate_message(const std::string& code, const CompiledKernel& kernel) {
  return {{"candidate", code}, {"kernel", kernel}};
}

DeviceResult result_of(Outcome outcome, std::string why) {
  DeviceResult result;
  result.outcome = outcome;
  result.message = std::move(why);
  return result;
}

}  // namespace

DeviceProxy::DeviceProxy(Message opening, DeviceDeadlines deadlines, WorkerCommand command, WorkerTies ties)
    : opening_(std::move(opening)),
      deadlines_(std::move(deadlines)),
      command_(std::move(command)),
      ties_(std::move(ties)) {}

DeviceSession DeviceProxy::start() { return answer_as<DeviceSession>(begin(true)); }

/// A fresh worker with everything allocated. `measure`: with the copy ceiling, for the session's first worker.
Message DeviceProxy::begin(bool measure) {
  child_.emplace(command_);
  uuid_ = answer_as<DeviceFacts>(ask_or_throw(opening_, kOpenDeadlineS)).uuid;
  const auto lock = lock_gpu();
  if (!lock) throw Error(ErrorCode::device_lost, "stopped while another process held the GPU");
  return ask_or_throw({{"verb", "start"}, {"measure", measure}}, deadlines_.start_s, deadlines_.waited_for);
}

std::optional<GpuLock> DeviceProxy::lock_gpu() const {
  return GpuLock::acquire(gpu_lock_path(uuid_), {Patience::Clock::time_point::max(), ties_.stop}, ties_.tell);
}

void DeviceProxy::restart() {
  std::string why;
  for (int attempt = 0; attempt < kRestarts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kRestartPause);
    try {
      begin(false);
      return;
    } catch (const Error& error) {
      child_.reset();
      why = error.what();
    }
  }
  throw Error(
      ErrorCode::device_lost,
      fmt::format("no device worker can be started on the GPU any more, after {} attempts: {}. Trials so far are "
                  "kept; check the GPU (nvidia-smi) and run the same command again to go on",
                  kRestarts, why));
}

/// What is nearly done at a stop may still come to its end.
ChildProcess::Received DeviceProxy::await(ChildProcess::Clock::time_point deadline) {
  ChildProcess::Received received = child_->receive({deadline, ties_.stop});
  if (received.line != ChildProcess::Line::timeout || !is_stopped()) return received;
  return child_->receive(std::min(deadline, ChildProcess::Clock::now() + kAfterStop));
}

/// A worker that does not answer is gone afterwards.
DeviceProxy::Answer DeviceProxy::ask(const Message& request, double deadline_s) {
  const auto deadline = ChildProcess::Clock::now() +
                        std::chrono::milliseconds(static_cast<std::int64_t>(std::max(deadline_s, 0.0) * 1000));
  ChildProcess::Received received{ChildProcess::Line::closed, {}};
  if (child_->send(request, deadline)) received = await(deadline);
  if (received.line == ChildProcess::Line::message) return {std::move(received.message), Outcome::ok, {}};
  const bool late = ChildProcess::Clock::now() >= deadline;
  const std::string how = child_->end();
  child_.reset();
  if (late) return {std::nullopt, Outcome::timeout, fmt::format("not finished within {:g} s", deadline_s)};
  return {std::nullopt, Outcome::worker_killed, "the device worker died: " + how};
}

Message DeviceProxy::ask_or_throw(const Message& request, double deadline_s, const std::string& waited_for) {
  Answer answer = ask(request, deadline_s);
  if (!answer.message && answer.outcome == Outcome::timeout && !waited_for.empty()) {
    throw Error(ErrorCode::launch_failed,
                fmt::format("{} was {} while it ran on the data of the checks: it hangs, or needs smaller sizes or a "
                            "longer --budget",
                            waited_for, answer.why));
  }
  if (!answer.message) {
    const bool late = answer.outcome == Outcome::timeout;
    throw Error(late ? ErrorCode::timeout : ErrorCode::device_lost, "the device worker could not start: " + answer.why);
  }
  try {
    throw_if_error(*answer.message);
  } catch (const Error&) {
    child_.reset();
    throw;
  }
  return std::move(*answer.message);
}

DeviceResult DeviceProxy::run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) {
  if (is_stopped()) return result_of(Outcome::worker_killed, "stopped");
  if (!child_) restart();
  return run_once(code, kernel, plan);
}

DeviceResult DeviceProxy::run_once(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) {
  Message request = candidate_message(code, kernel);
  request["verb"] = "run";
  request["plan"] = plan;
  const auto lock = lock_gpu();
  if (!lock) return result_of(Outcome::worker_killed, "stopped");
  const Answer answer = ask(request, deadlines_.run_s);
  if (!answer.message) return result_of(answer.outcome, answer.why);
  if (answer.message->contains("error")) return result_of(Outcome::launch_failed, answer.message->at("message"));
  if (!answer.message->at("usable")) child_.reset();  // its context is broken: the next candidate gets a fresh one
  return answer_as<DeviceResult>(answer.message->at("result"));
}

std::vector<DeviceResult> DeviceProxy::race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) {
  if (auto timed = race_once(finalists, plan)) return *timed;
  // Some finalist ended the worker: alone, each shows what it does.
  std::vector<DeviceResult> results;
  std::vector<CodedKernel> sound;
  RacePlan again = plan;
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    results.push_back(run(finalists[i].first, finalists[i].second, {}));
    if (results.back().outcome == Outcome::ok) {
      sound.push_back(finalists[i]);
    } else if (static_cast<int>(i) < plan.under_load) {
      --again.under_load;
    }
  }
  if (sound.empty()) return results;
  auto timed = race_once(sound, again);
  if (!timed && std::exchange(again.under_load, 0) > 0) timed = race_once(sound, again);
  if (!timed) return results;
  auto next = timed->begin();
  for (DeviceResult& result : results) {
    if (result.outcome == Outcome::ok) result = *next++;
  }
  return results;
}

/// Nothing where the race came to no end; its worker is gone then.
std::optional<std::vector<DeviceResult>> DeviceProxy::race_once(const std::vector<CodedKernel>& finalists,
                                                                const RacePlan& plan) {
  if (is_stopped()) return std::nullopt;
  if (!child_) restart();
  Message request{{"verb", "race"}, {"plan", plan}, {"finalists", Message::array()}};
  for (const auto& [code, kernel] : finalists) request["finalists"].push_back(candidate_message(code, kernel));
  const auto lock = lock_gpu();
  if (!lock) return std::nullopt;
  const double bursts_s = deadlines_.run_s * static_cast<double>(std::max<std::size_t>(1, finalists.size()));
  const Answer answer = ask(request, bursts_s + (plan.under_load > 0 ? load_race_s(plan, plan.under_load) : 0));
  if (answer.message && answer.message->contains("results")) {
    return answer_as<std::vector<DeviceResult>>(answer.message->at("results"));
  }
  child_.reset();
  return std::nullopt;
}

std::unique_ptr<DeviceWorker> start_device_worker(const Subject& subject, const WorkerOptions& options,
                                                  const WorkerTies& ties) {
  return std::make_unique<DeviceProxy>(
      Message{{"verb", "open"}, {"subject", subject.message()}, {"options", options}},
      DeviceDeadlines{options.run_deadline_s, options.start_deadline_s, subject.waited_for_at_start()},
      own_command("internal-device-worker"), ties);
}

}  // namespace stencil_tune
