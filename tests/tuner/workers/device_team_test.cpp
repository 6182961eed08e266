// A team of real child processes: a fake worker plays the GPUs.
#include "tuner/workers/device_team.hpp"

#include "stencil_tune/error.hpp"
#include "tests/runtime/temporary_folder.hpp"
#include "tuner/workers/device_proxy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace stencil_tune {
namespace {

std::string with_block(int block_x) {
  Tuning tuning;
  tuning.block_x = block_x;
  return code(tuning);
}

constexpr int kCrashes = 11;  // the block that ends the fake worker

class DeviceTeamTest : public testing::Test {
 protected:
  DeviceTeamTest() { ::setenv("STENCIL_TUNE_LOCK_DIR", folder_.path().c_str(), 1); }
  ~DeviceTeamTest() override { ::unsetenv("STENCIL_TUNE_LOCK_DIR"); }

  /// A worker that can be started so many times.
  DeviceProxy proxy(const std::string& name, int starts) {
    return {{{"verb", "open"}},
            {.run_s = 60},
            {STENCIL_TUNE_FAKE_WORKER, "device", (folder_.path() / name).string(), std::to_string(starts)}};
  }

  /// Outcomes of all, by candidate.
  static std::map<std::string, Outcome> run_all(DeviceTeam& team, std::vector<int> blocks) {
    std::map<std::string, Outcome> outcomes;
    while (!blocks.empty() || team.running() > 0) {
      if (!blocks.empty() && team.has_free()) {
        CompileResult compiled;
        compiled.code = with_block(blocks.back());
        team.submit(std::move(compiled), {});
        blocks.pop_back();
      } else if (const auto done = team.poll(std::chrono::seconds{60})) {
        outcomes[done->compiled.code] = done->result.outcome;
      }
    }
    return outcomes;
  }

  TemporaryFolder folder_;
  SteadyClock clock_;
};

TEST_F(DeviceTeamTest, WorkersLiveFromTrialToTrial) {
  DeviceProxy one = proxy("one", 1), two = proxy("two", 1);  // neither could start again
  DeviceTeam team({&one, &two}, clock_);
  team.start();
  const auto outcomes = run_all(team, {2, 4, 8, 16, 32, 64});
  EXPECT_EQ(outcomes.size(), 6u);
  for (const auto& [code, outcome] : outcomes) EXPECT_EQ(outcome, Outcome::ok) << code;
  EXPECT_EQ(team.size(), 2);
  EXPECT_EQ(team.race({{with_block(4), {}}}, {.rounds = 3}).at(0).timing.median_ms, 4);
}

TEST_F(DeviceTeamTest, ACrashIsItsCandidatesOutcomeAndTheWorkerComesBack) {
  DeviceProxy one = proxy("one", 3), two = proxy("two", 3);
  DeviceTeam team({&one, &two}, clock_);
  team.start();
  const auto outcomes = run_all(team, {2, 4, kCrashes, 8, 16, 32});
  EXPECT_EQ(outcomes.at(with_block(kCrashes)), Outcome::worker_killed);
  EXPECT_EQ(std::count_if(outcomes.begin(), outcomes.end(),
                          [](const auto& outcome) { return outcome.second == Outcome::ok; }),
            5);
  EXPECT_EQ(team.size(), 2);
}

}  // namespace
}  // namespace stencil_tune
