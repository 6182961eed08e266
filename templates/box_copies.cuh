// Box copies: cells of boxes from one array to another, each with rows of its own. Faces of a halo travel so to dense
// arrays and back, and layers that no step writes from field to field, all as one launch.
//
//     grid = blocks x boxes; the blocks of a box walk over its cells together, x fastest in both arrays
//
// Cells are moved, not computed with: one kernel serves all element types of a size.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

constexpr int kBoxCopies = 32;
constexpr int kBoxCopyThreads = 256;

template <class Cell>
struct BoxCopy {
  const Cell* from;  ///< the box's first cell in one array
  Cell* to;          ///< and in the other
  long long from_row, from_plane;  ///< cells from one row, plane to the next
  long long to_row, to_plane;
  unsigned extent[3];  ///< less than 2^31 cells in all
  unsigned unused;
};

/// runtime/library/launch/box_copies.cpp has the same structures, member by member.
template <class Cell>
struct BoxCopies {
  BoxCopy<Cell> boxes[kBoxCopies];
};

template <class Cell>
STENCIL_DEVICE void copy_boxes(const BoxCopies<Cell>& a) {
  const BoxCopy<Cell>& box = a.boxes[block_y()];
  const unsigned cells = box.extent[0] * box.extent[1] * box.extent[2];
  for (unsigned cell = block_x() * kBoxCopyThreads + thread_x(); cell < cells;
       cell += blocks_in_x() * kBoxCopyThreads) {
    const unsigned row = cell / box.extent[0], x = cell % box.extent[0];
    const unsigned z = row / box.extent[1], y = row % box.extent[1];
    box.to[z * box.to_plane + y * box.to_row + x] = box.from[z * box.from_plane + y * box.from_row + x];
  }
}

}  // namespace stencil_tune
