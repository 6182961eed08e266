// Whether the indices of a kernel fit in 32 bits: what the generator chooses a kernel's index type by, and what an
// exported file's launcher refuses other grids by. Plain C++ that both compile; no kernel includes it.
#pragma once

#include "stencil_tune/both_sides.cuh"

namespace stencil_tune {

/// Rows and planes beyond an edge of the grid to which a kernel counts cells, without accessing memory there.
struct BeyondGrid {
  long long rows;
  long long planes;
};

/// Whether all that a kernel computes from indices and strides, in cells, stays below 2^31.
/// n: extents along the kernel's axes. Strides: cells from one row, plane to the next; 0 without such an axis.
STENCIL_BOTH_SIDES bool fits_32_bits(const long long (&n)[3], long long stride_y, long long stride_z,
                                     const BeyondGrid& beyond) {
  constexpr long long kMost = 0x7fffffff;
  // No index lies further beyond the grid: 1024 threads x 12 cells x 8 blocks of a cluster x 8 tiles a block are fewer.
  constexpr long long kBeyondAxis = 1 << 20;
  for (const long long extent : n) {
    if (extent > (kMost + 1) / 2) return false;  // reflection counts up to twice as far
  }
  if (stride_y > kMost || stride_z > kMost || beyond.rows > kMost || beyond.planes > kMost) return false;
  return n[0] + kBeyondAxis + (n[1] + beyond.rows) * stride_y + (n[2] + beyond.planes) * stride_z <= kMost;
}

}  // namespace stencil_tune
