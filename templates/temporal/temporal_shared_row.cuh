// Rows of the tile in shared memory, whole or only the ends of each thread's part, where threads read each other's
// cells.
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/temporal/temporal_tile.cuh"

namespace stencil_tune {

/// The threads' words side by side, so that a neighbour's word is the one beside a thread's own:
///
///     word 0 of threads 0 1 ... n-1 | no thread | word 1 of threads 0 1 ... n-1 | no thread | ...
///
/// The first thread reads a word to its left, the last one to its right, which are no cells of the tile. No stored cell
/// depends on them; the places of `no thread` exist so that the read is legal, and nobody writes there
/// meanwhile. There is one before the first row of a level too.
///
/// A shuffle takes the time of two accesses that move as many bytes (fitted to the rates of 37 candidates with few and
/// many shuffles, one H200, 2026-11-21). So words of published rows are read, not shuffled, unless most of a word would
/// be unused. Where a tile is several warps wide they are always read.
template <class S, class T>
struct SharedRow {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;

  static constexpr int kWord = T::kExchangedWord;
  static constexpr int kWords = Shape::kCells / kWord;
  static constexpr int kStride = (T::kBlockX + 1) * kWord;  ///< from a thread's word to its next
  static constexpr int kRowCells = kWords * kStride;
  static constexpr int kBefore = 16;  ///< bytes before the first row

  /// So many cells of rows, and more up to a multiple of 16 bytes.
  STENCIL_DEVICE static constexpr int whole_words(int cells) {
    constexpr int kWidest = 16 / static_cast<int>(sizeof(Value));
    return (cells + kWidest - 1) / kWidest * kWidest;
  }
  /// Bytes of shared memory for so many cells in whole words.
  STENCIL_DEVICE static constexpr int bytes_of(int cells) { return kBefore + cells * static_cast<int>(sizeof(Value)); }
  /// Where the thread's first word of the first row stands.
  STENCIL_DEVICE static Value* first_row(unsigned char* memory) {
    return reinterpret_cast<Value*>(memory + kBefore) + thread_x() * kWord;
  }

  /// Whether kCount cells of a neighbour are read: where that is faster than shuffling them, or the only way.
  template <int kCount>
  STENCIL_DEVICE static constexpr bool reads_beside() {
    return kCount > 0 && (Shape::kWarpsX > 1 || (kCount + kWord - 1) / kWord * kWord < 2 * kCount);
  }

  /// `row`: where the thread's first word stands.
  STENCIL_DEVICE static void store(Value* row, const Value* cells) {
    STENCIL_UNROLL
    for (int w = 0; w < kWords; ++w) store_cells<StoreHint::write_back, kWord>(row + w * kStride, cells + w * kWord);
  }
  STENCIL_DEVICE static void load(const Value* row, Value* cells) {
    STENCIL_UNROLL
    for (int w = 0; w < kWords; ++w) load_cells<LoadHint::cached, kWord>(row + w * kStride, cells + w * kWord);
  }

  /// kCount cells before the thread's own, to cells[-kCount] .. cells[-1].
  template <int kCount>
  STENCIL_DEVICE static void load_left(const Value* row, Value* cells) {
    STENCIL_UNROLL
    for (int w = (Shape::kCells - kCount) / kWord; w < kWords; ++w) {
      Value word[kWord];
      load_cells<LoadHint::cached, kWord>(row + (w * kStride - kWord), word);
      STENCIL_UNROLL
      for (int i = 0; i < kWord; ++i) {
        const int before = Shape::kCells - (w * kWord + i);
        if (before <= kCount) cells[-before] = word[i];
      }
    }
  }
  /// kCount cells after the thread's own, to cells[kCells] .. cells[kCells + kCount - 1].
  template <int kCount>
  STENCIL_DEVICE static void load_right(const Value* row, Value* cells) {
    STENCIL_UNROLL
    for (int w = 0; w * kWord < kCount; ++w) {
      Value word[kWord];
      load_cells<LoadHint::cached, kWord>(row + (w * kStride + kWord), word);
      STENCIL_UNROLL
      for (int i = 0; i < kWord; ++i) {
        if (w * kWord + i < kCount) cells[Shape::kCells + w * kWord + i] = word[i];
      }
    }
  }

  STENCIL_DEVICE static void clear(Value* row) {
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) {
      const int place = i / kWord * kStride + i % kWord;
      row[place] = Value(0);
      if (thread_x() == T::kBlockX - 1) row[place + kWord] = Value(0);
    }
  }
};

/// The ends of all threads' parts of a row, for the threads beside them, in a tile that is several warps wide: a warp's
/// last lane has no neighbour to shuffle with.
///
///     first cells of threads 0 1 ... n-1 | no thread | no thread | last cells of threads 0 1 ... n-1
template <class S, class T>
struct SharedEnds {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;

  static constexpr int kFirst = S::kHighX;  ///< cells that the thread on the left reads ...
  static constexpr int kLast = S::kLowX;    ///< ... and the one on the right

  /// Divides both.
  STENCIL_DEVICE static constexpr int word_cells() {
    int cells = 16 / static_cast<int>(sizeof(Value));
    while (kFirst % cells != 0 || kLast % cells != 0) cells /= 2;
    return cells;
  }
  static constexpr int kWord = word_cells();
  static constexpr int kStride = (T::kBlockX + 1) * kWord;
  static constexpr int kRowCells = Shape::kRowEnds;
  static constexpr int kLastFrom = (T::kBlockX + 1) * kFirst;  ///< the place of no thread before the last cells

  /// Where the thread's first word of the first row stands.
  STENCIL_DEVICE static Value* first_row(unsigned char* memory) {
    return reinterpret_cast<Value*>(memory) + thread_x() * kWord;
  }

  /// `ends`: where the thread's first word of the row stands.
  STENCIL_DEVICE static void store(Value* ends, const Value* cells) {
    STENCIL_UNROLL
    for (int w = 0; w * kWord < kFirst; ++w) {
      store_cells<StoreHint::write_back, kWord>(ends + w * kStride, cells + w * kWord);
    }
    STENCIL_UNROLL
    for (int w = 0; w * kWord < kLast; ++w) {
      store_cells<StoreHint::write_back, kWord>(ends + (kLastFrom + w * kStride + kWord),
                                                cells + (Shape::kCells - kLast + w * kWord));
    }
  }

  /// kCount cells before the thread's own, to cells[-kCount] .. cells[-1].
  template <int kCount>
  STENCIL_DEVICE static void load_left(const Value* ends, Value* cells) {
    STENCIL_UNROLL
    for (int w = (kLast - kCount) / kWord; w * kWord < kLast; ++w) {
      Value word[kWord];
      load_cells<LoadHint::cached, kWord>(ends + (kLastFrom + w * kStride), word);
      STENCIL_UNROLL
      for (int i = 0; i < kWord; ++i) {
        const int before = kLast - (w * kWord + i);
        if (before <= kCount) cells[-before] = word[i];
      }
    }
  }
  /// kCount cells after the thread's own, to cells[kCells] .. cells[kCells + kCount - 1].
  template <int kCount>
  STENCIL_DEVICE static void load_right(const Value* ends, Value* cells) {
    STENCIL_UNROLL
    for (int w = 0; w * kWord < kCount; ++w) {
      Value word[kWord];
      load_cells<LoadHint::cached, kWord>(ends + (w * kStride + kWord), word);
      STENCIL_UNROLL
      for (int i = 0; i < kWord; ++i) {
        if (w * kWord + i < kCount) cells[Shape::kCells + w * kWord + i] = word[i];
      }
    }
  }

  STENCIL_DEVICE static void clear(Value* ends) {
    STENCIL_UNROLL
    for (int i = 0; i < kFirst; ++i) clear_places(ends + (i / kWord * kStride + i % kWord));
    STENCIL_UNROLL
    for (int i = 0; i < kLast; ++i) clear_places(ends + (kLastFrom + i / kWord * kStride + i % kWord));
  }

 private:
  /// A cell of a word: the thread's place, and those of no thread after the last one.
  STENCIL_DEVICE static void clear_places(Value* place) {
    place[0] = Value(0);
    if (thread_x() == T::kBlockX - 1) place[kWord] = Value(0);
  }
};

}  // namespace stencil_tune
