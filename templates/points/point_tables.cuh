// Points as tables in device memory: sources, which add a time series at cells, and receivers, which record cells. Plain
// C++ that the host, which writes them, and the kernel, which reads them, both compile.
#pragma once

namespace stencil_tune {

/// `cell` of a lane that has no source in a round.
inline constexpr unsigned kNoCell = 0xffff;

/// A cell of a thread that a source adds to.
template <class Value>
struct SourceCell {
  unsigned short cell;   ///< row cell / kCells, column cell % kCells of the thread
  unsigned short field;  ///< its field: an index into the stencil's fields
  int series;            ///< number of the source
  Value weight;
};

/// Cells of a thread that receivers record, 32 at most: their values are captured one after the other.
struct alignas(16) ReceiverMask {
  unsigned cells;  ///< bit i: cell 32 * group + i; 0: none
  unsigned place;  ///< where the first one's value stands among what is captured
  unsigned field;  ///< as above; all lanes of a round have the same ...
  unsigned group;  ///< ... and the same
};

/// Where points of a tile's plane are found.
struct PointPlane {
  int next;  ///< this plane where it has points, else the next that has; the number of planes where none has
  int row;   ///< that plane's row in the table of warps
};

/// Where a warp's points of a plane begin, in rounds; they end with the next warp's.
struct WarpPoints {
  unsigned source;
  unsigned receiver;
};

/// The points of one kernel's tiles. A tile's sources are those of all cells that it computes, its receivers those of
/// the cells that it stores. They stand in rounds of 32: one for each lane, or none. A source is a lane's turn; receivers'
/// cells of one field are one round, however many they are.
///
///     tiles    [ -1   0  -1   1 ... ]      a number a tile, row by row, of those that have points
///     planes     0: [ 7 7 7 7 7 7 7 7 | 9 9 | n n ... ]  next          1: [ ... ]
///     warps      plane 7: [ warp 0 | warp 1 | ... ]   plane 9: [ ... ]
///     sources    [ rounds of warp 0 of plane 7 | of warp 1 ... ]    receivers    [ the same ]
template <class Value>
struct PointTables {
  const int* tiles;
  const PointPlane* planes;          ///< [tile that has points][plane of the grid]
  const WarpPoints* warps;           ///< one more at the end
  const SourceCell<Value>* sources;  ///< [round][lane]
  const ReceiverMask* receivers;     ///< the same
  const Value* series;               ///< [step of the launch][source]
  Value* captured;                   ///< [step of the launch][ReceiverMask::place ...]
  long long series_stride;           ///< values from one step to the next
  long long captured_stride;         ///< the same
  unsigned recorded;                 ///< bit t: receivers record the state after step t of the launch
  unsigned reserved;
};

/// A kernel's one parameter where it takes points.
template <class Kernel, class Value>
struct PointArguments {
  Kernel kernel;
  PointTables<Value> points;
};

}  // namespace stencil_tune
