#include "tuner/workers/device_proxy.hpp"

#include "stencil_tune/error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace stencil_tune {
namespace {

std::string with_block(int block_x) {
  Tuning tuning;
  tuning.block_x = block_x;
  return code(tuning);
}

class DeviceProxyTest : public testing::Test {
 protected:
  DeviceProxyTest() { ::setenv("STENCIL_TUNE_LOCK_DIR", folder_.path().c_str(), 1); }
  ~DeviceProxyTest() override { ::unsetenv("STENCIL_TUNE_LOCK_DIR"); }

  /// A proxy whose worker can be started so many times.
  DeviceProxy proxy(int starts, double deadline_s = 60, const std::atomic<bool>* stop = nullptr) {
    return {{{"verb", "open"}},
            {.run_s = deadline_s},
            {STENCIL_TUNE_FAKE_WORKER, "device", (folder_.path() / "starts").string(), std::to_string(starts)},
            {.stop = stop}};
  }

  int starts() const {
    int count = 0;
    std::ifstream(folder_.path() / "starts") >> count;
    return count;
  }

  TemporaryFolder folder_;
};

TEST_F(DeviceProxyTest, HandsResultsThrough) {
  DeviceProxy device = proxy(1);
  EXPECT_EQ(device.start().ceiling_gbs, 100);
  const DeviceResult result = device.run(with_block(8), {}, {});
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_EQ(result.timing.median_ms, 8);
  EXPECT_EQ(starts(), 1);
}

TEST_F(DeviceProxyTest, ACrashCostsOneCandidateAndAWorker) {
  DeviceProxy device = proxy(2);
  device.start();
  const DeviceResult crashed = device.run(with_block(11), {}, {});
  EXPECT_EQ(crashed.outcome, Outcome::worker_killed);
  EXPECT_NE(crashed.message.find("about to crash"), std::string::npos) << crashed.message;
  EXPECT_EQ(device.run(with_block(8), {}, {}).outcome, Outcome::ok);
  EXPECT_EQ(starts(), 2);
}

TEST_F(DeviceProxyTest, AHangEndsAtTheDeadline) {
  DeviceProxy device = proxy(2, 2);
  device.start();
  EXPECT_EQ(device.run(with_block(13), {}, {}).outcome, Outcome::timeout);
  EXPECT_EQ(device.run(with_block(8), {}, {}).outcome, Outcome::ok);
}

TEST_F(DeviceProxyTest, AStartThatHangsNamesWhatIsWaitedFor) {
  const std::string starts = (folder_.path() / "starts").string();
  DeviceProxy device({{"verb", "open"}, {"start_hangs", true}},
                     {.start_s = 1, .waited_for = "the reference saxpy_naive"},
                     {STENCIL_TUNE_FAKE_WORKER, "device", starts, "1"});
  try {
    device.start();
    ADD_FAILURE() << "it started";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the reference saxpy_naive was not finished within 1 s"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(DeviceProxyTest, AStopEndsACandidateAndStartsNoOther) {
  std::atomic<bool> stop{false};
  DeviceProxy device = proxy(2, 600, &stop);
  device.start();
  std::thread asking([&] { stop = true; });
  EXPECT_EQ(device.run(with_block(13), {}, {}).outcome, Outcome::worker_killed);  // it would hang for ever
  asking.join();
  EXPECT_EQ(device.run(with_block(8), {}, {}).outcome, Outcome::worker_killed);
  EXPECT_EQ(starts(), 1);
}

TEST_F(DeviceProxyTest, ABrokenContextGetsAFreshWorker) {
  DeviceProxy device = proxy(2);
  device.start();
  EXPECT_EQ(device.run(with_block(23), {}, {}).outcome, Outcome::launch_failed);
  EXPECT_EQ(device.run(with_block(8), {}, {}).outcome, Outcome::ok);
  EXPECT_EQ(starts(), 2);
}

TEST_F(DeviceProxyTest, AFinalistThatEndsTheRaceIsOutAndTheOthersRaceWithoutIt) {
  DeviceProxy device = proxy(10);
  device.start();
  const auto results = device.race({{with_block(4), {}}, {with_block(17), {}}, {with_block(8), {}}}, {.rounds = 3});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].timing.median_ms, 4);
  EXPECT_TRUE(results[0].raced);
  EXPECT_EQ(results[1].outcome, Outcome::worker_killed);
  EXPECT_EQ(results[2].timing.median_ms, 8);
  EXPECT_TRUE(results[2].raced);
}

TEST_F(DeviceProxyTest, FinalistsThatOnlyTheirRaceEndsAreTimedAloneAndNotRaced) {
  DeviceProxy device = proxy(10);
  device.start();
  const auto results = device.race({{with_block(4), {}}, {with_block(29), {}}}, {.rounds = 3});
  ASSERT_EQ(results.size(), 2u);
  for (const DeviceResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::ok);
    EXPECT_FALSE(result.raced);
  }
}

TEST_F(DeviceProxyTest, AfterALostWorkerAsManyRaceUnderLoadAsAreLeftOfThem) {
  DeviceProxy device = proxy(10);
  device.start();
  const auto results = device.race({{with_block(17), {}}, {with_block(4), {}}, {with_block(8), {}}}, {.under_load = 2});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].outcome, Outcome::worker_killed);
  EXPECT_EQ(results[1].sustained_ms, 8);
  EXPECT_EQ(results[2].sustained_ms, 0);
  EXPECT_TRUE(results[2].raced);
}

TEST_F(DeviceProxyTest, FinalistsThatOnlyLoadEndsRaceInBursts) {
  DeviceProxy device = proxy(10);
  device.start();
  const auto results = device.race({{with_block(4), {}}, {with_block(31), {}}}, {.under_load = 2});
  ASSERT_EQ(results.size(), 2u);
  for (const DeviceResult& result : results) {
    EXPECT_TRUE(result.raced);
    EXPECT_EQ(result.sustained_ms, 0);
  }
}

TEST_F(DeviceProxyTest, ADeviceThatDoesNotComeBackIsLost) {
  DeviceProxy device = proxy(1);
  device.start();
  EXPECT_EQ(device.run(with_block(17), {}, {}).outcome, Outcome::worker_killed);
  try {
    device.run(with_block(8), {}, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost);
  }
}

TEST_F(DeviceProxyTest, AWorkerThatCannotOpenItsDeviceSaysWhy) {
  DeviceProxy device = proxy(0);
  try {
    device.start();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
  }
}

}  // namespace
}  // namespace stencil_tune
