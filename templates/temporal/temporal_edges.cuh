// The cells that warps of a temporal block exchange in shared memory, and those that blocks of a cluster send each other.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/temporal/temporal_input.cuh"
#include "stencil_tune/temporal/temporal_shared_row.cuh"

namespace stencil_tune {

/// Where a warp stands among the warps of a tile: at the seam between its block and the next one of the cluster, or not.
/// Members also where a block has its tile to itself and both are false: as constants they make other machine code, and
/// kernels were tuned with this one.
struct SeamSides {
  bool above, below;      ///< the next row above, below the warp is another block's

  STENCIL_DEVICE SeamSides(int rank, int blocks, int warp, int warps)
      : above(rank > 0 && warp == 0), below(rank < blocks - 1 && warp == warps - 1) {}
};

/// A warp's side of the seam between its block and the next one of the cluster, above or below. At a seam a warp sends its
/// rows to the other block, where they stand like those of one more warp:
///
///     block 0    warps 0 1 .. n-1   and the first rows of block 1's warp 0     <--+     each word counts towards an
///                             |                                                  |     mbarrier of the block that
///                             +---------------------------+                      |     receives it
///                                                         v                      |
///     block 1    warps 0 1 .. n-1   and the last rows of block 0's warp n-1      |
///                      |                                                         |
///                      +---------------------------------------------------------+
///
/// All levels' rows are sent once the last level has read its own, and awaited when the next step begins. The last
/// level's update lies between. A block that sends step n has received its neighbour's rows of step n - 1, so that the
/// neighbour has read all rows of step n - 2. Neither block is further ahead than a step: the slots that are enough
/// for warps are enough for blocks, and two mbarriers are, for even and odd steps.
///
/// A warp is at one seam at most: blocks of a cluster have two warps or more, one below the other. Warps side by side
/// share an mbarrier, and the first of them expects the bytes of all.
struct Seam : SeamSides {
  PeerAddress rows;       ///< where slot 0 of the lane's cells stands in that block ...
  PeerAddress counters;   ///< ... and its two mbarriers that count what is sent there
  Mbarrier* received;     ///< the two of this block that count what that one sends

  using SeamSides::SeamSides;

  STENCIL_DEVICE bool here() const { return above || below; }

  /// Before the cluster's blocks meet. place: what `rows` is in this block; barriers: two for rows from above, two for
  /// rows from below; bytes: received in a step.
  STENCIL_DEVICE void start(int rank, const void* place, Mbarrier* barriers, int bytes) {
    if (!here()) return;
    const auto peer = static_cast<unsigned>(above ? rank - 1 : rank + 1);
    rows = peer_address(place, peer);
    counters = peer_address(barriers + (above ? 2 : 0), peer);
    received = barriers + (above ? 0 : 2);
    if (thread_x() != 0) return;
    init_mbarrier(received, 1);
    init_mbarrier(received + 1, 1);
    fence_mbarrier_init();
    arrive_expect_tx(received, bytes);
  }

  /// Before the block walks again.
  STENCIL_DEVICE void end_mbarriers() const {
    if (!here() || thread_x() != 0) return;
    end_mbarrier(received);
    end_mbarrier(received + 1);
  }

  /// Waits for the rows of the step before `step`. One of the waiting warps then expects the bytes of the step after
  /// it. Before step 0 none were sent: the phase before an mbarrier's first counts as ended.
  STENCIL_DEVICE void await(int step, bool expects, int bytes) const {
    if (!any_in_warp(here())) return;
    Mbarrier* counter = received + ((step + 1) & 1);
    warp_wait_phase(counter, (step - 1) >> 1 & 1);
    if (expects) warp_arrive_expect_tx(counter, bytes);
  }

  /// The mbarrier that counts the rows of the step.
  STENCIL_DEVICE PeerAddress counter(int step) const {
    return counters + (step & 1) * static_cast<int>(sizeof(Mbarrier));
  }
};

/// Rows at the edges of a warp's part of the tile, published for the warps above and below it. Where there are warps
/// beside it, the ends of the rows between them are published too:
///
///     rows of a warp   0          whole, for the warp above
///                      1 .. n-2   the ends of each thread's part of them, for the thread beside it
///                      n-1        whole, for the warp below
///
/// A plane's cells are published at the end of the step before the first that reads them, and stay for as many steps as
/// they are read. There is one slot more than planes in use, so that warps wait for each other only once a step.
///
/// The blocks of a cluster share a tile, and exchange the rows at its seams: they stand where one more warp's would.
template <class S, class T>
struct EdgeRows {
  using Shape = TemporalShape<S, T>;
  using Row = SharedRow<S, T>;
  using Ends = SharedEnds<S, T>;
  using Value = typename S::Value;

  static constexpr int kSlots = T::kLastExchanged - T::kFirstExchanged + 2;
  static constexpr int kWarpRows = S::kLowY + S::kHighY;  ///< first the kHighY first rows, then the kLowY last
  static constexpr int kWarpCells = kWarpRows * Row::kRowCells;
  static constexpr int kRowsBetween = Shape::kRows > kWarpRows ? Shape::kRows - kWarpRows : 0;
  static constexpr int kEndRows = Shape::kWarpsX > 1 ? kRowsBetween : 0;  ///< rows whose ends are published
  static constexpr int kEndCells = kEndRows * Shape::kRowEnds;
  static constexpr bool kClustered = T::kCluster > 1;
  static constexpr int kPeers = kClustered || T::kReadsRim ? 1 : 0;  ///< warps of other blocks or a rim, on each side
  static constexpr int kEndsFrom = Row::whole_words((T::kBlockY + 2 * kPeers) * kWarpCells);  ///< after a level's rows
  static constexpr int kAfterEnds = kEndRows > 0 ? Row::whole_words(1) : 0;  ///< no thread's: read before the next row
  static constexpr int kLevelCells = kEndsFrom + Row::whole_words(T::kBlockY * kEndCells) + kAfterEnds;
  static constexpr int kSlotCells = T::kSteps * kLevelCells;
  static constexpr int kBytes = T::kExchanges ? Row::bytes_of(kSlots * kSlotCells) : 0;
  static constexpr int kFirstByte = InputRows<S, T>::kBytes;  ///< in shared memory
  static constexpr int kBarriers = kFirstByte + kBytes;       ///< mbarriers of clusters: four a group
  static constexpr int kEnd = kBarriers + (kClustered ? T::kGroups * 4 * static_cast<int>(sizeof(Mbarrier)) : 0);

  Value* own;          ///< the thread's cells in slot 0, the group's level 0
  const Value* above;  ///< the warp above's, or its own where there is none
  const Value* below;
  Value* ends;         ///< the thread's ends of the rows between
  Choose<T::kCluster != 1, Seam, SeamSides> seam;
  int slot = 0;        ///< cells from slot 0 to the one that was published last
  int step = 0;

  static_assert(kEndRows == 0 || kLevelCells - kEndsFrom - T::kBlockY * kEndCells >= Row::kWord,
                "what the first thread of a level reads before its first row is nobody's");

  STENCIL_DEVICE EdgeRows(const Arguments<S>&, const TemporalTile<S, T>& tile)
      : seam(tile.rank, T::kCluster, thread_y(), T::kBlockY) {
    const int warp = thread_y();
    const int first_level = tile.group * Shape::kLevels * kLevelCells;
    unsigned char* memory = shared_memory() + kFirstByte;
    own = Row::first_row(memory) + (first_level + (kPeers + warp) * kWarpCells);
    if constexpr (kEndRows > 0) {
      ends = Ends::first_row(memory + Row::kBefore) + (first_level + kEndsFrom + warp * kEndCells);
    }
    above = T::kReadsRim || warp > 0 || seam.above ? own - kWarpCells : own;
    below = T::kReadsRim || warp < T::kBlockY - 1 || seam.below ? own + kWarpCells : own;
  }

  /// Clears all cells, so that no thread reads a cell before it was written. All threads call it.
  STENCIL_DEVICE void start(const TemporalTile<S, T>& tile) {
    clear(own);
    if constexpr (kEndRows > 0) clear_ends();
    if constexpr (kPeers > 0) {
      if (T::kReadsRim ? thread_y() == 0 : seam.above) clear(own - kWarpCells);
      if (T::kReadsRim ? thread_y() == T::kBlockY - 1 : seam.below) clear(own + kWarpCells);
    }
    if constexpr (kClustered) {
      // Rows that are sent stand there after the last warp of the block above, before the first of the one below.
      const int warps = seam.above ? T::kBlockY : -T::kBlockY;
      auto* barriers = reinterpret_cast<Mbarrier*>(shared_memory() + kBarriers) + 4 * tile.group;
      seam.start(tile.rank, own + warps * kWarpCells, barriers, awaited_bytes());
      cluster_barrier();
    }
  }

  /// Waits for the other blocks' rows of the step before.
  STENCIL_DEVICE void await() {
    if constexpr (kClustered) {
      seam.await(step, Shape::kWarpsX == 1 || any_in_warp(thread_x() == 0), awaited_bytes());
    }
  }

  /// Before the block walks again.
  STENCIL_DEVICE void end_mbarriers() const {
    if constexpr (kClustered) seam.end_mbarriers();
  }

  STENCIL_DEVICE void next_step() {
    slot = next();
    ++step;
  }

  template <int kLevel>
  STENCIL_DEVICE void publish(const TemporalPlane<S, T>& plane) const {
    Value* to = own + (next() + kLevel * kLevelCells);
    STENCIL_UNROLL
    for (int r = 0; r < kWarpRows; ++r) Row::store(to + r * Row::kRowCells, plane.cells[row_of(r)]);
    if constexpr (kEndRows > 0) {
      STENCIL_UNROLL
      for (int r = 0; r < kEndRows; ++r) {
        Ends::store(ends + (next() + kLevel * kLevelCells + r * Ends::kRowCells), plane.cells[S::kHighY + r]);
      }
    }
  }

  STENCIL_DEVICE bool at_seam() const { return any_in_warp(seam.here()); }

  /// What was published of the level in this step, to the other block.
  template <int kLevel>
  STENCIL_DEVICE void send(const TemporalPlane<S, T>& plane) const {
    const PeerAddress to = seam.rows + (next() + kLevel * kLevelCells) * static_cast<int>(sizeof(Value));
    if (any_in_warp(seam.above)) {
      send_rows<0, S::kHighY>(plane, to);
    } else {
      send_rows<S::kHighY, kWarpRows>(plane, to);
    }
  }

  /// Row kJ is published: one of the warp's own at its edges, or beyond them another warp's.
  template <int kJ>
  STENCIL_DEVICE static constexpr bool is_published() {
    return kJ < S::kHighY || kJ >= Shape::kRows - S::kLowY;
  }

  /// Where such a row of plane p of the reach stands.
  template <int kLevel, int kJ>
  STENCIL_DEVICE const Value* row(int p) const {
    // A warp's last rows for the one below it, its first for the one above.
    constexpr int kFirstOfLast = Shape::kRows - kWarpRows;
    constexpr int kRow = kJ < 0               ? kJ + kWarpRows
                         : kJ < S::kHighY     ? kJ
                         : kJ < Shape::kRows  ? kJ - kFirstOfLast
                                              : kJ - Shape::kRows;
    const Value* warp = kJ < 0 ? above : kJ < Shape::kRows ? own : below;
    return warp + (stage_of(p) + kLevel * kLevelCells + kRow * Row::kRowCells);
  }

  /// Where the ends of row kJ of plane p of the reach stand: one of the rows between.
  template <int kLevel, int kJ>
  STENCIL_DEVICE const Value* row_ends(int p) const {
    return ends + (stage_of(p) + kLevel * kLevelCells + (kJ - S::kHighY) * Ends::kRowCells);
  }

  /// Two slots alternate, written so that the compiler sees an even number of steps end where it began: an unrolled
  /// loop then keeps both addresses in registers.
  STENCIL_DEVICE int next() const {
    if constexpr (kSlots == 2) return kSlotCells - slot;
    return slot == (kSlots - 1) * kSlotCells ? 0 : slot + kSlotCells;
  }

 private:
  /// Cells from slot 0 to that of plane p of the reach.
  STENCIL_DEVICE int stage_of(int p) const {
    const int back = (T::kLastExchanged - p) * kSlotCells;
    return slot >= back ? slot - back : slot - back + kSlots * kSlotCells;
  }

  /// The row of the warp that is published as row r.
  STENCIL_DEVICE static constexpr int row_of(int r) { return r < S::kHighY ? r : Shape::kRows - kWarpRows + r; }

  STENCIL_DEVICE static void clear(Value* warp_rows) {
    STENCIL_UNROLL
    for (int s = 0; s < kSlots * Shape::kLevels; ++s) {
      Value* rows = warp_rows + (s / Shape::kLevels * kSlotCells + s % Shape::kLevels * kLevelCells);
      STENCIL_UNROLL
      for (int r = 0; r < kWarpRows; ++r) Row::clear(rows + r * Row::kRowCells);
    }
  }

  STENCIL_DEVICE void clear_ends() const {
    STENCIL_UNROLL
    for (int s = 0; s < kSlots * Shape::kLevels; ++s) {
      Value* rows = ends + (s / Shape::kLevels * kSlotCells + s % Shape::kLevels * kLevelCells);
      STENCIL_UNROLL
      for (int r = 0; r < kEndRows; ++r) Ends::clear(rows + r * Ends::kRowCells);
    }
  }

  /// Published rows kFirst .. kEnd - 1.
  template <int kFirst, int kEnd>
  STENCIL_DEVICE void send_rows(const TemporalPlane<S, T>& plane, PeerAddress to) const {
    STENCIL_UNROLL
    for (int r = kFirst; r < kEnd; ++r) {
      STENCIL_UNROLL
      for (int w = 0; w < Row::kWords; ++w) {
        const int place = (r * Row::kRowCells + w * Row::kStride) * static_cast<int>(sizeof(Value));
        send_cells<Row::kWord>(to + place, plane.cells[row_of(r)] + w * Row::kWord, seam.counter(step));
      }
    }
  }

  /// Bytes that arrive in a step: the rows that the warp reads beyond the seam, for all levels.
  STENCIL_DEVICE int awaited_bytes() const {
    return Shape::kLevels * (seam.above ? S::kLowY : S::kHighY) * Shape::kWidth * static_cast<int>(sizeof(Value));
  }
};

/// Stands in where a block's warps read no cells of each other.
template <class S, class T>
struct NoEdges {
  static constexpr int kEnd = InputRows<S, T>::kBytes;
  STENCIL_DEVICE NoEdges(const Arguments<S>&, const TemporalTile<S, T>&) {}
  STENCIL_DEVICE void end_mbarriers() const {}
};


}  // namespace stencil_tune
