// Kernels that fill the arrays of users' kernels, and compare what these leave.
#include "tuner/verify/device/cell_arguments.h"

namespace stencil_tune::check {

__device__ long long first_cell() { return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ long long cell_step() { return static_cast<long long>(gridDim.x) * blockDim.x; }

extern "C" __global__ void fill_cells(FillCellsArguments arguments) {
  const int bytes = size_of(arguments.filled.type);
  for (long long cell = first_cell(); cell < arguments.count; cell += cell_step()) {
    store_cell(arguments.filled.type, filled_value(arguments.filled, cell),
               static_cast<char*>(arguments.cells) + cell * bytes);
  }
}

extern "C" __global__ void compare_cells(CompareCellsArguments arguments) {
  const int bytes = size_of(arguments.type);
  CellReport* report = arguments.report;
  for (long long cell = first_cell(); cell < arguments.count; cell += cell_step()) {
    const char* found = static_cast<const char*>(arguments.found) + cell * bytes;
    const char* expected = static_cast<const char*>(arguments.expected) + cell * bytes;
    if (!is_right(arguments.type, found, expected, arguments.tolerance)) {
      atomicAdd(&report->wrong, 1ull);
      atomicMin(&report->first_wrong, cell);
    }
    if (holds_byte(found, arguments.poison, bytes)) atomicAdd(&report->unwritten, 1ull);
  }
}

}  // namespace stencil_tune::check
