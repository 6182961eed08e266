#include "tuner/workers/compile_pool.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/workers/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <poll.h>
#include <sched.h>

namespace stencil_tune {

CompilePool::CompilePool(Message opening, int width, std::chrono::milliseconds deadline, WorkerCommand command,
                         const std::atomic<bool>* stop)
    : opening_(std::move(opening)),
      deadline_(deadline),
      command_(std::move(command)),
      slots_(static_cast<std::size_t>(std::max(width, 1))) {
  Slot& first = slots_.front();
  start(first);
  const ChildProcess::Received answer = first.child->receive({Clock::now() + deadline_, stop});
  if (answer.line == ChildProcess::Line::message) {
    throw_if_error(answer.message);
  } else if (stop == nullptr || !*stop) {
    throw Error(ErrorCode::internal, "the first compile worker did not become ready: " + first.child->end());
  }
}

void CompilePool::submit(const std::string& code) {
  queue_.push_back(code);
  hand_out();
}

int CompilePool::pending() const {
  const auto busy = std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.job.has_value(); });
  return static_cast<int>(queue_.size() + ready_.size()) + static_cast<int>(busy);
}

std::optional<CompileResult> CompilePool::poll(std::chrono::milliseconds wait) {
  const auto deadline = Clock::now() + wait;
  for (;;) {
    hand_out();
    for (Slot& slot : slots_) serve(slot);
    hand_out();
    if (!ready_.empty()) {
      CompileResult result = std::move(ready_.front());
      ready_.pop_front();
      return result;
    }
    if (pending() == 0 || Clock::now() >= deadline) return std::nullopt;
    wait_until(deadline);
  }
}

void CompilePool::start(Slot& slot) {
  slot.child.emplace(command_);
  slot.child->send(opening_, Clock::now() + deadline_);
}

void CompilePool::hand_out() {
  for (Slot& slot : slots_) {
    if (queue_.empty()) return;
    if (slot.job) continue;
    if (!slot.child) start(slot);
    slot.job = queue_.front();
    queue_.pop_front();
    slot.deadline = Clock::now() + deadline_;
    if (!slot.child->send({{"candidate", *slot.job}}, slot.deadline)) {
      give_up(slot, Outcome::worker_killed, "the compiler process ended before the job: ");
    }
  }
}

/// Takes what the slot's worker has sent so far.
void CompilePool::serve(Slot& slot) {
  while (slot.job) {
    const ChildProcess::Received received = slot.child->receive(Clock::now());
    if (received.line == ChildProcess::Line::closed) {
      give_up(slot, Outcome::worker_killed, "the compiler process died: ");
    } else if (received.line == ChildProcess::Line::timeout) {
      if (Clock::now() < slot.deadline) return;
      const auto limit = std::chrono::duration<double>(deadline_).count();
      give_up(slot, Outcome::compile_timeout, fmt::format("not compiled within {:g} s: ", limit));
    } else {
      throw_if_error(received.message);
      if (received.message.contains("ready")) continue;  // a new worker says that it is ready
      ready_.push_back(answer_as<CompileResult>(received.message));
      slot.job.reset();
    }
  }
}

/// The job's outcome is known without an answer: its worker is gone or goes now, the next job gets a new one.
void CompilePool::give_up(Slot& slot, Outcome outcome, const std::string& why) {
  const std::string how = slot.child->end();
  slot.child.reset();
  ready_.push_back({*std::exchange(slot.job, std::nullopt), outcome, why + how, {}});
}

void CompilePool::wait_until(Clock::time_point deadline) {
  std::vector<pollfd> items;
  for (const Slot& slot : slots_) {
    if (!slot.job) continue;
    items.push_back({slot.child->descriptor(), POLLIN, 0});
    deadline = std::min(deadline, slot.deadline);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  ::poll(items.data(), items.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000)));
}

int usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));  // more cores than cpu_set_t counts
}

std::unique_ptr<CompileWorkers> start_compile_workers(const Subject& subject, const WorkerOptions& options,
                                                      const WorkerTies& ties) {
  WorkerOptions resolved = options;
  if (resolved.architecture.empty()) resolved.architecture = find_device(options.device).architecture;
  return std::make_unique<CompilePool>(
      Message{{"subject", subject.message()}, {"options", resolved}},
      options.compile_width > 0 ? options.compile_width : usable_cores(),
      std::chrono::milliseconds(static_cast<std::int64_t>(options.compile_deadline_s * 1000)),
      own_command("internal-compile-worker"), ties.stop);
}

}  // namespace stencil_tune
