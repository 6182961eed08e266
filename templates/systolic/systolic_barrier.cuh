// How the warps of a systolic block wait for each other from batch to batch.
#pragma once

#include "stencil_tune/systolic/systolic_rings.cuh"

namespace stencil_tune {

/// What a warp gives in a batch, the next one takes in the batch behind it. Either all warps meet between two batches:
///
///     warp 0   take, complete, give, add . . . |wait|   take, complete . . .
///     warp 1   take, complete, give, add . . |wait  |   take, complete . . .
///
/// or the barrier is split. A warp arrives when it has taken and given the batch's last row, and waits for the others
/// when the next batch begins. One warp may then add its last row while another is in the next batch:
///
///     warp 0   take, complete, give, arrive . . . add . . . |wait| take, complete . . .
///     warp 1   take, complete, give, arrive . . add . . |wait| take, complete . . .
template <class S, class T>
struct SystolicBarrier {
  using Shape = SystolicShape<S, T>;

  int parity = 1;  ///< that of the phase that is awaited next; the phase before the first counts as ended

  /// Once a block, before all of its threads meet.
  STENCIL_DEVICE static void prepare() {
    if constexpr (T::kSplitsBarrier) {
      if (thread_x() == 0 && thread_z() == 0) init_mbarrier(arrived(), Shape::kThreads);
    }
  }

  STENCIL_DEVICE void arrive() const {
    if constexpr (T::kSplitsBarrier) warp_arrive(arrived());
  }
  STENCIL_DEVICE void await() {
    if constexpr (T::kSplitsBarrier) {
      warp_wait_phase(arrived(), parity);
      parity ^= 1;
    } else {
      barrier();
    }
  }

 private:
  STENCIL_DEVICE static Mbarrier* arrived() {
    return reinterpret_cast<Mbarrier*>(shared_memory() + SystolicLayout<S, T>::kSplitBarrier);
  }
};

}  // namespace stencil_tune
