// The tuning loop on a kernel of the user's own, with compilers and a device that are made up.
#include "db/stored_code.hpp"
#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "stencil_tune/error.hpp"
#include "tests/generator/user_kernel/definitions.hpp"
#include "tests/tuner/session/session_fakes.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/user_kernel/configuration_search.hpp"
#include "tuner/user_kernel/user_kernel_subject.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

namespace stencil_tune {
namespace {

using testing::kSaxpy;

class InstantCompilers : public CompileWorkers {
 public:
  int width() const override { return 2; }
  void submit(const std::string& code) override { queue_.push_back(code); }
  int pending() const override { return static_cast<int>(queue_.size()); }
  std::optional<CompileResult> poll(std::chrono::milliseconds) override {
    if (queue_.empty()) return std::nullopt;
    CompileResult result;
    result.code = queue_.front();
    queue_.pop_front();
    return result;
  }

 private:
  std::deque<std::string> queue_;
};

/// Blocks of 64 threads with 4 cells each are fastest.
class MadeUpDevice : public DeviceWorker {
 public:
  explicit MadeUpDevice(const UserKernel& kernel) : kernel_(kernel) {}

  DeviceSession start() override {
    DeviceSession session;
    session.ceiling_gbs = 1000;
    return session;
  }
  DeviceResult run(const std::string& code, const CompiledKernel&, const MeasurePlan&) override {
    ran.push_back(code);
    const ParameterValues values = parse_configuration(kernel_, code);
    DeviceResult result;
    if (values[0] == 32) {
      result.outcome = Outcome::wrong_result;
      result.message = "1 of 1000 cells of 'y' are wrong";
      return result;
    }
    const double ms = 1 + std::fabs(std::log2(static_cast<double>(values[0]) / 64)) +
                      std::fabs(std::log2(static_cast<double>(values[1]) / 4));
    result.timing = {slowdown * ms, slowdown * ms, slowdown * ms, 11};
    return result;
  }
  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan&) override {
    std::vector<DeviceResult> results;
    for (const auto& [code, kernel] : finalists) {
      results.push_back(run(code, kernel, {}));
      results.back().raced = true;
    }
    return results;
  }

  std::vector<std::string> ran;
  double slowdown = 1;

 private:
  const UserKernel& kernel_;
};

class UserKernelSession : public ::testing::Test {
 protected:
  SessionResult run(const std::vector<std::string>& warm_starts = {}) {
    const auto legal = legal_configurations(subject.kernel());
    const auto strategy = configuration_search(subject.kernel(), legal, "portfolio", 1);
    InstantCompilers compilers;
    device.ran.clear();
    SessionOptions options;
    options.budget_s = 1e6;
    return run_session({subject,
                        platform,
                        *strategy,
                        compilers,
                        device,
                        database,
                        clock,
                        observer,
                        stop,
                        {{"first", configuration_code(subject.kernel(), legal.front()), ""}},
                        warm_starts},
                       options);
  }

  testing::TemporaryFolder folder;
  UserKernelSubject subject{parse_user_kernel(kSaxpy, "saxpy.cu").kernel};
  MadeUpDevice device{subject.kernel()};
  PlatformKey platform{"Fake GPU", "sm_90", "13.0", "13.0", ""};
  Database database = Database::open(folder.path() / "trials.db");
  testing::FakeClock clock;
  SilentProgress observer;
  std::atomic<bool> stop{false};
};

TEST_F(UserKernelSession, EveryConfigurationIsTriedAndTheFastestRightOneWins) {
  const SessionResult result = run();
  EXPECT_EQ(result.stopped, StopReason::exhausted);
  EXPECT_EQ(result.trials, 8);
  EXPECT_EQ(result.failures.at(Outcome::wrong_result), 3);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->code, "BLOCK=64,ITEMS=4");
  EXPECT_TRUE(result.winner->raced);
  EXPECT_DOUBLE_EQ(result.winner->rate, 2000 / 1e6) << "GFLOP/s";
  EXPECT_DOUBLE_EQ(result.winner->share, 12000 / 1e-3 / 1e9 / 1000);
  ASSERT_EQ(result.baselines.size(), 1u);
  EXPECT_EQ(result.baselines[0].name, "first");
}

TEST_F(UserKernelSession, WinnersAreStoredUnderTheKernelsKeyAndSizes) {
  run();
  const auto winners = WinnerStore(database).list({.kind = SubjectKind::kernel});
  ASSERT_EQ(winners.size(), 1u);
  const ProblemKey& key = winners[0].trial.problem;
  EXPECT_EQ(key.stencil_name, "saxpy");
  EXPECT_EQ(key.sizes, "n=1000");
  EXPECT_EQ(key.unit, "GFLOP/s");
  EXPECT_FALSE(is_stale(winners[0].trial));
  EXPECT_TRUE(is_readable(winners[0].trial));
  EXPECT_FALSE(objection_to(winners[0].trial));
  EXPECT_TRUE(WinnerStore(database).list({.kind = SubjectKind::stencil}).empty());

  UserKernel larger = subject.kernel();
  larger.sizes[0].value = 2000;
  EXPECT_FALSE(WinnerStore(database).find(user_kernel_problem_key(larger), "Fake GPU", Objective::burst));
  subject = UserKernelSubject(larger);
  run();
  EXPECT_EQ(WinnerStore(database).list({.kind = SubjectKind::kernel}).size(), 2u) << "a winner for each size";
}

TEST_F(UserKernelSession, TheSameAgainRepeatsNothingButTheRace) {
  run();
  const SessionResult again = run();
  EXPECT_EQ(again.trials, 0);
  EXPECT_EQ(again.known, 8);
  EXPECT_EQ(again.winner->code, "BLOCK=64,ITEMS=4");
}

TEST_F(UserKernelSession, AConfigurationThatARuleForbidsSinceThenIsPassedOver) {
  run();
  UserKernel stricter =
      parse_user_kernel(testing::replaced(kSaxpy, "BLOCK * ITEMS <= 256", "BLOCK * ITEMS <= 128"), "saxpy.cu").kernel;
  ASSERT_EQ(user_kernel_key(stricter), user_kernel_key(subject.kernel()));
  subject = UserKernelSubject(std::move(stricter));
  const SessionResult result = run();
  ASSERT_EQ(result.passed_over.size(), 2u);
  EXPECT_NE(result.passed_over[0].find("at most 256 cells a block"), std::string::npos) << result.passed_over[0];
  EXPECT_EQ(result.winner->code, "BLOCK=64,ITEMS=2");
}

TEST_F(UserKernelSession, TrialsWithOtherDataAreNotKnownAndWinNothing) {
  run();
  device.slowdown = 10;
  UserKernel captured = subject.kernel();
  captured.captured_data = "0123456789abcdef0123456789abcdef";
  subject = UserKernelSubject(captured);
  const SessionResult result = run({"BLOCK=64,ITEMS=4"});
  EXPECT_EQ(result.known, 0);
  EXPECT_EQ(result.trials, 8);
  EXPECT_EQ(device.ran.front(), "BLOCK=64,ITEMS=4") << "what won on other data is tried first";
  ASSERT_TRUE(result.winner);
  EXPECT_DOUBLE_EQ(result.winner->rate, 200 / 1e6) << "slower than what is there of other data";
  const auto winners = WinnerStore(database).list({.kind = SubjectKind::kernel});
  ASSERT_EQ(winners.size(), 1u) << "under the key that a program asks for";
  EXPECT_EQ(winners[0].trial.platform.template_signature, captured.captured_data);
  EXPECT_EQ(run().known, 8);
}

TEST_F(UserKernelSession, WhatMayHangAtTheStartHasAName) {
  EXPECT_EQ(subject.waited_for_at_start(), "the reference saxpy_naive");
  UserKernel by_function = subject.kernel();
  by_function.reference.kernel = "";
  by_function.reference.function = "saxpy_of_the_host";
  EXPECT_EQ(UserKernelSubject(by_function).waited_for_at_start(), "the reference saxpy_of_the_host");
}

TEST_F(UserKernelSession, WarmStartsComeFirst) {
  run({"BLOCK=128,ITEMS=2"});
  EXPECT_EQ(device.ran.front(), "BLOCK=128,ITEMS=2");
}

TEST(ConfigurationSearch, ProposesEveryLegalConfigurationOnce) {
  const UserKernel kernel = parse_user_kernel(kSaxpy, "saxpy.cu").kernel;
  const auto legal = legal_configurations(kernel);
  for (const char* strategy : {"portfolio", "random", "local", "genetic"}) {
    const auto search = configuration_search(kernel, legal, strategy, 3);
    std::set<std::string> proposed;
    while (const auto code = search->propose()) {
      EXPECT_TRUE(proposed.insert(*code).second) << *code;
      search->report(*code, 1);
    }
    EXPECT_EQ(proposed.size(), legal.size()) << strategy;
    search->report("BLOCK=1,ITEMS=1", 1);  // an earlier definition had it: nothing to learn
  }
}

}  // namespace
}  // namespace stencil_tune
