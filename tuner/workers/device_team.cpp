#include "tuner/workers/device_team.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kMostLostInARow = 3;  // a device that is lost for candidate after candidate is gone

std::string words_of(const std::exception_ptr& failure) try {
  std::rethrow_exception(failure);
} catch (const std::exception& error) {
  return error.what();
}

}  // namespace

struct DeviceTeam::Trial {
  Member* member = nullptr;
  Done done;
  MeasurePlan plan;
  std::exception_ptr failure;  // why the worker cannot go on
};

/// A worker, and the thread that it lives on: the system ends a child process with the thread that started it.
class DeviceTeam::Member {
 public:
  Member(DeviceWorker& worker, bool has_thread) : worker_(worker) {
    if (has_thread) thread_ = std::thread([this] { work(); });
  }
  ~Member() {
    post({});
    if (thread_.joinable()) thread_.join();
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  DeviceWorker& worker() const { return worker_; }

  /// Runs it on the worker's thread, later; where there is none, now. An empty job ends the thread.
  void post(std::function<void()> job) {
    if (!thread_.joinable()) {
      if (job) job();
      return;
    }
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    posted_.notify_one();
  }

  bool is_free() const { return !is_lost && !is_busy; }

  std::string name = "a GPU";
  bool is_busy = false;
  bool is_lost = false;
  int trials = 0;
  int lost_in_a_row = 0;

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [&] { return !jobs_.empty(); });
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      if (!job) return;
      job();
    }
  }

  DeviceWorker& worker_;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> jobs_;  // guarded by mutex_
  std::thread thread_;
};

DeviceTeam::DeviceTeam(const std::vector<DeviceWorker*>& workers, const Clock& clock,
                       std::function<void(const std::string&)> tell)
    : clock_(clock), tell_(std::move(tell)) {
  const bool has_threads = workers.size() > 1;
  for (DeviceWorker* worker : workers) members_.push_back(std::make_unique<Member>(*worker, has_threads));
}

DeviceTeam::~DeviceTeam() = default;

DeviceSession DeviceTeam::start() {
  struct Start {
    DeviceSession session;
    std::exception_ptr failure;
  };
  std::vector<Start> starts(members_.size());
  std::size_t ended = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i]->post([&, i] {
      Start start;
      try {
        start.session = members_[i]->worker().start();
      } catch (...) {
        start.failure = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      starts[i] = std::move(start);
      ++ended;
      done_something_.notify_one();
    });
  }
  {
    std::unique_lock lock(mutex_);
    done_something_.wait(lock, [&] { return ended == members_.size(); });
  }
  std::optional<DeviceSession> first;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i]->is_lost = starts[i].failure != nullptr;
    members_[i]->name = starts[i].session.device.uuid;
    if (!first && !members_[i]->is_lost) first = starts[i].session;
  }
  if (!first) std::rethrow_exception(starts.front().failure);
  for (const Start& start : starts) {
    if (start.failure && tell_)
      tell_(fmt::format("one of {} GPUs takes no part: {}", members_.size(), words_of(start.failure)));
  }
  return *first;
}

DeviceTeam::Member* DeviceTeam::first_left() const {
  const auto left = std::find_if(members_.begin(), members_.end(), [](const auto& member) { return !member->is_lost; });
  return left == members_.end() ? nullptr : left->get();
}

DeviceTeam::Member* DeviceTeam::free_member() const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [](const auto& member) { return member->is_free(); });
  return found == members_.end() ? nullptr : found->get();
}

int DeviceTeam::size() const {
  return static_cast<int>(
      std::count_if(members_.begin(), members_.end(), [](const auto& member) { return !member->is_lost; }));
}

bool DeviceTeam::has_free() const { return free_member() != nullptr; }

int DeviceTeam::running() const noexcept { return running_; }

std::vector<int> DeviceTeam::trials() const {
  std::vector<int> all;
  for (const auto& member : members_) all.push_back(member->trials);
  return all;
}

void DeviceTeam::submit(CompileResult compiled, const MeasurePlan& plan) {
  Member* const member = free_member();
  if (member == nullptr) throw Error(ErrorCode::internal, "a candidate was given to GPUs that are all at work");
  auto trial = std::make_shared<Trial>();
  trial->done.compiled = std::move(compiled);
  trial->plan = plan;
  ++running_;
  give(*member, trial);
}

void DeviceTeam::give(Member& member, const std::shared_ptr<Trial>& trial) {
  member.is_busy = true;
  trial->member = &member;
  trial->failure = nullptr;
  member.post([this, trial] {
    const double before = clock_.seconds();
    try {
      Done& done = trial->done;
      done.result = trial->member->worker().run(done.compiled.code, done.compiled.kernel, trial->plan);
    } catch (...) {
      trial->failure = std::current_exception();
    }
    trial->done.seconds = clock_.seconds() - before;
    const std::lock_guard lock(mutex_);
    done_.push_back(trial);
    done_something_.notify_one();
  });
}

void DeviceTeam::lose(Member& member, const std::string& why) {
  member.is_lost = true;
  if (tell_ && size() > 0) tell_(fmt::format("{} is lost, {} go on: {}", member.name, size(), why));
}

std::optional<DeviceTeam::Done> DeviceTeam::poll(std::chrono::milliseconds wait) {
  std::shared_ptr<Trial> trial;
  {
    std::unique_lock lock(mutex_);
    if (!done_something_.wait_for(lock, wait, [&] { return !done_.empty(); })) return std::nullopt;
    trial = std::move(done_.front());
    done_.pop_front();
  }
  Member& member = *trial->member;
  member.is_busy = false;
  std::optional<Done> done;
  if (trial->failure) {
    try {
      std::rethrow_exception(trial->failure);
    } catch (const Error& error) {
      lose(member, error.what());
      if (size() == 0) throw;
    }
    returned_.push_back(std::move(trial));
  } else {
    --running_;
    ++member.trials;
    done = std::move(trial->done);
    member.lost_in_a_row = done->result.outcome == Outcome::device_lost ? member.lost_in_a_row + 1 : 0;
    if (member.lost_in_a_row >= kMostLostInARow) lose(member, done->result.message);
  }
  while (!returned_.empty() && has_free()) {
    give(*free_member(), returned_.front());
    returned_.pop_front();
  }
  return done;
}

std::vector<DeviceResult> DeviceTeam::race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) {
  for (;;) {
    Member* const member = first_left();
    if (member == nullptr) throw Error(ErrorCode::device_lost, "no GPU is left to race the finalists on");
    try {
      return member->worker().race(finalists, plan);
    } catch (const Error& error) {
      lose(*member, error.what());
      if (size() == 0) throw;
    }
  }
}

}  // namespace stencil_tune
