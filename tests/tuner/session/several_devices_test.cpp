// One session on several GPUs of a model. What is shown is counted, never timed.
#include "db/trial_store.hpp"
#include "stencil_tune/error.hpp"
#include "tests/tuner/search/random_search.hpp"
#include "tests/tuner/session/session_fakes.hpp"
#include "tuner/session/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <mutex>
#include <set>

namespace stencil_tune {
namespace {

using testing::FakeClock;
using testing::FakeCompilers;
using testing::FakeDevice;

constexpr std::chrono::minutes kWatchdog{2};  // for waits that end at once where all is well

double landscape(const Tuning& tuning) {
  const double spread = static_cast<double>(std::hash<std::string>{}(code(tuning)) % 1000) / 1e5;
  return 1.0 + 8.0 / tuning.block_x + 1.0 / tuning.register_x + spread;
}

/// Does something before each trial and each race; what it throws ends the worker.
class HookedDevice : public FakeDevice {
 public:
  explicit HookedDevice(FakeClock& clock) : FakeDevice(clock, landscape) {}

  DeviceResult run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) override {
    if (before_run) before_run();
    return FakeDevice::run(code, kernel, plan);
  }
  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) override {
    if (before_race) before_race();
    return FakeDevice::race(finalists, plan);
  }

  std::function<void()> before_run, before_race;
};

class Listener : public SilentProgress {
 public:
  void waiting(const std::string& what) override { heard.push_back(what); }
  std::vector<std::string> heard;
};

/// Opens once; whoever waits goes on then.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(opened_.wait_for(lock, kWatchdog, [&] { return is_open_; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

[[noreturn]] void lose() { throw Error(ErrorCode::device_lost, "no fresh worker can be started"); }

class SeveralDevicesTest : public ::testing::Test {
 protected:
  SessionResult run(SearchStrategy<std::string>& strategy, std::vector<DeviceWorker*> devices, int trials,
                    const std::string& file = "trials.db") {
    database.emplace(Database::open(folder.path() / file));
    SessionOptions options;
    options.budget_s = 1e6;
    options.max_trials = trials;
    DeviceWorker& first = *devices.front();
    devices.erase(devices.begin());
    return run_session({subject,
                        platform,
                        strategy,
                        compilers,
                        first,
                        *database,
                        clock,
                        observer,
                        stop,
                        named_candidates(textbook_baselines(problem, limits)),
                        {},
                        devices},
                       options);
  }

  SessionResult run_random(int trials) { return run(*by_code(make_random(space, 1)), {&one, &two}, trials); }

  std::vector<std::string> ran() const {
    std::vector<std::string> all = one.ran;
    all.insert(all.end(), two.ran.begin(), two.ran.end());
    return all;
  }

  testing::TemporaryFolder folder;
  Problem problem = testing::star(1, 64);
  Limits limits = limits_of_architecture("sm_90");
  Space space{problem, limits};
  StencilSubject subject{problem};
  PlatformKey platform{"Fake GPU", "sm_90", "13.0", "13.0", ""};
  std::optional<Database> database;
  FakeClock clock;
  FakeCompilers compilers{clock};
  HookedDevice one{clock}, two{clock};
  Listener observer;
  std::atomic<bool> stop{false};
};

TEST_F(SeveralDevicesTest, TwoMakeTwoTrialsInTheTimeOfOne) {
  std::barrier tick(2);  // a trial takes a tick, and a tick passes when both are in a trial
  one.before_run = two.before_run = [&] { tick.arrive_and_wait(); };
  const SessionResult result = run_random(24);
  EXPECT_EQ(result.trials, 24);
  EXPECT_EQ(result.trials_of_devices, (std::vector<int>{12, 12}));
}

TEST_F(SeveralDevicesTest, NoneWaitsForAnother) {
  Gate far_ahead;
  one.before_run = [&] { far_ahead.wait(); };  // its first trial takes as long as 15 of the other's
  two.after_run = [&] {
    if (two.ran.size() == 15) far_ahead.open();
  };
  EXPECT_EQ(run_random(30).trials, 30);
}

TEST_F(SeveralDevicesTest, EachCandidateIsTriedOnceAndStoredOnce) {
  std::barrier tick(2);
  one.before_run = two.before_run = [&] { tick.arrive_and_wait(); };
  run_random(20);
  EXPECT_FALSE(one.ran.empty());
  EXPECT_FALSE(two.ran.empty());
  const auto all = ran();
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 20u);
  const auto stored = TrialStore(*database).find({});
  EXPECT_EQ(std::count_if(stored.begin(), stored.end(), [](const TrialRecord& trial) { return !trial.raced; }), 20);
}

TEST_F(SeveralDevicesTest, TheyFindTheWinnerThatOneFinds) {
  for (const std::uint64_t seed : {1, 2}) {
    HookedDevice alone{clock};
    const auto number = std::to_string(seed);
    const SessionResult by_one = run(*by_code(make_random(space, seed)), {&alone}, 24, "one" + number + ".db");
    const SessionResult by_two = run(*by_code(make_random(space, seed)), {&one, &two}, 24, "two" + number + ".db");
    ASSERT_TRUE(by_one.winner && by_two.winner);
    EXPECT_EQ(by_two.winner->code, by_one.winner->code);
    EXPECT_EQ(by_two.winner->rate, by_one.winner->rate);
  }
}

TEST_F(SeveralDevicesTest, FinalistsRaceOnOneOfThem) {
  const SessionResult result = run_random(24);
  EXPECT_EQ(one.raced.size(), result.finalists.size());
  EXPECT_TRUE(two.raced.empty());
}

TEST_F(SeveralDevicesTest, AWorkerThatIsLostLeavesTheOthersGoing) {
  Gate lost;
  one.before_run = [&] { lost.wait(); };
  two.before_run = [&] {
    if (two.ran.size() < 2) return;
    lost.open();
    lose();
  };
  const SessionResult result = run_random(24);
  EXPECT_EQ(result.trials, 24);
  EXPECT_EQ(two.ran.size(), 2u);
  EXPECT_EQ(one.ran.size(), 22u);  // the candidate that the other was given among them
  ASSERT_EQ(observer.heard.size(), 1u);
  EXPECT_NE(observer.heard[0].find("is lost"), std::string::npos) << observer.heard[0];
  EXPECT_TRUE(result.winner);
}

TEST_F(SeveralDevicesTest, ADeviceThatIsLostForCandidateAfterCandidateIsGivenNoMore) {
  Gate lost;
  one.before_run = [&] { lost.wait(); };
  two.outcome = [](const Tuning&) { return Outcome::device_lost; };
  two.after_run = [&] {
    if (two.ran.size() == 3) lost.open();
  };
  const SessionResult result = run_random(24);
  EXPECT_EQ(result.trials_of_devices.at(1), 3);
  EXPECT_TRUE(result.winner);
}

TEST_F(SeveralDevicesTest, WhereAllAreLostTheSessionEndsAndKeepsItsTrials) {
  std::atomic<int> runs{0};
  one.before_run = two.before_run = [&] {
    if (++runs > 10) lose();
  };
  try {
    run_random(24);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost);
  }
  EXPECT_EQ(TrialStore(*database).find({}).size(), 10u);
}

TEST_F(SeveralDevicesTest, OneThatDoesNotStartTakesNoPart) {
  one.at_start = [] { throw Error(ErrorCode::no_device, "gone"); };
  const SessionResult result = run_random(20);
  EXPECT_EQ(result.trials_of_devices, (std::vector<int>{0, 20}));
  EXPECT_FALSE(two.raced.empty());
  ASSERT_EQ(observer.heard.size(), 1u);
  EXPECT_NE(observer.heard[0].find("gone"), std::string::npos) << observer.heard[0];
}

TEST_F(SeveralDevicesTest, WhereNoneStartsTheReasonOfTheFirstIsThrown) {
  one.at_start = [] { throw Error(ErrorCode::exceeds_device_memory, "too large"); };
  two.at_start = [] { throw Error(ErrorCode::no_device, "gone"); };
  try {
    run_random(20);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::exceeds_device_memory);
  }
}

TEST_F(SeveralDevicesTest, TheRaceGoesToAnotherWhereItsGpuIsLost) {
  one.before_race = lose;
  const SessionResult result = run_random(20);
  EXPECT_FALSE(two.raced.empty());
  EXPECT_TRUE(result.winner);
}

TEST_F(SeveralDevicesTest, AStopEndsThemAll) {
  Gate stopped;
  one.before_run = [&] { stopped.wait(); };
  two.after_run = [&] {
    if (two.ran.size() < 5) return;
    stop = true;
    stopped.open();
  };
  const SessionResult result = run_random(0);
  EXPECT_EQ(result.stopped, StopReason::interrupted);
  EXPECT_EQ(result.trials, static_cast<int>(ran().size()));
  EXPECT_TRUE(one.raced.empty() && two.raced.empty());
}

}  // namespace
}  // namespace stencil_tune
