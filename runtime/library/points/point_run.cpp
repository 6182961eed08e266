#include "runtime/library/points/point_run.hpp"

#include "stencil_tune/error.hpp"
#include "templates/points/point_arguments.cuh"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

namespace stencil_tune {

namespace {

void check_address(const Kernel::State& kernel, std::string_view what, const void* address) {
  if (address == nullptr) {
    throw Error(ErrorCode::invalid_argument, fmt::format("PointData::{} is a null pointer; the points need it", what));
  }
  if (kernel.driver->reaches(kernel.device, reinterpret_cast<DevicePointer>(address))) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("PointData::{} is no memory that GPU {} reaches", what, kernel.device));
}

}  // namespace

PointRun::PointRun(const Kernel::State& kernel, const Points::State& points, const PointData& data, std::int64_t steps,
                   CUstream_st* stream)
    : kernel_(kernel),
      points_(points),
      data_(data),
      stream_(stream),
      value_bytes_(kernel.step.type == ElementType::f64 ? sizeof(double) : sizeof(float)) {
  if (points.kernel.get() != &kernel) {
    throw Error(ErrorCode::invalid_argument, "the points were placed for another kernel: call Kernel::place_points");
  }
  if (kernel.driver->current_context_id() != points.context_id) {
    throw Error(ErrorCode::invalid_argument,
                "the points were placed in another CUDA context: call Kernel::place_points in this one");
  }
  if (steps > 0 && points.sources > 0) check_address(kernel, "series", data.series);
  if (steps / points.every > 0 && points.receivers > 0) check_address(kernel, "records", data.records);
}

void PointRun::launch(std::size_t part, std::size_t kernel, const StageLaunch& launch) {
  const PartPoints& points = points_.parts[part];
  if (points.fused.empty()) return launch.run();
  launch_fused(points, kernel, kernel_.plan[part].steps, launch);
}

void PointRun::finish_pass(std::size_t part, std::size_t pass, std::span<void* const> buffers) {
  const bool is_last = pass + 1 >= points_.sources_of.size();
  if (points_.parts[part].fused.empty() && !is_last) launch_points(pass, buffers, {});
}

void PointRun::finish(std::size_t part, std::span<void* const> before, std::span<void* const> after) {
  const PartPoints& points = points_.parts[part];
  const int steps = kernel_.plan[part].steps;
  const bool records = points_.receivers > 0 && recorded_steps(steps) != 0;
  if (points.fused.empty()) {
    launch_points(points_.sources_of.size() - 1, before, records ? after : std::span<void* const>());
  }
  step_ += steps;
  if (!points.fused.empty() && ++waiting_.launches == points.launches_between_sums) sum_captured();
}

const void* PointRun::series_at(std::int64_t step) const {
  return static_cast<const std::byte*>(data_.series) + static_cast<std::size_t>(step * points_.sources) * value_bytes_;
}

void* PointRun::record_at(std::int64_t record) const {
  return static_cast<std::byte*>(data_.records) + static_cast<std::size_t>(record * points_.receivers) * value_bytes_;
}

std::int64_t PointRun::records_before(std::int64_t step) const { return step / points_.every; }

/// Bit t: the state after the t-th of the next steps is recorded.
unsigned PointRun::recorded_steps(int steps) const {
  unsigned recorded = 0;
  for (int step = 0; step < steps; ++step) {
    if ((step_ + step + 1) % points_.every == 0) recorded |= 1U << step;
  }
  return recorded;
}

void PointRun::launch_fused(const PartPoints& part, std::size_t kernel, int steps, const StageLaunch& launch) {
  if (waiting_.launches == 0) waiting_ = {&part, step_, 0};
  const FusedPoints& fused = part.fused[kernel];
  if (fused.kernel == nullptr) return launch.run();
  PointTables<double> tables = fused.tables;
  tables.captured = reinterpret_cast<double*>(captured_at(part, step_) + fused.first_captured * value_bytes_);
  tables.series = static_cast<const double*>(data_.series != nullptr ? series_at(step_) : nullptr);
  tables.recorded = recorded_steps(steps);
  std::array<std::byte, kMostTableBytes> more{};
  std::memcpy(more.data(), &tables, sizeof(tables));
  launch.run(module_of(*fused.kernel), std::span(more).first(fused.table_bytes));
}

/// The stage's sources; then the receivers, unless `after` is empty.
void PointRun::launch_points(std::size_t stage, std::span<void* const> before, std::span<void* const> after) const {
  const StageSources& sources = points_.sources_of[stage];
  StepPoints<std::byte, double> argument{};
  std::byte** to = argument.fields;
  const auto launch = [&] {
    const std::int64_t apart =
        argument.sources.count - argument.sources.shared + argument.receivers.count - argument.receivers.shared;
    if (argument.sources.count + argument.receivers.count > 0)
      launch_alone(*points_.step, kPointThreads + apart, 1, argument);
  };
  for (const int field : sources.fields) *to++ = static_cast<std::byte*>(before[static_cast<std::size_t>(field)]);
  argument.sources = sources.lists;
  if (sources.lists.count > 0) argument.sources.series = static_cast<const double*>(series_at(step_));
  if (!after.empty()) {
    if (points_.receivers_apart) {
      launch();
      argument.sources = {};
    }
    for (const int field : points_.recorded.fields) {
      *to++ = static_cast<std::byte*>(after[static_cast<std::size_t>(field)]);
    }
    argument.receivers = points_.recorded.lists;
    argument.receivers.record = static_cast<double*>(record_at(records_before(step_)));
  }
  launch();
}

/// Where the launch that waits longest, and those after it, capture the state after that step of the call.
DevicePointer PointRun::captured_at(const PartPoints& part, std::int64_t step) const {
  const auto steps = static_cast<std::size_t>(step - waiting_.first_step);
  return part.captured + steps * part.captured_cells * value_bytes_;
}

void PointRun::sum_captured() {
  if (waiting_.launches == 0) return;
  const PartPoints& part = *waiting_.part;
  const std::int64_t first = records_before(waiting_.first_step);
  const std::int64_t records = records_before(step_) - first;
  if (records > 0 && points_.receivers > 0) {
    const std::int64_t first_recorded = (first + 1) * points_.every - 1;
    const SumArguments<double> argument{.captured = reinterpret_cast<const double*>(captured_at(part, first_recorded)),
                                        .number = points_.recorded.lists.number,
                                        .first = points_.recorded.lists.first,
                                        .places = reinterpret_cast<const unsigned*>(part.places),
                                        .weight = points_.recorded.lists.weight,
                                        .records = static_cast<double*>(record_at(first)),
                                        .count = points_.receivers,
                                        .stride = static_cast<long long>(part.captured_cells) * points_.every};
    launch_alone(*points_.sum, points_.receivers, records, argument);
  }
  waiting_ = {};
}

const Module& PointRun::module_of(const LoadedKernel& kernel) const {
  const Module* module = kernel.find(points_.context_id);
  if (module == nullptr) refuse_context(true);
  return *module;
}

template <class Argument>
void PointRun::launch_alone(const LoadedKernel& kernel, std::int64_t threads, std::int64_t records,
                            const Argument& argument) const {
  const LaunchGeometry geometry{
      .grid = {static_cast<unsigned>((threads + kPointThreads - 1) / kPointThreads), static_cast<unsigned>(records), 1},
      .block = {kPointThreads, 1, 1}};
  module_of(kernel).launch(geometry, std::as_bytes(std::span(&argument, 1)), stream_);
}

}  // namespace stencil_tune
