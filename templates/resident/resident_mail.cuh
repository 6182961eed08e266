// The letters that blocks leave each other: which cells of a tile others read, and who sends those of its halo.
#pragma once

#include "stencil_tune/resident/resident_tile.cuh"
#include "stencil_tune/together.cuh"

namespace stencil_tune {

/// The letters of a block: which cells of its tile others read, and where it finds those of its halo.
template <class S, class T>
class ResidentMail {
  using Tile = ResidentTile<S, T>;
  using Value = typename S::Value;

  static constexpr int kLetters = static_cast<int>(sizeof(Value)) / 4;  // a value's
  static constexpr int kOfBlock = Tile::kTileCells * T::kSentLevels * kLetters;
  static constexpr int kOfParity = kOfBlock * T::kMostBlocks;
  static_assert(T::kAllLetters == 2ll * kOfParity);
  static constexpr int kHalo = Tile::kCells - Tile::kTileCells;
  static constexpr int kEach = kHalo > 0 ? (kHalo + Tile::kThreads - 1) / Tile::kThreads : 1;
  static constexpr int kAtOnce = kEach < 8 ? kEach : 8;  // letters that a thread looks for at once

 public:
  STENCIL_DEVICE ResidentMail(const Tile& tile, unsigned number)
      : own_(T::letters() + static_cast<long long>(tile.number()) * kOfBlock),
        number_(number) {
    inner_x_ = inner<T::kHaloX>(S::kBoundaryX == Boundary::periodic || tile.blocks_x > 1, tile.own_x);
    inner_y_ = inner<T::kHaloY>(S::kBoundaryY == Boundary::periodic || tile.blocks_y > 1, tile.own_y);
    inner_z_ = inner<T::kHaloZ>(S::kBoundaryZ == Boundary::periodic || tile.blocks_z > 1, tile.own_z);
    int place = -1, letter = 0;  // the last one that the thread looks for: several times where others have more
    STENCIL_UNROLL
    for (int i = 0; i < kEach; ++i) {
      find_halo(tile, thread_x() + i * Tile::kThreads, place_[i], letter_[i]);
      if (place_[i] >= 0) place = place_[i], letter = letter_[i];
    }
    has_halo_ = place >= 0;
    STENCIL_UNROLL
    for (int i = 0; i < kEach; ++i) {
      if (place_[i] < 0) place_[i] = place, letter_[i] = letter;
    }
  }

  /// The number of the last exchange.
  STENCIL_DEVICE unsigned number() const { return number_; }
  STENCIL_DEVICE void begin_exchange() { ++number_; }

  /// Whether other blocks read the tile's cell at that place.
  STENCIL_DEVICE bool has_readers(int x, int y, int z) const {
    return !(inner_x_.has(x) & inner_y_.has(y) & inner_z_.has(z));
  }

  /// The block's first letter of this exchange.
  STENCIL_DEVICE unsigned long long* own_letters() const { return in_register(own_ + of_this_exchange()); }
  /// Letters from one cell to another that many further.
  STENCIL_DEVICE static constexpr int cells_to(int x, int y, int z) {
    return ((z * T::kTileY + y) * T::kTileX + x) * T::kSentLevels * kLetters;
  }

  /// level: 0 the newest, 1 the one before.
  STENCIL_DEVICE void send(unsigned long long* to, int level, Value value) const {
    unsigned contents[kLetters];
    contents_of(value, contents);
    STENCIL_UNROLL
    for (int i = 0; i < kLetters; ++i) leave_letter(to + level * kLetters + i, {contents[i], number_});
  }

  /// Fills the halo of the newest level, and of the one before where it is sent too.
  STENCIL_DEVICE void receive(Value* newest, [[maybe_unused]] Value* before) const {
    if (!has_halo_) return;
    STENCIL_UNROLL
    for (int first = 0; first < kEach; first += kAtOnce) {
      STENCIL_UNROLL
      for (int level = 0; level < T::kSentLevels; ++level) receive(first, level, level == 0 ? newest : before);
    }
  }

 private:
  /// Letters of two exchanges have places of their own.
  STENCIL_DEVICE int of_this_exchange() const { return static_cast<int>(number_ % 2) * kOfParity; }

  /// Places that no other block reads; all of the tile where the axis has no other.
  template <int kHaloWidth>
  STENCIL_DEVICE static Span inner(bool has_others, int own) {
    return has_others ? Span{2 * kHaloWidth, own} : Span{kHaloWidth, kHaloWidth + own};
  }

  /// Looks for all of them at once until the last is there.
  STENCIL_DEVICE void receive(int first, int level, Value* to) const {
    const unsigned long long* letters = in_register(T::letters() + of_this_exchange() + level * kLetters);
    Letter found[kAtOnce][kLetters];
    for (;;) {
      bool all = true;
      STENCIL_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        STENCIL_UNROLL
        for (int part = 0; part < kLetters; ++part) {
          if (first + i < kEach) found[i][part] = look_for_letter(letters + letter_[first + i] + part);
        }
      }
      STENCIL_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        STENCIL_UNROLL
        for (int part = 0; part < kLetters; ++part) {
          if (first + i < kEach) all &= found[i][part].number == number_;
        }
      }
      if (all) break;
      let_others_run();
    }
    STENCIL_UNROLL
    for (int i = 0; i < kAtOnce; ++i) {
      if (first + i >= kEach) continue;
      unsigned contents[kLetters];
      STENCIL_UNROLL
      for (int part = 0; part < kLetters; ++part) contents[part] = found[i][part].content;
      value_of(contents, to[place_[first + i]]);
    }
  }

  /// The nth cell around the tile that other blocks send: its place, and its letter. -1: there is no such cell.
  STENCIL_DEVICE static void find_halo(const Tile& tile, int nth, int& place, int& letter) {
    place = letter = -1;
    int x = 0, y = 0, z = 0;
    if (!tile.changes_any() || !find_around(tile, nth, x, y, z)) return;
    if (!tile.changed_x.has(x) || !tile.changed_y.has(y) || !tile.changed_z.has(z)) return;
    const int cell_x = static_cast<int>(tile.cell_x(x)), cell_y = static_cast<int>(tile.cell_y(y));
    const int cell_z = static_cast<int>(tile.cell_z(z));
    const int block =
        (cell_z / T::kTileZ * tile.blocks_y + cell_y / T::kTileY) * tile.blocks_x + cell_x / T::kTileX;
    place = Tile::at(x, y, z);
    letter = block * kOfBlock + cells_to(cell_x % T::kTileX, cell_y % T::kTileY, cell_z % T::kTileZ);
  }

  /// Planes below and above the tile, of those between rows on both sides, of these cells on both sides.
  STENCIL_DEVICE static bool find_around(const Tile& tile, int nth, int& x, int& y, int& z) {
    const int width = tile.own_x + 2 * T::kHaloX, height = tile.own_y + 2 * T::kHaloY;
    if constexpr (T::kHaloZ > 0) {
      const int plane = width * height;
      if (nth < 2 * T::kHaloZ * plane) {
        z = beside<T::kHaloZ>(nth / plane, tile.own_z), y = nth % plane / width, x = nth % width;
        return true;
      }
      nth -= 2 * T::kHaloZ * plane;
    }
    if constexpr (T::kHaloY > 0) {
      const int rows = 2 * T::kHaloY * width;  // a plane's
      if (nth < rows * tile.own_z) {
        z = T::kHaloZ + nth / rows, y = beside<T::kHaloY>(nth % rows / width, tile.own_y), x = nth % width;
        return true;
      }
      nth -= rows * tile.own_z;
    }
    if constexpr (T::kHaloX > 0) {
      const int cells = 2 * T::kHaloX * tile.own_y;  // a plane's
      if (nth < cells * tile.own_z) {
        z = T::kHaloZ + nth / cells, y = T::kHaloY + nth % cells / (2 * T::kHaloX);
        x = beside<T::kHaloX>(nth % (2 * T::kHaloX), tile.own_x);
        return true;
      }
    }
    return false;
  }
  template <int kHaloWidth>
  STENCIL_DEVICE static int beside(int i, int own) { return i < kHaloWidth ? i : i + own; }

  unsigned long long* own_;  ///< the block's letters
  unsigned number_;
  bool has_halo_;
  Span inner_x_, inner_y_, inner_z_;
  int place_[kEach], letter_[kEach];
};

}  // namespace stencil_tune
