// taps: any linear stencil from a table in the kernel's argument. It runs while the tuned kernel is still being
// compiled. So it is compiled once for each type and table size, whatever the stencil, boundary and grid.
//
//     block = 32 x 8 threads, one output each; blocks are numbered along x alone, tile by tile, x fastest
//
// 1. Each thread adds weight * cell over the table, which all threads read at the same place: the constant bank.
// 2. Threads whose reads may leave the array apply the boundary at each read; the others do not.
// No shared memory, no barrier. The text that includes this defines kTapCapacity, Storage and Value.
#pragma once

#include "stencil_tune/boundary.cuh"
#include "stencil_tune/element.cuh"

namespace stencil_tune {

constexpr int kMostTapInputs = 8;

/// runtime/library/launch/tap_launch.cpp has the same structure, member by member.
template <class Storage, class Value, int kCapacity>
struct TapArguments {
  const Storage* in[kMostTapInputs];
  Storage* out;
  long long low[3];   ///< first cell to update, per axis
  long long high[3];  ///< one past the last
  long long n[3];     ///< extents of the grid
  long long stride_y;
  long long stride_z;
  long long reach_low[3];   ///< lowest offset, <= 0
  long long reach_high[3];  ///< highest offset, >= 0
  unsigned tiles[2];        ///< along x and y
  int boundary[3];          ///< a Boundary, per axis
  int taps;
  Value weight[kCapacity];
  signed char offset[kCapacity][4];  ///< x, y, z, input
};

/// The index inside 0..n-1 that answers for i; -1 where the boundary says that the value is 0.
STENCIL_DEVICE long long answering(int boundary, long long i, long long n) {
  if (i >= 0 && i < n) return i;
  switch (static_cast<Boundary>(boundary)) {
    case Boundary::zero:
      return -1;
    case Boundary::periodic:
      return inside<Boundary::periodic>(i, n);
    case Boundary::reflect:
      return inside<Boundary::reflect>(i, n);
    default:
      return inside<Boundary::clamp>(i, n);
  }
}

template <class Storage, class Value, int kCapacity>
STENCIL_DEVICE Value tap_cell(const TapArguments<Storage, Value, kCapacity>& a, int tap, long long x, long long y,
                              long long z) {
  x = answering(a.boundary[0], x + a.offset[tap][0], a.n[0]);
  y = answering(a.boundary[1], y + a.offset[tap][1], a.n[1]);
  z = answering(a.boundary[2], z + a.offset[tap][2], a.n[2]);
  if (x < 0 || y < 0 || z < 0) return Value(0);
  return a.in[static_cast<int>(a.offset[tap][3])][z * a.stride_z + y * a.stride_y + x];
}

template <class Storage, class Value, int kCapacity>
STENCIL_DEVICE void sum_taps(const TapArguments<Storage, Value, kCapacity>& a) {
  const unsigned row = block_x() / a.tiles[0];
  const long long x = a.low[0] + static_cast<long long>(block_x() % a.tiles[0]) * 32 + thread_x();
  const long long y = a.low[1] + static_cast<long long>(row % a.tiles[1]) * 8 + thread_y();
  const long long z = a.low[2] + row / a.tiles[1];
  if (x >= a.high[0] || y >= a.high[1]) return;

  const bool all_inside = x + a.reach_low[0] >= 0 && x + a.reach_high[0] < a.n[0] && y + a.reach_low[1] >= 0 &&
                          y + a.reach_high[1] < a.n[1] && z + a.reach_low[2] >= 0 && z + a.reach_high[2] < a.n[2];
  const long long here = z * a.stride_z + y * a.stride_y + x;
  Value sum = Value(0);
  for (int tap = 0; tap < a.taps; ++tap) {
    if (all_inside) {
      const long long there = here + a.offset[tap][2] * a.stride_z + a.offset[tap][1] * a.stride_y + a.offset[tap][0];
      sum += a.weight[tap] * a.in[static_cast<int>(a.offset[tap][3])][there];
    } else {
      sum += a.weight[tap] * tap_cell(a, tap, x, y, z);
    }
  }
  a.out[here] = sum;
}

}  // namespace stencil_tune
