// Box copies: cells of boxes from one array to another, each with rows of its own. Faces of a halo travel so to dense
// arrays and back, and layers that no step writes from field to field, all as one launch.
//
//     blocks     | box 0 | box 1             | box 2 |      as many as a box's cells need
//     cells      thread 0, thread 1, ... of one block, so 4 times over; x fastest in both arrays
//
// A thread loads all its cells before it stores one. A box of more cells than its blocks have is walked over. Cells are
// moved, not computed with: one kernel serves all element types of a size.
#pragma once

#include "stencil_tune/box_copy_arguments.cuh"
#include "stencil_tune/device.cuh"

namespace stencil_tune {

STENCIL_DEVICE unsigned quotient(unsigned number, const Divisor& by) {
  return static_cast<unsigned>(static_cast<unsigned long long>(number) * by.multiplier >> by.shift);
}

template <class Cell>
STENCIL_DEVICE void copy_boxes(const BoxArguments<Cell>& a) {
  int number = 0;
  while (block_x() >= a.boxes[number].end_block) ++number;
  const BoxArgument<Cell>& box = a.boxes[number];
  const unsigned first_block = number == 0 ? 0 : a.boxes[number - 1].end_block;
  const unsigned cells = box.extent[0] * box.extent[1] * box.extent[2];
  constexpr unsigned kCells = kBoxCopyThreads * kBoxCopyCells;  // a block copies at once
  const unsigned step = (box.end_block - first_block) * kCells;
  for (unsigned first = (block_x() - first_block) * kCells + thread_x(); first < cells; first += step) {
    Cell copied[kBoxCopyCells];
    long long to[kBoxCopyCells];
    STENCIL_UNROLL
    for (unsigned i = 0; i < kBoxCopyCells; ++i) {
      const unsigned own = first + i * kBoxCopyThreads, cell = own < cells ? own : first;
      const unsigned row = quotient(cell, box.row), x = cell - row * box.extent[0];
      const unsigned z = quotient(row, box.plane), y = row - z * box.extent[1];
      copied[i] = box.from[z * box.from_plane + y * box.from_row + x];
      to[i] = z * box.to_plane + y * box.to_row + x;
    }
    STENCIL_UNROLL
    for (unsigned i = 0; i < kBoxCopyCells; ++i) {
      if (first + i * kBoxCopyThreads < cells) box.to[to[i]] = copied[i];
    }
  }
}

}  // namespace stencil_tune
