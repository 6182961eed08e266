// The independent evaluator: an expression as a straight line of instructions on numbered slots. Host and device.
#ifndef STENCIL_TUNE_TUNER_DEVICE_PROGRAM_H
#define STENCIL_TUNE_TUNER_DEVICE_PROGRAM_H

#include "tuner/verify/device/bounded.h"

namespace stencil_tune::check {

/// As enum Operation counts (the reference settles outside and in_layer, profiles are read), and two that kernels
/// compute as they stand: reference_expression.hpp.
enum class Code : int {
  number,
  coefficient,
  read,
  negate,
  absolute,
  square_root,
  exponential,
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  less,
  less_equal,
  equal,
  select,
  sine,
  cosine,
  tangent,
  hyperbolic_tangent,
  logarithm,
  power,
  coordinate,
  step,
  before,
  after,
  outside,
  profile,
  in_layer,
  floor,
  modulo,
  random,
  round,
  product,
  quotient,
};

struct Instruction {
  Code code;
  int target;       ///< slot written; may be one of the operands'
  int operands[3];  ///< slots read
  int input;        ///< read: which input; coordinate, before, after: which axis; random: of how many axes the grid is
  int offset[3];    ///< read; random: of its cell's coordinates from where.cell
  int inexact;   ///< number, coordinate, step: a kernel has it rounded to the compute type; random: it has f32's digits
  double value;  ///< number; coefficient, as the kernel has it; coordinate: of the grid's first cell;
                 ///< before, after: how far the read is from the cell, towards that edge; random: its key
};

/// What part of the error of an input's cell at that offset enters a linear update.
struct ErrorWeight {
  int offset[3];
  int input;
  double weight;
};

/// The cell that is updated, the number of the step, and the grid's extents.
struct Where {
  long long cell[3];
  long long step;
  long long n[3];
};

/// Uniform in [0, 1): of Philox 4x32 (Salmon et al., SC 2011) after ten rounds the first word, or two. The counter is
/// low halves of x, y, z and the step, the key those of the seed and the call's number.
STENCIL_TUNE_BOTH double random_number(const long long (&counter)[4], double key, bool in_f32) {
  constexpr unsigned long long kLow = 0xffffffffull;
  const auto bits = static_cast<unsigned long long>(key);
  unsigned long long c[4], k[2] = {bits & kLow, bits >> 32};
  for (int i = 0; i < 4; ++i) c[i] = static_cast<unsigned long long>(counter[i]) & kLow;
  for (unsigned long long round = 0; round < 10; ++round) {
    const unsigned long long key_0 = (k[0] + round * 0x9e3779b9ull) & kLow,
                             key_1 = (k[1] + round * 0xbb67ae85ull) & kLow;
    const unsigned long long left = c[0] * 0xd2511f53ull, right = c[2] * 0xcd9e8d57ull;
    c[0] = right >> 32 ^ c[1] ^ key_0;
    c[1] = right & kLow;
    c[2] = left >> 32 ^ c[3] ^ key_1;
    c[3] = left & kLow;
  }
  return in_f32 ? static_cast<double>(c[0] >> 8) * 0x1p-24 : static_cast<double>((c[0] << 32 | c[1]) >> 11) * 0x1p-53;
}

/// The key of random numbers whose seed a coefficient has.
STENCIL_TUNE_BOTH double random_key(double key, double seed) {
  return key + static_cast<double>(static_cast<unsigned>(static_cast<long long>(seed)));
}

/// Runs the program; `read(input, offset)` gives an input's cell, Bounded. The last instruction's target is the result.
template <class Read>
STENCIL_TUNE_BOTH Bounded run_program(const Instruction* program, int count, Bounded* slots, const Rounding& rounding,
                                      const Where& where, const Read& read) {
  Bounded result = exactly(0);
  for (int i = 0; i < count; ++i) {
    const Instruction& now = program[i];
    const Bounded& a = slots[now.operands[0]];
    const Bounded& b = slots[now.operands[1]];
    const Bounded& c = slots[now.operands[2]];
    switch (now.code) {
      case Code::number:
        result = exactly(now.value);
        result.factors = now.inexact;
        break;
      case Code::coefficient:
        result = exactly(now.value);
        break;
      case Code::read:
        result = read(now.input, now.offset);
        break;
      case Code::negate:
        result = negate(a);
        break;
      case Code::absolute:
        result = absolute(a, rounding);
        break;
      case Code::square_root:
        result = square_root(a, rounding);
        break;
      case Code::exponential:
        result = exponential(a, rounding);
        break;
      case Code::add:
        result = add(a, b);
        break;
      case Code::subtract:
        result = subtract(a, b);
        break;
      case Code::multiply:
        result = multiply(a, b);
        break;
      case Code::divide:
        result = divide(a, b, rounding);
        break;
      case Code::product:
        result = product(a, b, rounding);
        break;
      case Code::quotient:
        result = quotient(a, b, rounding);
        break;
      case Code::minimum:
        result = minimum(a, b, rounding);
        break;
      case Code::maximum:
        result = maximum(a, b, rounding);
        break;
      case Code::less:
        result = compared(a.value < b.value, a, b, rounding);
        break;
      case Code::less_equal:
        result = compared(a.value <= b.value, a, b, rounding);
        break;
      case Code::equal:
        result = compared(a.value == b.value, a, b, rounding);
        break;
      case Code::select:
        result = select(a, b, c, rounding);
        break;
      case Code::sine:
        result = sine(a, rounding);
        break;
      case Code::cosine:
        result = cosine(a, rounding);
        break;
      case Code::tangent:
        result = tangent(a, rounding);
        break;
      case Code::hyperbolic_tangent:
        result = hyperbolic_tangent(a, rounding);
        break;
      case Code::logarithm:
        result = logarithm(a, rounding);
        break;
      case Code::power:
        result = power(a, b, rounding);
        break;
      case Code::floor:
        result = floored(a, rounding);
        break;
      case Code::round:
        result = rounded(a, rounding);
        break;
      case Code::modulo:
        result = modulo(a, b, rounding);
        break;
      case Code::random: {
        long long counter[4] = {0, 0, 0, where.step};
        for (int axis = 0; axis < now.input; ++axis) counter[axis] = where.cell[axis] + now.offset[axis];
        result = exactly(random_number(counter, now.value, now.inexact != 0));
        break;
      }
      case Code::outside:
      case Code::profile:
      case Code::in_layer:
        break;
      case Code::coordinate:
        result = whole(now.value + static_cast<double>(where.cell[now.input]), now.inexact != 0);
        break;
      case Code::step:
        result = whole(static_cast<double>(where.step), now.inexact != 0);
        break;
      case Code::before:
        result = exactly(fmax(0.0, now.value - static_cast<double>(where.cell[now.input])));
        break;
      case Code::after:
        result = exactly(fmax(0.0, static_cast<double>(where.cell[now.input] - where.n[now.input] + 1) + now.value));
        break;
    }
    slots[now.target] = result;
  }
  return result;
}

}  // namespace stencil_tune::check

#endif
