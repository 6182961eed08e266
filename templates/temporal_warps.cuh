// How the warps of a temporal block keep in step with each other.
#pragma once

#include "stencil_tune/temporal_edges.cuh"

namespace stencil_tune {

/// What a step leaves in shared memory is read in the next step and overwritten in the one after it: rows for the warps
/// above and below, planes for the same warp of the next group. So warps that exchange something must be in the same step
/// or in neighbouring ones.
///
/// One barrier of the block a step keeps all warps together. In pairs a warp waits for those alone that it has a line to:
///
///             group 0     group 1     group 2       o  two barriers, which take turns; each counts the warps at the
///   warp 0       o ---------- o ---------- o           other ends of the warp's lines that have ended a step
///                |            |            |
///   warp 1       o ---------- o ---------- o
///
/// so that warps d lines from each other may be d steps apart, and need not all wait while one waits for its planes.
///
/// Why two: while a warp waits until all have ended step s, the first of them may end step s + 1, which is another barrier's.
/// None can end step s + 2 before the warp itself has ended s + 1.
template <class S, class T>
struct WarpsInStep {
  using Shape = TemporalShape<S, T>;
  using Edges = EdgeRows<S, T>;

  static constexpr bool kRowsPass = Shape::kExchanges;   ///< between the warps of a group
  static constexpr bool kPlanesPass = T::kGroups > 1;    ///< between groups
  static constexpr bool kMeet = kRowsPass || kPlanesPass;

  CopyBarrier* own;     ///< the warp's two
  CopyBarrier* theirs;  ///< the two of the warp at the other end of the lane's line: a lane a line
  bool has_line = false;
  int step = 0;

  /// When all threads have written what is read in the first step.
  STENCIL_DEVICE explicit WarpsInStep([[maybe_unused]] const TemporalTile<S, T>& tile) {
    if constexpr (kMeet && T::kInPairs) {
      const int warp = thread_y(), lane = thread_x();
      own = barriers_of(tile.group, warp);
      const int other_warp = warp + (lane == 0 ? -1 : lane == 1 ? 1 : 0);
      const int other_group = tile.group + (lane == 2 ? -1 : lane == 3 ? 1 : 0);
      theirs = barriers_of(other_group, other_warp);
      has_line = lane < 4 && (lane < 2 ? kRowsPass : kPlanesPass) && is_there(other_group, other_warp) != 0;
      const int lines = (kRowsPass ? is_there(tile.group, warp - 1) + is_there(tile.group, warp + 1) : 0) +
                        (kPlanesPass ? is_there(tile.group - 1, warp) + is_there(tile.group + 1, warp) : 0);
      if (lane == 0) {
        init_copy_barrier(own, lines);
        init_copy_barrier(own + 1, lines);
      }
      barrier();
    }
  }

  /// Before a step: those that the warp exchanges something with have ended the step before. Before the first they have:
  /// the phase before a barrier's first counts as ended.
  STENCIL_DEVICE void await() const {
    if constexpr (kMeet && T::kInPairs) {
      warp_wait_phase(own + ((step + 1) & 1), (step - 1) >> 1 & 1);
    } else if constexpr (kMeet) {
      barrier();
    }
  }

  /// The warp has read and written all that it reads and writes in this step.
  STENCIL_DEVICE void end_step() {
    if constexpr (kMeet && T::kInPairs) {
      warp_barrier();
      arrive_where(has_line, theirs + (step & 1));
      ++step;
    }
  }

 private:
  STENCIL_DEVICE static int is_there(int group, int warp) {
    return group >= 0 && group < T::kGroups && warp >= 0 && warp < T::kBlockY ? 1 : 0;
  }
  STENCIL_DEVICE static CopyBarrier* barriers_of(int group, int warp) {
    return Edges::barriers() + (Edges::kBarriers + 2 * (group * T::kBlockY + warp));
  }
};

}  // namespace stencil_tune
