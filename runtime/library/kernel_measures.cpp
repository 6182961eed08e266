// Kernel::measure, and runs that look at what they measure.
#include "generator/stencil/measures.hpp"
#include "runtime/library/kernel_run.hpp"
#include "runtime/library/launch/measuring.hpp"
#include "runtime/library/launch/stage_launch.hpp"
#include "stencil_tune/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <vector>

namespace stencil_tune {
namespace {

const Measuring& measuring_of(const Kernel::State& state) {
  driver_of(state);
  if (!state.measuring) measured_stencil(state.step.stencil);  // which says what is missing
  return *state.measuring;
}

/// Numbers that a run brings to the host while the GPU goes on: those of a measurement are asked for once the next
/// steps are on their way.
class MeasuredRun {
 public:
  MeasuredRun(const Kernel::State& state, CUstream_st* stream, std::span<const double> coefficients)
      : driver_(*state.driver),
        measuring_(*state.measuring),
        context_(driver_.current_context_id()),
        stream_(stream),
        coefficients_(coefficients),
        scratch_(state.workspaces->more_of(stream)),
        numbers_(measuring_.count()) {
    copies_ = driver_.create_stream();
    for (CUevent_st*& event : measured_) event = driver_.create_event();
  }
  MeasuredRun(const MeasuredRun&) = delete;
  MeasuredRun& operator=(const MeasuredRun&) = delete;
  ~MeasuredRun() {
    for (CUevent_st* event : measured_) driver_.destroy_event(event);
    driver_.destroy_stream(copies_);
  }

  void measure(std::int64_t number, const Place& place, std::span<void* const> fields) {
    measuring_.run(driver_, context_, place, stream_, fields, coefficients_, scratch_, kept(number));
    driver_.record_event(measured_[slot(number)], stream_);
  }

  /// Waits for the measurement of that number, one of the last two.
  std::span<const double> wait_for(std::int64_t number) {
    driver_.wait_for_event(copies_, measured_[slot(number)]);
    driver_.copy_to_host(numbers_.data(), kept(number), numbers_.size() * sizeof(double), copies_);
    driver_.synchronize_stream(copies_);
    return numbers_;
  }

 private:
  static std::size_t slot(std::int64_t number) { return static_cast<std::size_t>(number % 2); }
  DevicePointer kept(std::int64_t number) const { return scratch_ + measuring_.kept_at(slot(number)); }

  Driver& driver_;
  const Measuring& measuring_;
  std::uint64_t context_;
  CUstream_st* stream_;
  std::span<const double> coefficients_;
  DevicePointer scratch_;
  std::vector<double> numbers_;
  CUstream_st* copies_ = nullptr;
  std::array<CUevent_st*, 2> measured_{};
};

}  // namespace

void Kernel::measure(CUstream_st* stream, Span<void* const> fields, double* numbers, Span<const double> coefficients,
                     const Place& place) const {
  const Measuring& measuring = measuring_of(*state_);
  for (const StageKernel& stage : state_->stages()) check_launch(*state_, stage, fields, coefficients);
  Driver& driver = *state_->driver;
  const auto to = reinterpret_cast<DevicePointer>(numbers);
  if (to == 0 || to % sizeof(double) != 0 || !driver.reaches(state_->device, to)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("what is measured goes to {} f64 numbers in memory that GPU {} reaches", measuring.count(),
                            state_->device));
  }
  measuring.run(driver, driver.current_context_id(), place, stream, fields, coefficients,
                state_->workspaces->more_of(stream), to);
}

std::int64_t Kernel::advance_until(const Until& until, CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                                   Span<const double> coefficients, const Place& place) const {
  measuring_of(*state_);
  check_advance(*state_, fields, steps, coefficients);
  if (until.every < 1 || !until.stop) {
    throw Error(ErrorCode::invalid_argument, "a run that measures says after how many steps, and when it stops");
  }
  MeasuredRun measured(*state_, stream, coefficients);
  KernelRun run(*state_, nullptr, place, stream, fields, coefficients);
  std::exception_ptr thrown;  // by who is asked: first the fields come to their places
  const auto stops_after = [&](std::int64_t steps_made, std::int64_t number) {
    const std::span<const double> numbers = measured.wait_for(number);
    try {
      return until.stop(steps_made, numbers);
    } catch (...) {
      thrown = std::current_exception();
      return true;
    }
  };
  std::int64_t made = 0;
  bool ends = false;
  for (std::int64_t number = 0; !ends; ++number) {
    const std::int64_t before = made, now = std::min(until.every, steps - made);
    if (now > 0) run.advance(now);
    made += now;
    Place here = place;
    here.step += made;
    measured.measure(number, here, run.buffers().first(fields.size()));
    ends = (number > 0 && stops_after(before, number - 1)) || made == steps;
    if (ends && !thrown) stops_after(made, number);
  }
  if (made > 0) run.leave(fields);
  if (thrown) std::rethrow_exception(thrown);
  return made;
}

}  // namespace stencil_tune
