// Sums that a thread carries along z: each plane is read once, when it comes up, adds what it has to the outputs within
// its reach, and is not kept.
//
//     plane z + high  ===>  pending[0]      the output at z: its last taps; now it is finished and stored
//                     ===>  pending[1]      the output at z + 1
//                            ...
//                     ===>  pending[last]   the output at z + high + low: its first taps
//     then every sum moves down by one: pending[q] = pending[q + 1]
// The moves cost nothing: unrolled steps rename registers, and in single steps multiply-adds write to the next ones.
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// The cells of a thread's register tile in the late inputs (S::is_late), which are read at the cell alone. They are
/// loaded for the output that is finished next, a plane ahead.
template <class S, class T>
struct LateCells {
  using Value = typename S::Value;
  using Index = typename S::Index;

  Value cells[S::kInputs][T::kRegisterY][T::kRegisterX];

  STENCIL_DEVICE void load(const Field<S, T> (&in)[S::kInputs], Index x, Index y, Index z) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      STENCIL_UNROLL
      for (int j = 0; j < T::kRegisterY; ++j) {
        if (S::is_late(f)) in[f].template load_body<true>(in[f].row(y + j, z), x, cells[f][j]);
      }
    }
  }

  STENCIL_DEVICE Value* row(int f, int j) { return cells[f][j]; }

  /// A source of cells (see Cells).
  STENCIL_DEVICE Value cell(int f, int x, int y, int) const { return cells[f][y][x]; }
};

struct NoLateCells {};

/// Stands in for InputFields where TMA brings all inputs.
template <class S>
struct NoFields {
  STENCIL_DEVICE explicit NoFields(const Arguments<S>&) {}
};

template <class S, class T>
struct PlaneSums {
  using Value = typename S::Value;
  using Reads = typename T::Reads;  ///< how a plane's rows are read, whatever z: as if all taps lay in it
  static constexpr int kReach = S::kLowZ + S::kHighZ;  ///< planes to add before the first output is complete
  static constexpr int kPeriod = kReach + 1;           ///< steps after which the sums are back where they were
  Value pending[kPeriod][T::kRegisterY * T::kRegisterX][S::kSums] = {};

  /// Adds the next plane, the lowest of `rows`: each of the sums takes the tap below that of the sum before it.
  template <class Source>
  STENCIL_DEVICE void add(const Source& rows, const Value* coefficients) {
    constexpr int kX = T::kRegisterX, kY = T::kRegisterY;
    Value cells[Reads::kCells > 0 ? Reads::kCells : 1];
    Reads::load(rows, cells);
    unrolled<kPeriod * kY * kX>([&](auto place) {
      constexpr int kI = place % kX, kJ = place / kX % kY, kQ = place / kX / kY;
      const auto u = [&](int f, int dx, int dy, int) { return cells[Reads::at(f, 0, kJ + dy + S::kLowY) + kI + dx]; };
      S::template add_plane<S::kHighZ - kQ>(u, coefficients, pending[kQ][kJ * kX + kI]);
    });
  }

  /// Adds some of a plane's taps, for fused steps: those at kFirst .. kLast along z. kBehind: planes from this one to
  /// the one that completes pending[0].
  template <int kFirst, int kLast, int kBehind, class Taken>
  STENCIL_DEVICE void add_taps(const Taken& plane, const Value* coefficients) {
    constexpr int kX = T::kRegisterX, kY = T::kRegisterY;
    // The tap kLast adds to the first of the sums; each sum after it takes the tap below.
    constexpr int kFrom = S::kHighZ - kBehind - kLast;
    unrolled<(kLast - kFirst + 1) * kY * kX>([&](auto place) {
      constexpr int kI = place % kX, kJ = place / kX % kY, kTap = place / kX / kY;
      const Cells<S, Taken, kI, kJ, 0> cells{plane};
      S::template add_plane<kLast - kTap>(cells, coefficients, pending[kFrom + kTap][kJ * kX + kI]);
    });
  }

  /// Row kJ of the outputs that are complete.
  template <int kJ, class Late>
  STENCIL_DEVICE void finish(const Late& late, const Value* coefficients,
                             Value (&outputs)[S::kOutputs][T::kRegisterX]) const {
    unrolled<T::kRegisterX>([&](auto i) {
      Value cell[S::kOutputs];
      if constexpr (S::kHasLate) {
        S::finish(Cells<S, Late, i, kJ, 0>{late}, coefficients, pending[0][kJ * T::kRegisterX + i], cell);
      } else {
        S::finish(late, coefficients, pending[0][kJ * T::kRegisterX + i], cell);
      }
      STENCIL_UNROLL
      for (int o = 0; o < S::kOutputs; ++o) outputs[o][i] = cell[o];
    });
  }

  STENCIL_DEVICE void next() {
    STENCIL_UNROLL
    for (int q = 0; q < kReach; ++q) {
      STENCIL_UNROLL
      for (int i = 0; i < T::kRegisterY * T::kRegisterX; ++i) {
        STENCIL_UNROLL
        for (int k = 0; k < S::kSums; ++k) pending[q][i][k] = pending[q + 1][i][k];
      }
    }
  }
};

/// Where a walking thread writes: plane after plane. Whether its whole register tile lies in the box is settled once.
template <class S, class T>
struct WalkOutput {
  using Index = typename S::Index;
  const typename S::Value* coefficients;
  const UpdatedBox<S>& box;
  Index x, y, stride_y, stride_z;
  bool whole;
  typename FieldCells<S>::Output to[S::kOutputs];  ///< the thread's first cell of the next plane

  STENCIL_DEVICE WalkOutput(const Arguments<S>& a, const UpdatedBox<S>& b, Index x0, Index y0, Index z0)
      : coefficients(a.coefficients), box(b), x(x0), y(y0), stride_y(Index(a.stride_y)), stride_z(Index(a.stride_z)),
        whole(x0 >= b.low_x && x0 + T::kRegisterX <= b.high_x && y0 >= b.low_y && y0 + T::kRegisterY <= b.high_y) {
    STENCIL_UNROLL
    for (int o = 0; o < S::kOutputs; ++o) to[o] = FieldCells<S>::output(a, o) + (y0 * stride_y + z0 * stride_z + x0);
  }

  /// The complete outputs of `sums`, which are those of the next plane: a plane of the box.
  template <class Late>
  STENCIL_DEVICE void store(const PlaneSums<S, T>& sums, const Late& late) {
    typename S::Value rows[T::kRegisterY][S::kOutputs][T::kRegisterX];
    unrolled<T::kRegisterY>([&](auto j) { sums.template finish<j>(late, coefficients, rows[j]); });
    if (whole) {
      unrolled<T::kRegisterY>([&](auto j) {
        STENCIL_UNROLL
        for (int o = 0; o < S::kOutputs; ++o) store_whole_row<S, T>(to[o] + j * stride_y, rows[j][o]);
      });
    } else {
      unrolled<T::kRegisterY>([&](auto j) {
        if (y + j < box.low_y || y + j >= box.high_y) return;
        STENCIL_UNROLL
        for (int o = 0; o < S::kOutputs; ++o) store_part_of_row<S, T>(to[o] + j * stride_y, box, x, rows[j][o]);
      });
    }
    STENCIL_UNROLL
    for (int o = 0; o < S::kOutputs; ++o) to[o] += stride_z;
  }
};

}  // namespace stencil_tune
