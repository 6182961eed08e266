// What the checking kernels take: one by-value structure each, the same bytes on host and device.
#ifndef STENCIL_TUNE_TUNER_DEVICE_ARGUMENTS_H
#define STENCIL_TUNE_TUNER_DEVICE_ARGUMENTS_H

#include "tuner/verify/device/program.h"

namespace stencil_tune::check {

constexpr int kMaxInputs = 16;

/// A field in memory and the box of cells that a step writes.
struct Layout {
  long long n[3];
  long long pitch;  ///< cells from row to row
  long long low[3];
  long long high[3];
  int boundary[3];  ///< as enum Boundary counts
  int reserved;
};

/// Which numbers the inputs hold; all are exact in f32.
enum class Input : int {
  signed_unit,  ///< [-1, 1)
  positive,     ///< [1/4, 1]: for divisions and square roots
  integers,     ///< -8 .. 8: sums and products stay exact
  bits,         ///< 0 or 1: for stencils that ask whether values are equal, which others hardly ever are
};

/// The input's value at a cell: a hash of seed and place, so that any cell can be made anywhere at any time.
STENCIL_TUNE_BOTH double input_value(unsigned long long seed, unsigned long long place, Input kind) {
  unsigned long long h = seed * 0x9e3779b97f4a7c15ull + place;  // splitmix64
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  h ^= h >> 31;
  const int bits = static_cast<int>(h >> 41);  // 23 bits: sums with a power of two stay exact
  switch (kind) {
    case Input::positive:
      return 0.25 + 0.75 * (bits >> 1) / (1 << 22);
    case Input::integers:
      return static_cast<double>(static_cast<int>(h % 17u) - 8);
    case Input::bits:
      return static_cast<double>(h & 1u);
    default:
      return static_cast<double>(bits) / (1 << 22) - 1;
  }
}

struct FillArguments {
  void* cells;
  Layout layout;
  unsigned long long seed;
  Input kind;
  int reserved;
};

struct PoisonArguments {
  void* cells;
  long long count;
};

/// Rows of the box are numbered along y, then z.
struct ReferenceArguments {
  const Instruction* program;
  const void* inputs[kMaxInputs];
  /// Sweep after sweep: what the one before computed of the whole box, read instead of input `advanced` there; or null.
  const double* earlier_values;
  const float* earlier_tolerances;
  double* values;  ///< of cells first_row * row length ...
  float* tolerances;
  unsigned long long* unchecked;  ///< counts cells with no finite tolerance
  Layout layout;
  Rounding rounding;
  long long first_row;
  long long rows;
  int advanced;
  int instructions;
  int exact;  ///< values are rounded to the element type
};

/// What a check found. Places are cells from the field's beginning; before it they are negative.
struct Report {
  unsigned long long mismatches;
  unsigned long long touched;  ///< cells that no step may write: held layers, row padding, guard bands
  unsigned long long changed;  ///< input cells
  long long first_mismatch;
  long long first_touched;
  long long first_changed;
};

struct CompareArguments {
  const void* output;
  const double* values;
  const float* tolerances;
  Report* report;
  Layout layout;
  long long first_row;
  long long rows;
};

/// Everything but the box still holds the poison.
struct UntouchedArguments {
  const void* field;  ///< with `guard` cells before and after it
  Report* report;
  Layout layout;
  long long guard;
};

/// The input still holds what fill wrote, its padding and guard bands the poison.
struct UnchangedArguments {
  const void* field;
  Report* report;
  Layout layout;
  long long guard;
  unsigned long long seed;
  Input kind;
  int reserved;
};

struct CopyArguments {
  const void* from;
  void* to;
  long long vectors;  ///< of 16 bytes
};

}  // namespace stencil_tune::check

#endif
