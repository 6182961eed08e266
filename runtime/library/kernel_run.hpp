// A run of steps in pieces: Kernel::advance, or what does other work between its launches.
#pragma once

#include "runtime/library/kernel_state.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace stencil_tune {

class PointRun;

/// Throws Error(invalid_argument) for fields, steps or coefficients that no run of the kernel can have.
void check_advance(const Kernel::State& state, std::span<void* const> fields, std::int64_t steps,
                   std::span<const double> coefficients);

/// Kernel::advance_at() of arrays with such layers.
void advance_fields(const Kernel::State& state, RunLayers layers, const Place& place, CUstream_st* stream,
                    std::span<void*> fields, std::int64_t steps, std::span<const double> coefficients);

/// A launch in two parts, so that cells may still arrive while the first runs.
struct SplitLaunch {
  /// For each part of the plan: cells of its first launch that need nothing of what arrives; may be empty.
  std::span<const Box> early;
  std::function<void()> arrive;  ///< after them: what is launched later comes after the arrival
};

/// Everything that it is given was checked, and outlives it. Asynchronous on the stream.
class KernelRun {
 public:
  /// points: null for none. Held layers are copied into a buffer before the first launch that stores to it.
  /// histories: steps are made one by one where there are any.
  KernelRun(const Kernel::State& state, PointRun* points, const Place& place, CUstream_st* stream,
            std::span<void* const> fields, std::span<const double> coefficients, RunLayers layers = RunLayers::differ,
            std::span<const History> histories = {});

  /// The steps that come next, by the kernels of the plan, those that fuse most first. split: of the first launch; with
  /// points it waits for the arrival as a whole.
  void advance(std::int64_t steps, const SplitLaunch* split = nullptr);

  /// The buffer that holds each field once the stream gets there, then the spare ones.
  std::span<void* const> buffers() const { return buffers_; }

  /// After the last step: copies what stands in spare buffers to the caller's, and says which field stands where.
  void leave(std::span<void*> fields);

 private:
  bool takes_part(const PlanPart& part, std::size_t number) const;
  void turn_pages();
  void launch(const PlanPart& part, std::size_t number, const SplitLaunch* split);
  std::int64_t launch_as_graphs(const PlanPart& part, std::size_t number, std::int64_t rounds);
  std::int64_t rounds_of_graph(const PlanPart& part) const;
  bool is_captured_anew(const PlanPart& part) const;  ///< parameters differ from graph to graph
  void launch_rounds(const PlanPart& part, std::size_t number, std::int64_t rounds);
  void launch_zones(const PlanPart& part, std::size_t number, std::size_t first, std::size_t count);
  void fill_layers(const StageKernel& stage, CUstream_st* stream);
  void launch_stage(const StageKernel& stage, const std::optional<Box>& box) const;
  void launch_kernel(const PlanPart& part, std::size_t number, std::size_t kernel, CUstream_st* stream);
  void launch_split(const StageKernel& stage, const Box& early, const SplitLaunch& split) const;

  const Kernel::State& state_;
  std::uint64_t context_;  ///< id of the one that is current for all of the run
  PointRun* points_;
  Place here_;
  CUstream_st* stream_;
  std::span<const double> coefficients_;
  std::vector<void*> spares_;
  SideStreams sides_;
  std::vector<void*> buffers_;
  std::span<const History> histories_;
  std::vector<std::uintptr_t> pages_;  ///< for each history: the array of the next step
  std::vector<int> carried_;           ///< for each of buffers_: the field whose held layers it carries; -1 for none

  // Both before they last changed places: members, so that no launch allocates.
  std::vector<void*> buffers_before_;
  std::vector<int> carried_before_;
};

}  // namespace stencil_tune
