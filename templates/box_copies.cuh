// Box copies: cells of boxes of fields to dense arrays, and back. Faces of a halo travel so, as one launch.
//
//     grid = blocks x boxes; the blocks of a box walk over its cells together, x fastest in both arrays
//
// Cells are moved, not computed with: one kernel serves all element types of a size.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

constexpr int kBoxCopies = 64;
constexpr int kBoxCopyThreads = 256;

template <class Cell>
struct BoxCopy {
  Cell* field;  ///< the box's first cell in its field
  Cell* dense;  ///< and in the dense array
  long long row;
  long long plane;     ///< cells from one row, plane of the field to the next
  unsigned extent[3];  ///< less than 2^31 cells in all
  unsigned unused;
};

/// distributed/box_copies.cpp has the same structure, member by member.
template <class Cell>
struct BoxCopies {
  BoxCopy<Cell> boxes[kBoxCopies];
};

template <bool kPack, class Cell>
STENCIL_DEVICE void copy_boxes(const BoxCopies<Cell>& a) {
  const BoxCopy<Cell>& box = a.boxes[block_y()];
  const unsigned cells = box.extent[0] * box.extent[1] * box.extent[2];
  for (unsigned cell = block_x() * kBoxCopyThreads + thread_x(); cell < cells;
       cell += blocks_in_x() * kBoxCopyThreads) {
    const unsigned row = cell / box.extent[0];
    const long long in_field = row / box.extent[1] * box.plane + row % box.extent[1] * box.row + cell % box.extent[0];
    if (kPack) {
      box.dense[cell] = box.field[in_field];
    } else {
      box.field[in_field] = box.dense[cell];
    }
  }
}

}  // namespace stencil_tune
