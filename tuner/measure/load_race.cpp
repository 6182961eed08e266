#include "tuner/measure/load_race.hpp"

#include "runtime/cuda/module.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostBatches = 32;  // in the queue
constexpr double kBatchMs = 5;
constexpr double kReadEveryMs = 50;  // clocks and power

int launches_a_batch(const LoadRunner& runner) {
  const double wanted = std::ceil(kBatchMs / std::max(runner.launch_ms, 1e-6));
  if (wanted <= 1) return 1;
  return (static_cast<int>(std::min(wanted, 1e4)) + runner.period - 1) / runner.period * runner.period;
}

/// In the queue while the host waits for the first of them: what stays takes at least ahead_ms.
std::size_t batches_ahead(const LoadRunner& runner, double ahead_ms) {
  const double batch_ms = launches_a_batch(runner) * std::max(runner.launch_ms, 1e-6);
  return static_cast<std::size_t>(std::clamp(std::ceil(ahead_ms / batch_ms) + 1, 2.0, 1.0 * kMostBatches));
}

/// Power of one runner. The counter goes on in steps, and time is taken from step to step: what came before the first
/// one and after the last one is left out.
class PowerMeter {
 public:
  explicit PowerMeter(const GpuSensors* sensors) : sensors_(sensors) {}

  void begin_turn() {
    last_joules_.reset();
    step_.reset();
    read_at_ms_ = -kReadEveryMs;
  }

  void look(double now_ms) {
    if (sensors_ == nullptr) return;
    count_energy(now_ms);
    if (now_ms < read_at_ms_ + kReadEveryMs) return;
    read_at_ms_ = now_ms;
    const ClockReading reading = sensors_->read();
    clocks_ = slower(clocks_, reading);
    if (reading.power_w > 0) power_w_ += reading.power_w, ++power_readings_;
  }

  double watts() const {
    if (ms_ > 0) return joules_ / ms_ * 1e3;
    return power_readings_ > 0 ? power_w_ / power_readings_ : 0;
  }
  const ClockReading& clocks() const { return clocks_; }

 private:
  struct Step {
    double ms = 0;
    double joules = 0;
  };

  void count_energy(double now_ms) {
    const std::optional<double> joules = sensors_->joules();
    if (!joules) return;
    if (last_joules_ && *joules != *last_joules_) {
      if (step_) {
        joules_ += *joules - step_->joules;
        ms_ += now_ms - step_->ms;
      }
      step_ = Step{now_ms, *joules};
    }
    last_joules_ = joules;
  }

  const GpuSensors* sensors_;
  std::optional<double> last_joules_;  // in this turn
  std::optional<Step> step_;           // the latest in this turn
  double joules_ = 0, ms_ = 0;         // from step to step, in all turns
  double power_w_ = 0;
  int power_readings_ = 0;
  double read_at_ms_ = 0;
  ClockReading clocks_;
};

/// The device's queue, which is never empty between the first turn and the last.
class Load {
 public:
  Load(Driver& driver, CUstream_st* stream, double ahead_ms) : stream_(stream), ahead_ms_(ahead_ms), origin_(driver) {
    for (std::size_t i = 0; i < kMostBatches; ++i) ends_.emplace_back(driver);
  }

  struct Counted {
    double ms = 0;
    long launches = 0;
  };

  /// Leaves some batches in the queue, which the next turn follows.
  Counted turn(const LoadRunner& runner, double settle_ms, double counted_ms, PowerMeter& meter) {
    const int batch = launches_a_batch(runner);
    const std::size_t ahead = batches_ahead(runner, ahead_ms_);
    Counted counted;
    std::optional<double> since;
    meter.begin_turn();
    origin_.record(stream_);
    for (std::size_t issued = 0;; ++issued) {
      const Event& end = ends_[issued % ahead];
      if (issued >= ahead) {
        end.synchronize();
        const double now = end.elapsed_since(origin_);
        if (since) {
          counted = {now - *since, counted.launches + batch};
          meter.look(now);
          if (counted.ms >= counted_ms) return counted;
        } else if (now >= settle_ms) {
          since = now;
          meter.look(now);
        }
      }
      runner.launch(batch);
      end.record(stream_);
    }
  }

 private:
  CUstream_st* stream_;
  double ahead_ms_;
  Event origin_;
  std::vector<Event> ends_;  // ends of the batches in the queue
};

/// Leaves so many, in their order.
void keep_fastest(std::vector<std::size_t>& racing, int most, const std::function<double(std::size_t)>& sweep_ms) {
  if (racing.size() <= static_cast<std::size_t>(most)) return;
  std::vector<double> times;
  for (const std::size_t i : racing) times.push_back(sweep_ms(i));
  std::nth_element(times.begin(), times.begin() + (most - 1), times.end());
  const double limit = times[static_cast<std::size_t>(most) - 1];
  std::erase_if(racing, [&](std::size_t i) { return sweep_ms(i) > limit; });
}

}  // namespace

std::vector<LoadFigures> race_under_load(Driver& driver, CUstream_st* stream, std::span<const LoadRunner> runners,
                                         const RacePlan& plan, const GpuSensors* sensors) {
  std::vector<Load::Counted> counted(runners.size());
  std::vector<PowerMeter> meters(runners.size(), PowerMeter(sensors));
  Load load(driver, stream, plan.ahead_ms);
  const auto sweep_ms = [&](std::size_t i) {
    const double sweeps = static_cast<double>(counted[i].launches) * runners[i].sweeps;
    return sweeps > 0 ? counted[i].ms / sweeps : 0;
  };
  std::vector<std::size_t> racing(runners.size());
  std::iota(racing.begin(), racing.end(), std::size_t{0});
  double warm_up_ms = plan.warm_up_ms;
  for (int round = 0; round < plan.load_rounds; ++round) {
    for (const std::size_t i : racing) {
      const Load::Counted more = load.turn(runners[i], warm_up_ms + plan.settle_ms, plan.load_ms, meters[i]);
      counted[i] = {counted[i].ms + more.ms, counted[i].launches + more.launches};
      warm_up_ms = 0;
    }
    keep_fastest(racing, plan.again, sweep_ms);
    std::reverse(racing.begin(), racing.end());
  }
  std::vector<LoadFigures> figures;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    figures.push_back({sweep_ms(i), meters[i].watts(), meters[i].clocks()});
  }
  return figures;
}

}  // namespace stencil_tune
