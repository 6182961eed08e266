// How the warps of a temporal block wait for each other from step to step.
#pragma once

#include "stencil_tune/temporal/temporal_tile.cuh"

namespace stencil_tune {

/// What a warp publishes or passes on in a step, others use in a later one. Either all warps meet before each step:
///
///     warp 0   publish . . . update . . . |wait|   publish . . .
///     warp 1   publish . . update . . . . |wait|   publish . . .
///
/// or a warp says that its cells are there and that it has read those of others, and waits for the others to have said so
/// when its next step begins. It may still update its last level when another is in the next step already:
///
///     warp 0   publish, arrive . . . update . . . |wait| publish, arrive . . .
///     warp 1   publish, arrive . . update . . |wait| publish, arrive . . .
///
/// What is passed on is complete at the end of a step, after the warp has arrived, so that it is taken a step later.
template <class S, class T>
struct StepBarrier {
  using Shape = TemporalShape<S, T>;

  static constexpr bool kNeeded = Shape::kExchanges || T::kGroups > 1;
  static constexpr bool kSplit = kNeeded && T::kSplitsBarrier;
  static constexpr int kBytes = kSplit ? 16 : 0;  ///< of shared memory

  CopyBarrier* arrived;  ///< counts the threads
  int parity = 1;        ///< of the phase that is awaited next; the phase before the first counts as ended

  STENCIL_DEVICE explicit StepBarrier(int first_byte)
      : arrived(reinterpret_cast<CopyBarrier*>(shared_memory() + first_byte)) {}

  /// All threads take part, after they have cleared what others read in the first step.
  STENCIL_DEVICE void start() const {
    if constexpr (kSplit) {
      constexpr int kThreads = T::kGroups * Shape::kWarps * 32;
      if (thread_x() == 0 && thread_y() == 0 && thread_z() == 0) init_copy_barrier(arrived, kThreads);
      barrier();
    }
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

  /// In a step: what others published or passed on before has been read, and what they read in the next is there.
  STENCIL_DEVICE void arrive() const {
    if constexpr (kSplit) warp_arrive(arrived);
  }
};

}  // namespace stencil_tune
