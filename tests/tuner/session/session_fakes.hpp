// Stands in for compile processes, the GPU and time: a session runs on a made-up landscape in no time at all.
#pragma once

#include "db/database.hpp"
#include "tuner/measure/clock.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/stencil_parts.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/workers/worker.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune::testing {

class FakeClock : public Clock {
 public:
  double seconds() const override { return now; }
  std::atomic<double> now = 1000;  ///< devices of a team share it
};

/// Compiles at once, in order, or as long as `takes_s` says; `outcome` says how.
class FakeCompilers : public CompileWorkers {
 public:
  explicit FakeCompilers(FakeClock& clock, int width = 4) : clock_(clock), width_(width) {}

  int width() const override { return width_; }
  void submit(const std::string& code) override {
    submitted.push_back(code);
    queue_.push_back({code, clock_.now + (takes_s ? takes_s(parse_code(code)) : 0)});
  }
  int pending() const override { return static_cast<int>(queue_.size()); }
  std::optional<CompileResult> poll(std::chrono::milliseconds wait) override {
    const auto done =
        std::find_if(queue_.begin(), queue_.end(), [&](const Job& job) { return job.done_at <= clock_.now; });
    if (done == queue_.end() || stuck) {
      clock_.now += static_cast<double>(wait.count()) / 1e3;
      return std::nullopt;
    }
    if (wait.count() == 0 && one_at_a_time) return std::nullopt;
    CompileResult result;
    result.code = done->code;
    queue_.erase(done);
    result.outcome = outcome(parse_code(result.code));
    if (result.outcome != Outcome::ok) result.message = "no";
    result.kernel.resources.registers = 32;
    return result;
  }

  std::function<Outcome(const Tuning&)> outcome = [](const Tuning&) { return Outcome::ok; };
  std::function<double(const Tuning&)> takes_s;  ///< time of the fake clock; empty: no time at all
  std::vector<std::string> submitted;
  bool stuck = false;          ///< nothing ever comes to its end
  bool one_at_a_time = false;  ///< never more than one finished at a time: the queue stays visible as pending

 private:
  struct Job {
    std::string code;
    double done_at;
  };

  FakeClock& clock_;
  int width_;
  std::deque<Job> queue_;
};

/// Times candidates by a function; every run takes 0.1 s of the fake clock.
class FakeDevice : public DeviceWorker {
 public:
  FakeDevice(FakeClock& clock, std::function<double(const Tuning&)> time_of)
      : time_ms(std::move(time_of)), clock_(clock) {}

  DeviceSession start() override {
    clock_.now += start_s;
    if (at_start) at_start();
    DeviceSession session;
    session.device.name = "Fake GPU";
    session.device.architecture = "sm_90";
    session.device.limits = limits;
    session.ceiling_gbs = 1000;
    return session;
  }

  DeviceResult run(const std::string& code, const CompiledKernel&, const MeasurePlan& plan) override {
    const Tuning tuning = parse_code(code);
    clock_.now += 0.1;
    ran.push_back(code);
    plans[code] = plan;
    DeviceResult result = timed(tuning, time_ms(tuning));
    result.dropped = plan.best_ms > 0 && result.timing.median_ms > plan.drop_factor * plan.best_ms;
    if (after_run) after_run();
    return result;
  }

  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) override {
    std::vector<DeviceResult> results;
    for (const auto& [code, kernel] : finalists) {
      const Tuning tuning = parse_code(code);
      raced.push_back(code);
      results.push_back(timed(tuning, race_ms ? race_ms(tuning) : time_ms(tuning)));
      results.back().raced = races;
      if (!races || static_cast<int>(results.size()) > plan.under_load) continue;
      under_load.push_back(code);
      results.back().sustained_ms = load_ms ? load_ms(tuning) : results.back().timing.median_ms;
      results.back().watts = watts ? watts(tuning) : 0;
      clock_.now += load_race_s(plan, 1);
    }
    return results;
  }

  std::function<double(const Tuning&)> time_ms;
  Limits limits;
  double start_s = 0;                            ///< time that making ready takes
  std::function<double(const Tuning&)> race_ms;  ///< empty: as time_ms
  std::function<double(const Tuning&)> load_ms;  ///< empty: as in the race in bursts
  std::function<double(const Tuning&)> watts;    ///< under load; empty: there is no NVML
  bool races = true;                             ///< false: each finalist is timed alone, as after a lost worker
  std::function<Outcome(const Tuning&)> outcome = [](const Tuning&) { return Outcome::ok; };
  std::function<double(const Tuning&)> sharpness = [](const Tuning&) { return 1.0; };
  std::function<void()> at_start, after_run;
  std::vector<std::string> ran, raced, under_load;
  std::map<std::string, MeasurePlan> plans;

 private:
  DeviceResult timed(const Tuning& tuning, double ms) {
    DeviceResult result;
    result.outcome = outcome(tuning);
    if (result.outcome != Outcome::ok) {
      result.message = "made to fail";
      return result;
    }
    result.timing = {ms, ms, ms, 10};
    result.occupancy = 0.5;
    result.sharpness = sharpness(tuning);
    result.sharpness_note = "as faked";
    return result;
  }

  FakeClock& clock_;
};

/// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stencil-tune-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline Problem star(int order, std::int64_t n, ElementType type = ElementType::f32, int rank = 3) {
  Extents extents{rank, {n, rank > 1 ? n : 1, rank > 2 ? n : 1}};
  return make_problem(make_builtin(Shape::star, rank, order), type, {Boundary::hold, Boundary::hold, Boundary::hold},
                      extents);
}

}  // namespace stencil_tune::testing
