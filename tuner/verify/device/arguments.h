// What the checking kernels take: one by-value structure each, the same bytes on host and device.
#ifndef STENCIL_TUNE_TUNER_DEVICE_ARGUMENTS_H
#define STENCIL_TUNE_TUNER_DEVICE_ARGUMENTS_H

#include "tuner/verify/device/program.h"
#include "tuner/verify/device/storage.h"

namespace stencil_tune::check {

constexpr int kMaxInputs = 64;

/// A field in memory and the box of cells that a step writes.
struct Layout {
  long long n[3];
  long long pitch;  ///< cells from row to row
  long long low[3];
  long long high[3];
  int boundary[3];  ///< as enum Boundary counts
  int type;         ///< what the field's cells are, as enum ElementType counts
};

/// Which numbers the inputs hold.
enum class Pattern : int {
  signed_unit,  ///< [-1, 1)
  positive,     ///< [1/4, 1]: for divisions and square roots
  integers,     ///< -8 .. 8: sums and products stay exact
  bits,         ///< 0 or 1: for stencils that ask whether values are equal, which others hardly ever are
  slopes,       ///< positive, doubled or halved every few cells: for averages, which leave nothing of noise
};

struct Input {
  Pattern pattern;
  int reserved;
  double scale;  ///< a power of two, of the first two patterns: to both sides of what a stencil compares with
};

/// How often slopes are halved at a cell: along each axis they fall for 32 cells and rise for as many, by 2 every 4.
STENCIL_TUNE_BOTH int halvings(const long long (&cell)[3]) {
  int fallen = 0;
  for (long long along : cell) {
    const int place = static_cast<int>(along % 64);
    fallen += place < 32 ? place : 64 - place;
  }
  return fallen / 4;
}

/// The input's value at a cell, before it is stored: a hash of the seed and the cell's number, so that any cell can be
/// made anywhere at any time. Patterns with fractions use all 53 bits of f64.
STENCIL_TUNE_BOTH double input_value(unsigned long long seed, unsigned long long place, const long long (&cell)[3],
                                     const Input& input) {
  unsigned long long h = seed * 0x9e3779b97f4a7c15ull + place;  // splitmix64
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  h ^= h >> 31;
  const double unit = static_cast<double>(static_cast<long long>(h >> 11)) / 9007199254740992.0;  // [0, 1) by 2^-53
  switch (input.pattern) {
    case Pattern::positive:
      return input.scale * (0.25 + 0.75 * unit);
    case Pattern::integers:
      return static_cast<double>(static_cast<int>(h % 17u) - 8);
    case Pattern::bits:
      return static_cast<double>(h & 1u);
    case Pattern::slopes:
      return ldexp(0.25 + 0.75 * unit, -halvings(cell));
    default:
      return input.scale * (2 * unit - 1);
  }
}

/// A type of whole numbers holds them as they are where they are few, or 0 and 1. Otherwise half of the cells hold one
/// of its eight least numbers, which select among few, and the other half any number of its range, up to 2^20.
STENCIL_TUNE_BOTH double input_as_stored(double value, const Input& input, int type) {
  if (!is_whole_type(type)) return value;
  const double largest = fmin(largest_whole(type), 0x1p20);
  const bool is_signed = least_whole(type) < 0;
  if (input.pattern == Pattern::integers || input.pattern == Pattern::bits) return is_signed ? value : fabs(value);
  const double scaled = fabs(value) / input.scale;  // slopes have 1
  const bool positive = input.pattern != Pattern::signed_unit;
  const double unit = positive ? fmax(0.0, (scaled - 0.25) / 0.75) : scaled;  // [0, 1]
  const double least = positive ? 1 : 0;                                      // a divisor is not 0
  const double number = unit < 0.5 ? floor(16 * unit) : floor((2 * unit - 1) * largest);
  return is_signed && !positive && value < 0 ? -number : fmax(least, number);
}

struct FillArguments {
  void* cells;
  Layout layout;
  unsigned long long seed;
  Input input;
};

struct PoisonArguments {
  void* cells;
  long long count;
  int type;  ///< what the cells are, as enum ElementType counts
  int reserved;
};

/// What an earlier level computed of its whole box.
struct ComputedBox {
  const double* values;  ///< null: nothing
  const float* errors;
  long long low[3];
  long long high[3];
};

/// Fields that vary with time have an entry a step.
constexpr int kAlongTime = 8;

/// What a field holds when a level reads it.
struct ReferenceInput {
  const void* cells;        ///< memory, as kernels have it
  ComputedBox computed[2];  ///< read instead in their boxes; the second one where the first has nothing
  int along;                ///< a profile's axes, a bit each, x the lowest, or kAlongTime; 0: a field of the whole grid
  int type;                 ///< what the cells in memory are, as enum ElementType counts
};

/// Rows of the box are numbered along y, then z.
struct ReferenceArguments {
  const Instruction* program;
  ReferenceInput inputs[kMaxInputs];
  const ErrorWeight* weights;  ///< weights of the earlier levels' errors; none: they travel with the values
  double* values;              ///< results from cell first_row * row length on, before they are stored
  float* errors;
  unsigned long long* unbounded;  ///< counts cells that may hold anything once they are stored
  Layout layout;
  Rounding rounding;
  long long first_row;
  long long rows;
  long long step;  ///< number of the step
  int instructions;
  int weight_count;
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
  const float* errors;
  Report* report;
  Layout layout;
  Rounding rounding;
  long long first_row;
  long long rows;
  int exact;  ///< the result is the value as it is stored, to the bit
  int reserved;
};

/// Everything but the box still holds the poison.
struct UntouchedArguments {
  const void* field;  ///< with `guard` cells before and after it
  Report* report;
  Layout layout;
  long long guard;
};

/// The field still holds what fill wrote, its padding and guard bands the poison; in the box it may hold anything where
/// that was written on purpose.
struct UnchangedArguments {
  const void* field;
  Report* report;
  Layout layout;
  long long guard;
  unsigned long long seed;
  Input input;
  int outside_alone;  ///< the box is not looked at
  int reserved;
};

struct CopyArguments {
  const void* from;
  void* to;
  long long vectors;  ///< numbers of 16 bytes
};

}  // namespace stencil_tune::check

#endif
