// What the kernels of cells.cu take: one by-value structure each, the same bytes on host and device.
#ifndef STENCIL_TUNE_TUNER_DEVICE_CELL_ARGUMENTS_H
#define STENCIL_TUNE_TUNER_DEVICE_CELL_ARGUMENTS_H

#include "tuner/verify/device/cells.h"

namespace stencil_tune::check {

struct FillCellsArguments {
  void* cells;
  long long count;
  CellsFilled filled;
};

/// What a comparison found.
struct CellReport {
  unsigned long long wrong;
  unsigned long long unwritten;  ///< every byte is the poison
  long long first_wrong;         ///< beyond all cells where none is
};

struct CompareCellsArguments {
  const void* found;
  const void* expected;
  CellReport* report;
  long long count;
  double tolerance;
  Cell type;
  unsigned poison;
};

}  // namespace stencil_tune::check

#endif
