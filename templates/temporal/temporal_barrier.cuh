// How the warps of a temporal block wait for each other from step to step.
#pragma once

#include "stencil_tune/temporal/temporal_tile.cuh"

namespace stencil_tune {

/// What a warp publishes or passes on in a step, others read in a later one. Either all warps meet before each step:
///
///     warp 0   publish . . . update . . . |wait|   publish . . .
///     warp 1   publish . . update . . . . |wait|   publish . . .
///
/// or the barrier is split. A warp arrives when its own cells are published and it has read those of others. It waits
/// for the others when its next step begins. One warp may then update its last level while another is in the next step:
///
///     warp 0   publish, arrive . . . update . . . |wait| publish, arrive . . .
///     warp 1   publish, arrive . . update . . |wait| publish, arrive . . .
///
/// Arithmetic needs no barrier, and the compiler may move all of that update before the arrival: then the others wait for it
/// after all. A branch that is never taken pins it where it is written.
///
/// With a split barrier, planes that are passed on are taken a step later: they are complete after the warp has
/// arrived.
template <class S, class T>
struct StepBarrier {
  using Shape = TemporalShape<S, T>;

  static constexpr bool kNeeded = T::kExchanges || T::kGroups > 1;
  static constexpr bool kSplit = kNeeded && T::kBarrier != StepBarrierKind::meet;
  static constexpr int kBytes = kSplit ? 16 : 0;  ///< bytes of shared memory

  Mbarrier* arrived;  ///< counts the threads
  int parity = 1;     ///< that of the phase that is awaited next; the phase before the first counts as ended

  STENCIL_DEVICE explicit StepBarrier(int first_byte)
      : arrived(reinterpret_cast<Mbarrier*>(shared_memory() + first_byte)) {}

  /// All threads call it, after they have cleared the cells that others read in the first step.
  STENCIL_DEVICE void start() const {
    if constexpr (kSplit) {
      constexpr int kThreads = T::kGroups * Shape::kWarps * 32;
      if (thread_x() == 0 && thread_y() == 0 && thread_z() == 0) init_mbarrier(arrived, kThreads);
      barrier();
    }
  }

  /// Before the block walks again.
  STENCIL_DEVICE void end_mbarriers() const {
    if (kSplit && thread_x() == 0 && thread_y() == 0 && thread_z() == 0) end_mbarrier(arrived);
  }

  /// Before a step.
  STENCIL_DEVICE void await() {
    if constexpr (kSplit) {
      warp_wait_phase(arrived, parity);
      parity ^= 1;
    } else if constexpr (kNeeded) {
      barrier();
    }
  }

  /// In a step: the warp has read what others published before, and published what they read in the next step. never: false,
  /// which the compiler cannot know.
  STENCIL_DEVICE void arrive(bool never = false) const {
    if constexpr (kSplit) warp_arrive(arrived);
    if constexpr (T::kBarrier == StepBarrierKind::pinned) keep_behind(never);
  }
};

/// Stands in where warps never wait for each other.
struct NoBarrier {
  static constexpr int kBytes = 0;
  STENCIL_DEVICE explicit NoBarrier(int) {}
  STENCIL_DEVICE void end_mbarriers() const {}
};

}  // namespace stencil_tune
