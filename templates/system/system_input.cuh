// What a block of a system's fused steps reads and stores in global memory.
#pragma once

#include "stencil_tune/system/system_tile.cuh"
#include "stencil_tune/temporal/temporal_plane.cuh"
#include "stencil_tune/temporal/temporal_ring.cuh"

namespace stencil_tune {

/// A plane of every field that is still needed.
template <class S, class T, int kFields>
struct SystemState {
  TemporalPlane<S, T> fields[kFields];
};

/// A field that no step changes, read at the cell alone, by levels that are first .. last planes behind the input. What
/// all of them make of it alone (S::PartOf) level made_by, the first one, makes and leaves in its place; -1: they read the
/// field itself.
struct SystemConstant {
  int input, first, last, made_by;
};

/// One cell, as an update reads it.
template <class Value>
struct OneCell {
  Value value;
  STENCIL_DEVICE Value operator()(int, int, int, int) const { return value; }
};

/// A field of the first level's state: its input, and planes that it arrives behind the others. One that is read no
/// further than the plane that the level updates need not wait in registers.
struct SystemInputField {
  int input, behind;
};

template <class S, class T, int kField>
using StatePipeline =
    InputPipeline<S, T, S::kStateInputs[kField].input, T::kPrefetch, S::kStateInputs[kField].behind, 1>;

/// One pipeline a field of the state. All are filled together: the position of one is that of all.
template <class S, class T, class Fields>
struct StatePipelines;
template <class S, class T, int... kField>
struct StatePipelines<S, T, Indices<kField...>> : StatePipeline<S, T, kField>... {
  template <int kF>
  using Pipeline = StatePipeline<S, T, kF>;
  static constexpr int kBytes = (0 + ... + Pipeline<kField>::kBytes);

  /// Bytes of the pipelines before that one.
  STENCIL_DEVICE static constexpr int bytes_before(int field) {
    return (0 + ... + (kField < field ? Pipeline<kField>::kBytes : 0));
  }

  STENCIL_DEVICE StatePipelines(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps,
                                int first_byte)
      : Pipeline<kField>(a, t, maps, first_byte + bytes_before(kField))... {}

  STENCIL_DEVICE void start(typename S::Index z) { (Pipeline<kField>::start(z), ...); }
  STENCIL_DEVICE void copy_next(Mbarrier* arrived) {
    const int filled_next = Pipeline<0>::slot;
    (copy_field<kField>(filled_next, arrived), ...);
  }
  STENCIL_DEVICE void read(SystemState<S, T, sizeof...(kField)>& state) const {
    (read_field<kField>(state.fields[kField]), ...);
  }

 private:
  /// The compiler sees that all positions are one, and keeps one.
  template <int kF>
  STENCIL_DEVICE void copy_field(int filled_next, Mbarrier* arrived) {
    Pipeline<kF>::slot = filled_next;
    Pipeline<kF>::copy_next(arrived);
  }
  template <int kF>
  STENCIL_DEVICE void read_field(TemporalPlane<S, T>& plane) const {
    const auto* copied = Pipeline<kF>::template copied<T::kPrefetch - 1>();
    STENCIL_UNROLL
    for (int j = 0; j < TemporalShape<S, T>::kRows; ++j) Pipeline<kF>::read_row(copied, j, plane.cells[j]);
  }
};

/// One pipeline a constant; a plane stays until the last level that reads it has.
template <class S, class T, int kConstant>
using SystemConstantPipeline = InputPipeline<S, T, S::kConstants[kConstant].input,
                                             T::kPrefetch + 1 + S::kConstants[kConstant].last - S::kConstants[kConstant].first,
                                             S::kConstants[kConstant].first, 1>;

template <class S, class T, class Fields>
struct SystemConstants;
template <class S, class T, int... kField>
struct SystemConstants<S, T, Indices<kField...>> : SystemConstantPipeline<S, T, kField>... {
  template <int kF>
  using Pipeline = SystemConstantPipeline<S, T, kF>;
  static constexpr int kBytes = (0 + ... + Pipeline<kField>::kBytes);

  /// Bytes of the pipelines before that one.
  STENCIL_DEVICE static constexpr int bytes_before([[maybe_unused]] int field) {
    return (0 + ... + (kField < field ? Pipeline<kField>::kBytes : 0));
  }

  STENCIL_DEVICE SystemConstants(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps,
                                 int first_byte)
      : Pipeline<kField>(a, t, maps, first_byte + bytes_before(kField))... {
    (void)a, (void)t, (void)maps, (void)first_byte;
  }

  STENCIL_DEVICE void start([[maybe_unused]] typename S::Index z) { (Pipeline<kField>::start(z), ...); }
  STENCIL_DEVICE void copy_next([[maybe_unused]] Mbarrier* arrived) { (Pipeline<kField>::copy_next(arrived), ...); }

  /// Row j of the plane that is kDelay planes behind the newest input, for level kLevel.
  template <int kF, int kLevel, int kDelay>
  STENCIL_DEVICE void read_row(int j, const typename S::Value* coefficients, typename S::Value* row) const {
    const auto* plane = Pipeline<kF>::template copied<T::kPrefetch + kDelay - S::kConstants[kF].first>();
    Pipeline<kF>::read_row(plane, j, row);
    if constexpr (S::kMakesParts) make_part<kF, kLevel>(plane - Pipeline<kF>::from, j, coefficients, row);
  }

 private:
  /// Level made_by leaves the part where the field was. Levels after it read that: a lane reads and writes its own cells
  /// alone.
  template <int kF, int kLevel>
  STENCIL_DEVICE void make_part(long long plane, int j, const typename S::Value* coefficients,
                                typename S::Value* row) const {
    using Copies = typename Pipeline<kF>::Copies;
    if constexpr (S::kConstants[kF].made_by == kLevel) {
      STENCIL_UNROLL
      for (int i = 0; i < TemporalShape<S, T>::kCells; ++i) {
        row[i] = S::template PartOf<kF>::value(OneCell<typename S::Value>{row[i]}, coefficients);
      }
      auto* cells = Pipeline<kF>::from + (plane + j * TemporalShape<S, T>::kWarpWidth);
      STENCIL_UNROLL
      for (int w = 0; w < Copies::kWords; ++w) {
        store_cells<StoreHint::write_back, Copies::kWord>(cells + Copies::place_of_own(w) * Copies::kWord,
                                                          row + w * Copies::kWord);
      }
    }
  }
};

/// The block's input, plane after plane.
template <class S, class T>
struct SystemInput {
  static constexpr int kState = static_cast<int>(sizeof(S::kStateInputs) / sizeof(SystemInputField));
  using State = StatePipelines<S, T, IndicesBelow<kState>>;
  using Constants = SystemConstants<S, T, IndicesBelow<S::kConstantFields>>;
  using Arrivals = ArrivalsOf<S, T>;
  static constexpr int kArrivals = State::kBytes + Constants::kBytes;
  static constexpr int kBytes = kArrivals + Arrivals::kBytes;

  State state;
  Constants constants;
  Arrivals arrivals;

  STENCIL_DEVICE SystemInput(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps)
      : state(a, t, maps, 0), constants(a, t, maps, State::kBytes), arrivals(t, kArrivals) {}

  STENCIL_DEVICE void start(typename S::Index z) {
    arrivals.start(kState + S::kConstantFields);
    state.start(z);
    constants.start(z);
    STENCIL_UNROLL
    for (int p = 0; p < T::kPrefetch; ++p) copy_next();
  }

  /// The state's next plane. From now on the constants' planes of this step can be read too.
  STENCIL_DEVICE void take(SystemState<S, T, kState>& planes) {
    arrivals.await();
    state.read(planes);
    arrivals.release();
    copy_next();
  }

  /// After the last step.
  STENCIL_DEVICE void leave() { arrivals.leave(); }

 private:
  STENCIL_DEVICE void copy_next() {
    Mbarrier* arrived = arrivals.open();
    state.copy_next(arrived);
    constants.copy_next(arrived);
    arrivals.close();
  }
};

/// Stores those cells of the last level's state that belong to the block. An output keeps the layers that its own stage
/// holds, so that outputs may have different boxes. The arguments' box is that of the stage that holds most; others have
/// as many cells more.
template <class S, class T>
struct SystemOutput {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;
  using Cells = typename FieldCells<S>::Output;

  static constexpr int kFirstRow = 16;           ///< bit of row 0
  static constexpr unsigned kInCells = 1u << 31; ///< bit of a box that cuts vectors: it is stored cell by cell
  static_assert(Shape::kCells <= kFirstRow && Shape::kRows < 32 - kFirstRow, "cells of a thread have bits of their own");

  const Arguments<S>& arguments;
  const TemporalTile<S, T>& tile;
  /// Which cells of the thread lie in a box: bit i for column i, kFirstRow + j for row j. A cell is stored where both
  /// are set. A box stands at the first output that has it (kBoxOf).
  unsigned stored[S::kOutputs];

  STENCIL_DEVICE SystemOutput(const Arguments<S>& a, const TemporalTile<S, T>& t) : arguments(a), tile(t) {
    find_all(IndicesBelow<S::kOutputs>{});
  }

  /// Plane z. kOwn: known to be one of the block's; kInBoxes: in all boxes, if it is one of the block's.
  template <bool kOwn, bool kInBoxes>
  STENCIL_DEVICE void store(Index z, const SystemState<S, T, S::kOutputs>& state) const {
    if (!kOwn && (z < tile.low_z || z >= tile.high_z)) return;
    const Index first =
        z * static_cast<Index>(arguments.stride_z) + tile.y * static_cast<Index>(arguments.stride_y) + tile.x;
    store_all<kInBoxes>(z, first, state, IndicesBelow<S::kOutputs>{});
  }

 private:
  template <int... kO>
  STENCIL_DEVICE void find_all(Indices<kO...>) {
    (find<kO>(), ...);
  }
  template <int kO>
  STENCIL_DEVICE void find() {
    if constexpr (S::kBoxOf[kO] == kO) {
      // From the lane itself, but by a shuffle: otherwise the compiler finds the bits anew at every step.
      stored[kO] = shuffle_from(cells_in_box<layers_of_output<S, T>(kO)>(S::kOutputMore[kO]), Shape::lane());
    }
  }
  /// kLayers: the axis in whose layers alone the output has cells, or -1.
  template <int kLayers>
  STENCIL_DEVICE unsigned cells_in_box(HeldLayers more) const {
    unsigned bits = 0;
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      const Index y = tile.y + j;
      bool in_box = y >= arguments.low[1] - more.low_y && y < arguments.high[1] + more.high_y;
      if constexpr (T::kSlabs && kLayers == 1) in_box = in_box && LayerArray<S, 1>(arguments).has_some(y);
      bits |= in_box && y >= tile.low_y && y < tile.high_y ? 1u << (kFirstRow + j) : 0u;
    }
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) {
      const Index x = tile.x + i;
      bool in_box = x >= arguments.low[0] - more.low_x && x < arguments.high[0] + more.high_x;
      if constexpr (T::kSlabs && kLayers == 0) in_box = in_box && LayerArray<S, 0>(arguments).has_some(x);
      bits |= in_box && x >= tile.low_x && x < tile.high_x ? 1u << i : 0u;
    }
    bool whole = tile.whole_vectors;
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; i += T::kVector) {
      const unsigned vector = bits >> i & ((1u << T::kVector) - 1);
      whole = whole && (vector == 0 || vector == (1u << T::kVector) - 1);
    }
    return whole ? bits : bits | kInCells;
  }

  template <bool kInBoxes, int... kO>
  STENCIL_DEVICE void store_all(Index z, Index first, const SystemState<S, T, S::kOutputs>& state,
                                Indices<kO...>) const {
    (store_field<kInBoxes, kO>(z, first, state.fields[kO]), ...);
  }
  template <bool kInBoxes, int kO>
  STENCIL_DEVICE void store_field([[maybe_unused]] Index z, Index first, const TemporalPlane<S, T>& plane) const {
    constexpr HeldLayers kMore = S::kOutputMore[kO];
    if (!kInBoxes && (z < arguments.low[2] - kMore.low_z || z >= arguments.high[2] + kMore.high_z)) return;
    const unsigned cells = stored[S::kBoxOf[kO]];
    constexpr int kLayers = layers_of_output<S, T>(kO);
    if constexpr (T::kSlabs && kLayers >= 0) {
      store_in_layers<kLayers>(z, FieldCells<S>::output(arguments, kO), cells, plane);
    } else if ((cells & kInCells) == 0) {
      store_rows<T::kVector>(FieldCells<S>::output(arguments, kO) + first, cells, plane);
    } else {
      store_rows<1>(FieldCells<S>::output(arguments, kO) + first, cells, plane);
    }
  }

  /// The same of a field in layers of axis kLayers.
  template <int kLayers>
  STENCIL_DEVICE void store_in_layers(Index z, Cells to, unsigned cells, const TemporalPlane<S, T>& plane) const {
    const LayerArray<S, kLayers> array(arguments);
    if (kLayers == 2 && !array.has_some(z)) return;
    to += z * array.stride_z + tile.y * array.stride_y + tile.x;
    if (T::kVector == 1 || (cells & kInCells) == 0) {
      store_rows<T::kVector, kLayers>(to, cells, plane);
    } else {
      store_rows<1, kLayers>(to, cells, plane);
    }
  }

  template <int kWord, int kLayers = -1>
  STENCIL_DEVICE void store_rows(Cells row, unsigned cells, const TemporalPlane<S, T>& plane) const {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        const bool is_stored = (cells >> (kFirstRow + j) & cells >> i & 1) != 0;
        if (is_stored) store_cells<T::kStore, kWord>(row + i, plane.cells[j] + i);
      }
      row += CopiedCells<S, T, kLayers>::stride_y(arguments);
    }
  }
};

}  // namespace stencil_tune
