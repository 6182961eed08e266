// The parameter of the kernel in box_copies.cuh. Plain C++ that the host, which writes it, and the kernel compile.
#pragma once

namespace stencil_tune {

inline constexpr int kBoxCopies = 32;        ///< boxes of a launch, at most
inline constexpr int kBoxCopyThreads = 256;  ///< threads of a block
inline constexpr int kBoxCopyCells = 4;      ///< cells that a thread has in flight

/// Divides numbers below 2^31 by one multiplication: T. Granlund, P. Montgomery, Division by Invariant Integers using
/// Multiplication, 1994, theorem 4.2.
struct Divisor {
  unsigned multiplier;  ///< 2^shift / divisor, rounded up
  unsigned shift;       ///< 31 + the binary logarithm of the divisor, rounded up
};

template <class Cell>
struct BoxArgument {
  const Cell* from;                ///< the box's first cell in one array
  Cell* to;                        ///< and in the other
  long long from_row, from_plane;  ///< cells from one row, plane to the next
  long long to_row, to_plane;
  unsigned extent[3];  ///< less than 2^31 cells in all
  unsigned end_block;  ///< the box's last block, and one; its first one follows the last of the box before
  Divisor row, plane;  ///< by extent[0], extent[1]
};

template <class Cell>
struct BoxArguments {
  BoxArgument<Cell> boxes[kBoxCopies];
};

}  // namespace stencil_tune
