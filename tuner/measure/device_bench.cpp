#include "tuner/measure/device_bench.hpp"

#include "generator/candidates/family.hpp"
#include "generator/stencil/describe.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/measure/load_race.hpp"
#include "tuner/measure/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace stencil_tune {
namespace {

constexpr double kWarmUpMs = 120;    // fresh buffers ran 11 % slow in their first milliseconds (H200, 2026-11-21)
constexpr int kFewestSweeps = 12;    // of a sample of fused steps: with kFewestSamples of them, a run of 100 at least
constexpr double kRaceSliceMs = 8;   // of one finalist in one round
constexpr int kCheckedLaunches = 8;  // of a finalist, after the race

/// Refused before any allocation, so that the message can say what all fields need together.
const Problem& require_fit(Driver& driver, const DeviceFacts& device, const Problem& problem) {
  require_memory(problem, driver.free_memory(), device.memory_bytes);
  if (updated_box(problem).cells() == 0) {
    throw Error(ErrorCode::nothing_to_update, "boundary hold keeps every cell of a " + to_string(problem.extents) +
                                                  " grid (layers: " + held_text(problem) + "); take a larger one");
  }
  return problem;
}

std::vector<double> default_coefficients(const Stencil& stencil) {
  std::vector<double> values;
  for (const Coefficient& coefficient : stencil.coefficients) values.push_back(coefficient.value);
  return values;
}

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
  Sampler(Driver& driver, const Launcher& candidate, Launcher::Repeated steps, CUstream_st* stream)
      : candidate_(candidate), steps_(std::move(steps)), stream_(stream), watch_(driver, stream) {
    const int period = static_cast<int>(steps_.arguments.size());
    sweeps_ = sweeps_per_launch(candidate.tuning());
    const double first = watch_.time([&] { candidate_.launch(steps_, 1, stream_); });
    if (launches_per_sample(first, period) == 1) return;
    candidate_.launch(steps_, period, stream_);
    const double once = watch_.time([&] { candidate_.launch(steps_, period, stream_); }) / period;
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
      candidate_.launch(steps_, count_, stream_);
      look();
    });
    if (sweeps_ > 1) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(elapsed));
    return {elapsed / count_ / sweeps_, elapsed};
  }

 private:
  const Launcher& candidate_;
  Launcher::Repeated steps_;
  CUstream_st* stream_;
  Stopwatch watch_;
  int count_ = 1;
  int sweeps_ = 1;  // of a launch: a sample is the time of one
};

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

DeviceBench::DeviceBench(Driver& driver, const DeviceFacts& device, const Problem& problem,
                         const WorkerOptions& options, std::unique_ptr<GpuSensors> sensors)
    : driver_(driver),
      device_(device),
      problem_(problem),
      context_(driver, device.ordinal),
      stream_(driver),
      coefficients_(default_coefficients(problem.stencil)),
      fields_(driver, require_fit(driver, device, problem), problem.allocated_cells()),
      sensors_(std::move(sensors)),
      copies_(driver, device.architecture, device.multiprocessors, stream_.get()),
      verification_(driver, device.architecture, device.limits, problem, fields_, options.seed, stream_.get()) {}

DeviceSession DeviceBench::measure_session() {
  DeviceSession session;
  session.device = device_;
  session.device.free_bytes = driver_.free_memory();
  session.fits_in_l2 = 2 * problem_.field_bytes() <= device_.l2_bytes;
  const DevicePointer a =
      fields_.field(problem_.facts.inputs.empty() ? problem_.facts.outputs.front() : problem_.facts.inputs.front());
  const DevicePointer b = fields_.field(problem_.facts.outputs.front());
  verification_.fill_for_timing();
  copies_.warm_up(a, b, problem_.field_bytes(), kWarmUpMs);
  session.ceiling_gbs = copies_.measure_best(a, b, problem_.field_bytes());
  stream_.synchronize();
  return session;
}

DeviceResult DeviceBench::run(const Tuning& tuning, const CompiledKernel& kernel, const MeasurePlan& plan) {
  try {
    Launcher candidate(driver_, tuning, kernel);
    DeviceResult result = judge(candidate, plan);
    stream_.synchronize();
    return result;
  } catch (const Error& error) {
    return failed(error);
  }
}

DeviceResult DeviceBench::judge(Launcher& candidate, const MeasurePlan& plan) {
  DeviceResult result;
  if (std::optional<std::string> limit = candidate.exceeded_limit(problem_)) {
    result.outcome = Outcome::exceeds_limits;
    result.message = *limit;
    return result;
  }
  result.occupancy = candidate.occupancy(problem_, device_.limits);
  if (std::optional<std::string> wrong = verification_.verify(candidate)) {
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

void DeviceBench::note_sharpness(const Launcher& candidate, DeviceResult& result) {
  Sharpness sharpness = verification_.sharpness(candidate);
  result.sharpness = sharpness.share;
  result.sharpness_note = std::move(sharpness.note);
}

Measurement DeviceBench::time_steps(const Launcher& candidate, const MeasurePlan& plan) {
  verification_.fill_for_timing();
  const Sampler sampler(driver_, candidate, candidate.prepare(problem_, fields_, coefficients_), stream_.get());
  return measure(plan, [&] { return sampler.take(); });
}

std::vector<DeviceResult> DeviceBench::race(const std::vector<std::pair<Tuning, CompiledKernel>>& finalists,
                                            const RacePlan& plan) {
  std::vector<Launcher> candidates;
  std::vector<DeviceResult> results(finalists.size());
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    candidates.emplace_back(driver_, finalists[i].first, finalists[i].second);
    if (auto limit = candidates.back().exceeded_limit(problem_)) throw Error(ErrorCode::launch_failed, *limit);
    results[i].occupancy = candidates.back().occupancy(problem_, device_.limits);
    results[i].raced = true;
  }
  verification_.fill_for_timing();
  race_in_bursts(candidates, plan.rounds, results);
  const std::size_t under_load = std::min(candidates.size(), static_cast<std::size_t>(std::max(0, plan.under_load)));
  if (under_load > 0) race_under_load(std::span(candidates).first(under_load), plan, results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (std::optional<std::string> wrong = verification_.verify_launches(candidates[i], kCheckedLaunches)) {
      results[i].outcome = Outcome::wrong_result;
      results[i].message = *wrong;
    } else {
      note_sharpness(candidates[i], results[i]);
    }
  }
  return results;
}

void DeviceBench::race_in_bursts(const std::vector<Launcher>& candidates, int rounds,
                                 std::vector<DeviceResult>& results) {
  std::vector<Sampler> samplers;
  for (const Launcher& candidate : candidates) {
    samplers.emplace_back(driver_, candidate, candidate.prepare(problem_, fields_, coefficients_), stream_.get());
  }
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

void DeviceBench::race_under_load(std::span<const Launcher> candidates, const RacePlan& plan,
                                  std::vector<DeviceResult>& results) {
  std::vector<LoadRunner> runners;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Launcher& candidate = candidates[i];
    const int sweeps = sweeps_per_launch(candidate.tuning());
    Launcher::Repeated steps = candidate.prepare(problem_, fields_, coefficients_);
    const int period = static_cast<int>(steps.arguments.size());
    const auto launch = [this, &candidate, steps = std::move(steps)](int count) {
      candidate.launch(steps, count, stream_.get());
    };
    runners.push_back({launch, results[i].timing.median_ms * sweeps, period, sweeps});
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
