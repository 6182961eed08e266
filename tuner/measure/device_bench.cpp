#include "tuner/measure/device_bench.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/measure/load_race.hpp"
#include "tuner/measure/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>

namespace stencil_tune {
namespace {

constexpr double kWarmUpMs = 120;    // fresh buffers ran 11 % slow in their first milliseconds (H200, 2026-11-21)
constexpr int kFewestSweeps = 12;    // in a sample of fused steps: with kFewestSamples of them, a run of 100 at least
constexpr double kRaceSliceMs = 8;   // for one finalist in one round
constexpr int kCheckedLaunches = 8;  // for a finalist, after the race

DeviceResult failed(const Error& error) {
  DeviceResult result;
  result.outcome = outcome_of(error.code());
  result.message = error.what();
  return result;
}

/// Repeated launches of one candidate, `count` between two events.
///
/// After a sample of fused steps the GPU rests for as long as the sample took. In f64 they draw more than its power cap
/// allows for longer than some tenths of a second (H200, 2026-11-22: 700 W, clocks down from 1980 to 1470 MHz): without
/// rests a candidate's rate would tell how hot the ones before it ran.
class Sampler {
 public:
  Sampler(Driver& driver, CandidateOnDevice& candidate, CUstream_st* stream)
      : candidate_(&candidate), watch_(driver, stream), sweeps_(candidate.sweeps()) {
    const int period = candidate.period();
    const double first = watch_.time([&] { candidate.launch(1); });
    if (launches_per_sample(first, period) == 1) return;
    candidate.launch(period);
    const double once = watch_.time([&] { candidate.launch(period); }) / period;
    count_ = launches_per_sample(once, period);
    while (count_ * sweeps_ < kFewestSweeps && sweeps_ > 1) count_ += period;
  }

  Sample take() const {
    return take_while([] {});
  }

  /// `look` runs while the device is at work: an untimed sample, since the look may outlast it.
  template <class Look>
  Sample take_while(const Look& look) const {
    const double elapsed = watch_.time([&] {
      candidate_->launch(count_);
      look();
    });
    if (sweeps_ > 1) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(elapsed));
    return {elapsed / count_ / sweeps_, elapsed};
  }

 private:
  CandidateOnDevice* candidate_;
  Stopwatch watch_;
  int count_ = 1;
  int sweeps_;  // sweeps of a launch: a sample is the time of one
};

void note_sharpness(CandidateOnDevice& candidate, DeviceResult& result) {
  Sharpness sharpness = candidate.sharpness();
  result.sharpness = sharpness.share;
  result.sharpness_note = std::move(sharpness.note);
}

/// Under load, where that was measured.
std::vector<std::size_t> fastest_first(const std::vector<DeviceResult>& results) {
  const auto time = [&](std::size_t i) {
    const DeviceResult& result = results[i];
    return result.sustained_ms > 0 ? result.sustained_ms : result.timing.median_ms;
  };
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return time(a) < time(b); });
  return order;
}

bool enough(const std::vector<std::vector<double>>& samples) {
  return std::all_of(samples.begin(), samples.end(),
                     [](const auto& of_one) { return std::ssize(of_one) >= kFewestSamples; });
}

}  // namespace

Outcome outcome_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::device_lost:
    case ErrorCode::no_device:
      return Outcome::device_lost;
    case ErrorCode::timeout:
      return Outcome::timeout;
    case ErrorCode::exceeds_device_memory:
      return Outcome::exceeds_limits;
    default:
      return Outcome::launch_failed;
  }
}

DeviceBench::DeviceBench(Driver& driver, const DeviceFacts& device, const Subject& subject, std::uint64_t seed,
                         std::unique_ptr<GpuSensors> sensors)
    : driver_(driver),
      device_(device),
      context_(driver, device.ordinal),
      stream_(driver),
      sensors_(std::move(sensors)),
      copies_(driver, device.architecture, device.multiprocessors, stream_.get()),
      subject_(subject.on_device(driver, device, seed, stream_.get())) {}

DeviceSession DeviceBench::measure_session() {
  DeviceSession session;
  session.device = device_;
  session.device.free_bytes = driver_.free_memory();
  const SubjectOnDevice::CopyBuffers buffers = subject_->copy_buffers();
  session.fits_in_l2 = 2 * buffers.bytes <= device_.l2_bytes;
  subject_->fill_for_timing();
  copies_.warm_up(buffers.a, buffers.b, buffers.bytes, kWarmUpMs);
  session.ceiling_gbs = copies_.measure_best(buffers.a, buffers.b, buffers.bytes);
  stream_.synchronize();
  return session;
}

DeviceResult DeviceBench::run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) {
  try {
    const auto candidate = subject_->load(code, kernel);
    DeviceResult result = judge(*candidate, plan);
    stream_.synchronize();
    return result;
  } catch (const Error& error) {
    return failed(error);
  }
}

DeviceResult DeviceBench::judge(CandidateOnDevice& candidate, const MeasurePlan& plan) {
  DeviceResult result;
  if (std::optional<std::string> limit = candidate.exceeded_limit()) {
    result.outcome = Outcome::exceeds_limits;
    result.message = *limit;
    return result;
  }
  result.occupancy = candidate.occupancy();
  if (std::optional<std::string> wrong = candidate.verify()) {
    result.outcome = Outcome::wrong_result;
    result.message = *wrong;
    return result;
  }
  note_sharpness(candidate, result);
  const Measurement measured = time_steps(candidate, plan);
  result.timing = measured.timing;
  result.dropped = measured.dropped;
  return result;
}

Measurement DeviceBench::time_steps(CandidateOnDevice& candidate, const MeasurePlan& plan) {
  subject_->fill_for_timing();
  const Sampler sampler(driver_, candidate, stream_.get());
  return measure(plan, [&] { return sampler.take(); });
}

std::vector<DeviceResult> DeviceBench::race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) {
  Candidates candidates;
  std::vector<DeviceResult> results(finalists.size());
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    candidates.push_back(subject_->load(finalists[i].first, finalists[i].second));
    if (auto limit = candidates.back()->exceeded_limit()) throw Error(ErrorCode::launch_failed, *limit);
    results[i].occupancy = candidates.back()->occupancy();
    results[i].raced = true;
  }
  subject_->fill_for_timing();
  race_in_bursts(candidates, plan.rounds, results);
  const std::size_t under_load = std::min(candidates.size(), static_cast<std::size_t>(std::max(0, plan.under_load)));
  if (under_load > 0) race_under_load(std::span(candidates).first(under_load), plan, results);
  CandidateOnDevice::Cells cells = CandidateOnDevice::Cells::all;
  for (const std::size_t i : fastest_first(results)) {
    if (std::optional<std::string> wrong = candidates[i]->verify_launches(kCheckedLaunches, cells)) {
      results[i].outcome = Outcome::wrong_result;
      results[i].message = *wrong;
    } else {
      note_sharpness(*candidates[i], results[i]);
      cells = CandidateOnDevice::Cells::some;
    }
  }
  return results;
}

void DeviceBench::race_in_bursts(const Candidates& candidates, int rounds, std::vector<DeviceResult>& results) {
  std::vector<Sampler> samplers;
  for (const auto& candidate : candidates) samplers.emplace_back(driver_, *candidate, stream_.get());
  std::vector<std::vector<double>> samples(candidates.size());
  for (int round = 0; round < rounds || !enough(samples); ++round) {
    for (std::size_t i = 0; i < samplers.size(); ++i) {
      // The first after another kernel finds other data in the caches: it only shows the clocks.
      samplers[i].take_while([&] {
        if (sensors_) results[i].clocks = slower(results[i].clocks, sensors_->read());
      });
      for (double spent = 0; spent < kRaceSliceMs;) {
        const Sample sample = samplers[i].take();
        samples[i].push_back(sample.launch_ms);
        spent += std::max(sample.elapsed_ms, 1e-3);
      }
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) results[i].timing = summarise(samples[i]);
}

void DeviceBench::race_under_load(std::span<const std::unique_ptr<CandidateOnDevice>> candidates, const RacePlan& plan,
                                  std::vector<DeviceResult>& results) {
  std::vector<LoadRunner> runners;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    CandidateOnDevice& candidate = *candidates[i];
    const int sweeps = candidate.sweeps();
    runners.push_back({[&candidate](int count) { candidate.launch(count); }, results[i].timing.median_ms * sweeps,
                       candidate.period(), sweeps});
  }
  const auto figures = stencil_tune::race_under_load(driver_, stream_.get(), runners, plan, sensors_.get());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    results[i].sustained_ms = figures[i].sweep_ms;
    results[i].watts = figures[i].watts;
    results[i].clocks = slower(results[i].clocks, figures[i].clocks);
  }
  stream_.synchronize();
}

bool DeviceBench::usable() {
  try {
    driver_.synchronize_context();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace stencil_tune
