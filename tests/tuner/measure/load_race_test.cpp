// Kernels under continuous load, on a device that is a clock.
#include "tuner/measure/load_race.hpp"

#include "tests/runtime/fake_driver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace stencil_tune {
namespace {

/// Launches take the time that a test says; nothing rests in between.
class ClockDriver : public FakeDriver {
 public:
  double now_ms = 0;  ///< when all that is queued has ended
  double joules = 0;
  double shortest_queue_ms = 1e9;  ///< time that is left in the queue when the host has waited

  void record_event(CUevent_st* event, CUstream_st*) override { times_[event] = now_ms; }
  void synchronize_event(CUevent_st* event) override {
    shortest_queue_ms = std::min(shortest_queue_ms, now_ms - times_[event]);
  }
  float elapsed_ms(CUevent_st* start, CUevent_st* stop) override {
    return static_cast<float>(times_[stop] - times_[start]);
  }

 private:
  std::map<CUevent_st*, double> times_;
};

class LoadRaceOnAClock : public ::testing::Test, public GpuSensors {
 protected:
  ClockReading read() const override { return {clock_mhz, 3200, 60, 480, ""}; }
  /// The counter goes on every 20 ms.
  std::optional<double> joules() const override {
    if (!has_counter) return std::nullopt;
    if (driver.now_ms >= stepped_at_ms_ + 20) stepped_at_ms_ = driver.now_ms, shown_ = driver.joules;
    return shown_;
  }

  /// Heats up: each launch is slower than the one before by this much.
  LoadRunner runner(const std::string& name, double launch_ms, double watts) {
    const auto launch = [this, name, launch_ms, watts](int count) {
      for (int i = 0; i < count; ++i) {
        const double ms = launch_ms * (1 + slower_a_second * driver.now_ms / 1e3);
        driver.now_ms += ms;
        driver.joules += watts * ms / 1e3;
      }
      batches.push_back(count);
      if (turns.empty() || turns.back() != name) turns.push_back(name);
    };
    return {launch, launch_ms, 3, 4};
  }

  std::vector<LoadFigures> race(const std::vector<LoadRunner>& runners) {
    return race_under_load(driver, nullptr, runners, plan, this);
  }

  ClockDriver driver;
  RacePlan plan;
  bool has_counter = true;
  int clock_mhz = 1500;
  double slower_a_second = 0;
  std::vector<std::string> turns;
  std::vector<int> batches;

 private:
  mutable double stepped_at_ms_ = 0, shown_ = 0;
};

TEST_F(LoadRaceOnAClock, RatesAndPowerAreThoseOfEachKernel) {
  const auto figures = race({runner("a", 1, 700), runner("b", 2, 500)});
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_NEAR(figures[0].sweep_ms, 0.25, 1e-6);
  EXPECT_NEAR(figures[1].sweep_ms, 0.5, 1e-6);
  EXPECT_NEAR(figures[0].watts, 700, 1e-6);
  EXPECT_NEAR(figures[1].watts, 500, 1e-6);
  EXPECT_EQ(figures[0].clocks.sm_clock_mhz, 1500);
}

TEST_F(LoadRaceOnAClock, GoesForthAndBackSoThatADeviceThatHeatsUpFavoursNone) {
  slower_a_second = 0.02;
  plan.load_ms = 500;
  const auto figures = race({runner("a", 1, 700), runner("b", 1, 700), runner("c", 1, 700)});
  EXPECT_EQ(turns, (std::vector<std::string>{"a", "b", "c", "b", "a"}));
  EXPECT_GT(figures[0].sweep_ms, 0.255) << "it has become slower";
  EXPECT_NEAR(figures[0].sweep_ms / figures[1].sweep_ms, 1, 1e-3);
  EXPECT_NEAR(figures[1].sweep_ms / figures[2].sweep_ms, 1, 1e-3);
}

TEST_F(LoadRaceOnAClock, TheFastestOfTheFirstRoundGoBack) {
  plan.again = 2;
  const auto figures = race({runner("a", 1, 700), runner("b", 3, 700), runner("c", 2, 700), runner("d", 1.5, 700)});
  EXPECT_EQ(turns, (std::vector<std::string>{"a", "b", "c", "d", "a"}));
  EXPECT_NEAR(figures[1].sweep_ms, 0.75, 1e-6);
  EXPECT_NEAR(figures[3].sweep_ms, 0.375, 1e-6);
}

TEST_F(LoadRaceOnAClock, TakesAsLongAsThePlanSays) {
  race({runner("a", 1, 700), runner("b", 1, 700)});
  EXPECT_NEAR(driver.now_ms / 1e3, load_race_s(plan, 2), 0.2);
  driver.now_ms = 0;
  plan.again = 1;
  race({runner("a", 1, 700), runner("b", 2, 700), runner("c", 2, 700)});
  EXPECT_NEAR(driver.now_ms / 1e3, load_race_s(plan, 3), 0.2);
}

/// Clocks swing with the power that the device lets through.
TEST_F(LoadRaceOnAClock, ATurnCountsAWholePeriodOfAPowerLimit) {
  const auto swinging = [this](int count) {
    for (int i = 0; i < count; ++i) driver.now_ms += 1 + 0.1 * std::sin(2 * 3.14159265 * driver.now_ms / 1e3);
  };
  for (plan.settle_ms = 200; plan.settle_ms < 1200; plan.settle_ms += 200) {
    EXPECT_NEAR(race({{swinging, 1, 3, 4}, {swinging, 1, 3, 4}})[0].sweep_ms, 0.25, 0.0025) << plan.settle_ms;
  }
}

TEST_F(LoadRaceOnAClock, BatchesAreWholeRotationsOfTheBuffersOrOneLongLaunch) {
  race({runner("short", 0.1, 700), runner("long", 60, 700)});
  for (const int batch : batches) EXPECT_TRUE(batch == 51 || batch == 1) << batch;
}

TEST_F(LoadRaceOnAClock, AHostThatStopsForAWhileLeavesTheDeviceWork) {
  race({runner("short", 0.1, 700), runner("middle", 7, 700), runner("long", 60, 700)});
  EXPECT_GE(driver.shortest_queue_ms, plan.ahead_ms);
}

TEST_F(LoadRaceOnAClock, WithoutAnEnergyCounterPowerReadingsTellTheWatts) {
  has_counter = false;
  EXPECT_EQ(race({runner("a", 1, 700)})[0].watts, 480);
}

TEST_F(LoadRaceOnAClock, WithoutSensorsThereAreRatesAlone) {
  const std::vector<LoadRunner> runners{runner("a", 1, 700)};
  const auto figures = race_under_load(driver, nullptr, runners, plan, nullptr);
  EXPECT_NEAR(figures[0].sweep_ms, 0.25, 1e-6);
  EXPECT_EQ(figures[0].watts, 0);
  EXPECT_EQ(figures[0].clocks.sm_clock_mhz, 0);
}

}  // namespace
}  // namespace stencil_tune
