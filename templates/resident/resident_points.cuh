// resident, with points: a block's sources and receivers (points/point_tables.cuh) are one list each, of places in its tile.
//
// - A source adds to its cell after each step, in each block that has the cell, halos included: letters go out without it.
//   Sources of one cell follow each other, and one thread adds them in the order of the list.
// - A receiver's cell is captured by the block whose tile has it, while the next step already reads the same level.
#pragma once

#include "stencil_tune/points/point_tables.cuh"
#include "stencil_tune/resident/resident.cuh"

namespace stencil_tune {

template <class S, class T>
struct ResidentPoints {
  using Value = typename S::Value;

  static constexpr bool kAny = true;

  const PointTables<Value>& tables;

  /// Where points of the block begin, and where they end.
  STENCIL_DEVICE WarpPoints begin(const ResidentTile<S, T>& tile) const { return tables.warps[tile.number()]; }
  STENCIL_DEVICE WarpPoints end(const ResidentTile<S, T>& tile) const { return tables.warps[tile.number() + 1]; }

  /// After that step of the launch, whose cells all threads have.
  STENCIL_DEVICE void meet(const ResidentTile<S, T>& tile, int step, Value* newest) const {
    const WarpPoints first = begin(tile), last = end(tile);
    if (first.source < last.source) {  // all threads
      add(first.source, last.source, step, newest);
      barrier();
    }
    if ((tables.recorded >> step & 1) == 0) return;
    Value* const captured = tables.captured + step * tables.captured_stride;
    for (unsigned i = first.receiver + static_cast<unsigned>(thread_x()); i < last.receiver; i += T::kBlockX) {
      const ReceiverMask receiver = tables.receivers[i];
      captured[receiver.place] = newest[receiver.cells];
    }
  }

 private:
  STENCIL_DEVICE void add(unsigned first, unsigned last, int step, Value* newest) const {
    const Value* const series = tables.series + step * tables.series_stride;
    for (unsigned i = first + static_cast<unsigned>(thread_x()); i < last; i += T::kBlockX) {
      const unsigned short place = tables.sources[i].cell;
      if (i > first && tables.sources[i - 1].cell == place) continue;  // the thread of the cell's first source adds it
      Value value = newest[place];
      for (unsigned j = i; j < last && tables.sources[j].cell == place; ++j) {
        value += tables.sources[j].weight * series[tables.sources[j].series];
      }
      newest[place] = value;
    }
  }
};

template <class S, class T>
STENCIL_DEVICE void resident_with_points(const ResidentArguments<S>& kernel, const PointTables<typename S::Value>& tables) {
  resident_steps<S, T>(kernel, ResidentPoints<S, T>{tables});
}

}  // namespace stencil_tune
