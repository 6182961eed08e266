// Cells that a thread's tile reads, in registers: indices are constants once loops are unrolled. The update from them.
#pragma once

#include "stencil_tune/field.cuh"
#include "stencil_tune/output.cuh"
#include "stencil_tune/placed_cells.cuh"
#include "stencil_tune/unrolled.cuh"

namespace stencil_tune {

template <class S, class T, class R>
struct Window {
  using Reads = R;
  typename S::Value cells[Reads::kCells > 0 ? Reads::kCells : 1];
  /// The thread's own cells of a row; halo cells lie before and after them.
  STENCIL_DEVICE typename S::Value* own_cells(int f, int p, int r) { return cells + Reads::at(f, p, r); }

  /// The cell (x, y, z) from the thread's first output.
  STENCIL_DEVICE typename S::Value cell(int f, int x, int y, int z) const {
    return cells[Reads::at(f, z + S::kLowZ, y + S::kLowY) + x];
  }

  /// Moves cells kFirst .. kFirst + kCount - 1 of row kR from each of the planes kOldest + 1 .. kNewest one plane down.
  template <int kF, int kR, int kFirst, int kCount, int kOldest, int kNewest>
  STENCIL_DEVICE void shift_down() {
    // One by one rather than in a loop, which compilers would turn into a block move that keeps the cells in memory.
    unrolled<(kNewest - kOldest) * kCount>([&](auto move) {
      constexpr int kP = kOldest + move / kCount, kCell = kFirst + move % kCount;
      cells[Reads::at(kF, kP, kR) + kCell] = cells[Reads::at(kF, kP + 1, kR) + kCell];
    });
  }
};

/// What the generated update reads: a source of cells (a Window, or memory itself) seen from output (kI, kJ, kK).
template <class S, class Source, int kI, int kJ, int kK>
struct Cells {
  const Source& source;
  STENCIL_DEVICE typename S::Value operator()(int f, int dx, int dy, int dz) const {
    return source.cell(f, kI + dx, kJ + dy, kK + dz);
  }
};

/// A source of rows, which T::Reads loads: global memory, for the tile at (x, y, z). kAtOnce: a row's cells in one call.
template <class S, class T, bool kAtOnce>
struct GlobalRows {
  using Index = typename S::Index;

  const Field<S, T> (&in)[S::kInputs];
  Index x, y, z;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    const auto row = in[f].row(y + (r - S::kLowY), z + (p - S::kLowZ));
    if constexpr (kBody) in[f].template load_body<kAtOnce && kLeft + kRight == 0>(row, x, body);
    if constexpr (kLeft > 0) in[f].template load_left<kLeft>(row, x, body);
    if constexpr (kRight > 0) in[f].template load_right<kRight>(row, x, body);
  }

  STENCIL_DEVICE typename S::Value cell(int f, int dx, int dy, int dz) const {
    return in[f].cell(in[f].row(y + dy, z + dz), x + dx);
  }
};

/// Updates and stores the outputs of the tile at (x, y, z) from a source of cells. Outputs are unrolled as template
/// arguments, so that every index into a window is a constant from the start.
template <class S, class T, class Index, class Source>
STENCIL_DEVICE void update_outputs(const Arguments<S>& arguments, const UpdatedBox<S>& box, Index x, Index y, Index z,
                                   const Source& source) {
  unrolled<T::kRegisterY * T::kRegisterZ>([&](auto row) {
    constexpr int kJ = row % T::kRegisterY, kK = row / T::kRegisterY;
    typename S::Value outputs[S::kOutputs][T::kRegisterX];
    unrolled<T::kRegisterX>([&](auto i) {
      using Read = Cells<S, Source, i, kJ, kK>;
      typename S::Value cell[S::kOutputs];
      if constexpr (T::kPlaced) {
        S::update(PlacedCells<S, Read>{{source}, arguments, x + i, y + kJ, z + kK, 0, {}}, arguments.coefficients, cell);
      } else {
        S::update(Read{source}, arguments.coefficients, cell);
      }
      STENCIL_UNROLL
      for (int o = 0; o < S::kOutputs; ++o) outputs[o][i] = cell[o];
    });
    if (!box.has_row(y + kJ, z + kK)) return;
    const Index offset = (y + kJ) * Index(arguments.stride_y) + (z + kK) * Index(arguments.stride_z);
    if constexpr (T::kSlabs) {
      unrolled<S::kOutputs>([&](auto o) {
        constexpr int kAxis = layers_of_output<S, T>(o);
        const auto array = FieldCells<S>::output(arguments, o);
        if constexpr (kAxis >= 0) {
          store_in_layers<S, T, kAxis>(arguments, array, box, x, y + kJ, z + kK, outputs[o]);
        } else {
          store_row<S, T>(array + offset, box, x, outputs[o]);
        }
      });
    } else {
      STENCIL_UNROLL
      for (int o = 0; o < S::kOutputs; ++o) store_row<S, T>(FieldCells<S>::output(arguments, o) + offset, box, x, outputs[o]);
    }
  });
}

/// Updates a thread's tile through a window, or cell by cell where a window would be too large for the registers.
template <class S, class T, class Source>
STENCIL_DEVICE void update_tile(const Arguments<S>& arguments, const UpdatedBox<S>& box, typename S::Index x,
                                typename S::Index y, typename S::Index z, const Source& source) {
  if constexpr (T::kReadsAhead) {
    Window<S, T, typename T::Reads> window;
    T::Reads::load(source, window.cells);
    update_outputs<S, T>(arguments, box, x, y, z, window);
  } else {
    update_outputs<S, T>(arguments, box, x, y, z, source);
  }
}

template <class S, class T, int kAxis>
STENCIL_DEVICE Field<S, T> field_in_layers(const Arguments<S>& a, int f) {
  using Index = typename S::Index;
  const LayerArray<S, kAxis> array(a);
  return {{FieldCells<S>::input(a, f), kAxis, array}, Index(a.n[0]), Index(a.n[1]), Index(a.n[2]), array.stride_y, array.stride_z};
}

/// An input in global memory.
template <class S, class T>
STENCIL_DEVICE Field<S, T> input_field(const Arguments<S>& a, int f) {
  using Index = typename S::Index;
  if constexpr (T::kSlabs) {
    switch (layers_of_input<S, T>(f)) {
      case 0:
        return field_in_layers<S, T, 0>(a, f);
      case 1:
        return field_in_layers<S, T, 1>(a, f);
      case 2:
        return field_in_layers<S, T, 2>(a, f);
    }
    return {{FieldCells<S>::input(a, f), -1, {}}, Index(a.n[0]), Index(a.n[1]), Index(a.n[2]), Index(a.stride_y), Index(a.stride_z)};
  } else {
    return {FieldCells<S>::input(a, f), Index(a.n[0]), Index(a.n[1]), Index(a.n[2]), Index(a.stride_y), Index(a.stride_z)};
  }
}

/// All of them. direct and streaming fill an array of their own: from this one compilers make other machine code, and
/// kernels were tuned with that.
template <class S, class T>
struct InputFields {
  Field<S, T> fields[S::kInputs];

  STENCIL_DEVICE explicit InputFields(const Arguments<S>& arguments) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) fields[f] = input_field<S, T>(arguments, f);
  }
};

}  // namespace stencil_tune
