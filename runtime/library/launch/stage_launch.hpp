// One launch of a kernel that a Library found: what launch() and advance() have in common.
#pragma once

#include "runtime/library/kernel_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace stencil_tune {

/// The driver that runs the kernel. Throws Error(no_device) where it was looked up for a GPU by name.
Driver& driver_of(const Kernel::State& state);

/// All kernels of the part are loaded in the context.
bool is_loaded(const PlanPart& part, std::uint64_t context);

/// Throws Error(invalid_argument): the kernel is not loaded in the current context, or there is none.
[[noreturn]] void refuse_context(bool is_current);

/// Throws Error(invalid_argument) for addresses or coefficients that do not fit the stage.
void check_launch(const Kernel::State& state, const StageKernel& stage, std::span<void* const> fields,
                  std::span<const double> coefficients);

/// Kernel::launch_at() in the context that is current, whose id the caller has asked for.
void launch_step(const Kernel::State& state, std::uint64_t context, const Place& place, CUstream_st* stream,
                 std::span<void* const> fields, std::span<const double> coefficients, const std::optional<Box>& box);

/// The same into outputs that hold nothing yet. The fields that they become are copied there first, whole, where
/// boundary hold keeps layers: that is one copy, where those of the layers alone are up to six.
void launch_step_into_new(const Kernel::State& state, std::uint64_t context, CUstream_st* stream,
                          std::span<void* const> fields, std::span<const double> coefficients);

/// One launch of some cells. Everything given was checked.
struct StageLaunch {
  Driver& driver;
  std::uint64_t context;  ///< id of the current one: to ask the driver takes as long as much of a launch
  const StageKernel& stage;
  CUstream_st* stream;
  std::span<void* const> buffers;  ///< the fields' buffers, and spare ones
  std::span<const double> coefficients;
  const std::optional<Box>& box;
  const Place& place;

  void run() const;

  /// Another kernel of the same geometry, whose parameter goes on with `more`.
  void run(const Module& module, std::span<const std::byte> more) const;

 private:
  void run_meanwhile() const;
};

}  // namespace stencil_tune
