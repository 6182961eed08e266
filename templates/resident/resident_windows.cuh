// Which cells a thread computes in each step of a group.
#pragma once

#include "stencil_tune/resident/resident_mail.cuh"
#include "stencil_tune/unrolled.cuh"

namespace stencil_tune {

/// The cells that steps of a group compute: those that kLeft others follow have a region of their own.
template <class S, class T, int kLeft>
struct ResidentRegion {
  static constexpr int kX = T::kHaloX - kLeft * T::kReachX, kY = T::kHaloY - kLeft * T::kReachY;
  static constexpr int kZ = T::kHaloZ - kLeft * T::kReachZ;
  static constexpr int kWidth = T::kTileX + 2 * kLeft * T::kReachX, kHeight = T::kTileY + 2 * kLeft * T::kReachY;
  static constexpr int kDepth = T::kTileZ + 2 * kLeft * T::kReachZ;
  static constexpr int kRows = (kHeight + T::kRegisterY - 1) / T::kRegisterY;  // rows of windows
  static constexpr int kPlanes = (kDepth + T::kRegisterZ - 1) / T::kRegisterZ;
  static constexpr int kEach = (kWidth * kRows * kPlanes + T::kBlockX - 1) / T::kBlockX;  // windows of a thread

  /// Windows that a thread has in the regions of later steps.
  STENCIL_DEVICE static constexpr int windows_before() {
    if constexpr (kLeft == 0) {
      return 0;
    } else {
      using Next = ResidentRegion<S, T, kLeft - 1>;
      return Next::windows_before() + Next::kEach;
    }
  }
};

/// The windows of a thread. One of at most 16 cells takes 32 bits: its place below, and above a bit for each cell that
/// changes.
template <class S, class T>
struct ResidentWindows {
  using Tile = ResidentTile<S, T>;
  using Mail = ResidentMail<S, T>;
  static constexpr int kCells = T::kRegisterY * T::kRegisterZ;
  static constexpr int kSending = ResidentRegion<S, T, 0>::kEach;  // windows of the last step
  static_assert(kCells <= 16 && Tile::kCells <= 65536);

  unsigned packed[ResidentRegion<S, T, T::kApart>::windows_before()];
  int letters[kSending];        ///< from the block's first letter to the window's
  unsigned has_readers[kSending];  ///< a bit for each cell

  STENCIL_DEVICE ResidentWindows(const Tile& tile, const Mail& mail) {
    unrolled<T::kApart>([&](auto left) {
      using Region = ResidentRegion<S, T, left>;
      STENCIL_UNROLL
      for (int i = 0; i < Region::kEach; ++i) {
        const int number = thread_x() + i * T::kBlockX;
        const int x = Region::kX + number % Region::kWidth;
        const int y = Region::kY + number / Region::kWidth % Region::kRows * T::kRegisterY;
        const int z = Region::kZ + number / (Region::kWidth * Region::kRows) * T::kRegisterZ;
        // The last tile of an axis may be shorter: what lies behind its region is other blocks' to fill.
        const bool in_x = tile.changed_x.within(Region::kX, Region::kX + tile.own_x + 2 * left * T::kReachX).has(x);
        const Span ys = tile.changed_y.within(Region::kY, Region::kY + tile.own_y + 2 * left * T::kReachY);
        const Span zs = tile.changed_z.within(Region::kZ, Region::kZ + tile.own_z + 2 * left * T::kReachZ);
        unsigned changes = 0, readers = 0;
        STENCIL_UNROLL
        for (int cell = 0; cell < kCells; ++cell) {
          const int j = cell % T::kRegisterY, k = cell / T::kRegisterY;
          if (!(in_x & ys.has(y + j) & zs.has(z + k))) continue;
          changes |= 1u << cell;
          if (mail.has_readers(x, y + j, z + k)) readers |= 1u << cell;
        }
        packed[Region::windows_before() + i] = changes == 0 ? 0 : changes << 16 | static_cast<unsigned>(Tile::at(x, y, z));
        if constexpr (left == 0) {
          letters[i] = Mail::cells_to(x - T::kHaloX, y - T::kHaloY, z - T::kHaloZ);
          has_readers[i] = readers;
        }
      }
    });
  }
};

}  // namespace stencil_tune
