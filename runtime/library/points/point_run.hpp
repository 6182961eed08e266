// One call of advance with points: what its launches are given, and what runs between them.
#pragma once

#include "runtime/library/launch/stage_launch.hpp"
#include "runtime/library/points/points_state.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace stencil_tune {

class PointRun {
 public:
  /// Throws Error(invalid_argument) for points of another kernel or context, missing addresses, or some that the GPU
  /// does not reach.
  PointRun(const Kernel::State& kernel, const Points::State& points, const PointData& data, std::int64_t steps,
           CUstream_st* stream);

  /// Whether the plan's part of that number can be made with points.
  bool takes(std::size_t part) const { return points_.parts[part].takes_part; }

  /// Before the launches of a round of the part, on whatever stream: what those of another one captured is summed up.
  void begin(std::size_t part) {
    if (waiting_.part != &points_.parts[part]) sum_captured();
  }

  /// A launch of the part's kernel, with the points of its steps where these are fused.
  void launch(std::size_t part, std::size_t kernel, const StageLaunch& launch);

  /// Adds the sources of a stage that is not the last.
  void finish_pass(std::size_t part, std::size_t pass, std::span<void* const> buffers);

  /// Adds the last stage's sources and records what the part's steps left; buffers change places in between. Fused
  /// steps have added theirs, and may be recorded later.
  void finish(std::size_t part, std::span<void* const> before, std::span<void* const> after);

  /// After the last launch, or the last one of a graph.
  void leave() { sum_captured(); }

  /// Rounds of so many steps after which the same launches follow again, where leave() was called before both.
  std::int64_t rounds_alike(int steps) const { return points_.every / std::gcd(points_.every, steps); }

  /// The same run on another stream, and back to what it made there.
  PointRun on(CUstream_st* stream) const {
    PointRun other(*this);
    other.stream_ = stream;
    return other;
  }
  void go_on_from(const PointRun& other) {
    step_ = other.step_;
    waiting_ = other.waiting_;
  }

 private:
  const void* series_at(std::int64_t step) const;
  void* record_at(std::int64_t record) const;
  DevicePointer captured_at(const PartPoints& part, std::int64_t step) const;
  std::int64_t records_before(std::int64_t step) const;
  unsigned recorded_steps(int steps) const;
  void launch_fused(const PartPoints& part, std::size_t kernel, int steps, const StageLaunch& launch);
  void launch_points(std::size_t stage, std::span<void* const> before, std::span<void* const> after) const;
  void sum_captured();
  const Module& module_of(const LoadedKernel& kernel) const;
  template <class Argument>
  void launch_alone(const LoadedKernel& kernel, std::int64_t threads, std::int64_t records,
                    const Argument& argument) const;

  const Kernel::State& kernel_;
  const Points::State& points_;
  const PointData data_;
  CUstream_st* stream_;
  std::size_t value_bytes_;
  std::int64_t step_ = 0;  ///< made in this call

  /// Launches whose captured cells are not summed up yet, all of one part.
  struct Waiting {
    const PartPoints* part = nullptr;
    std::int64_t first_step = 0;
    int launches = 0;
  };
  Waiting waiting_;
};

}  // namespace stencil_tune
