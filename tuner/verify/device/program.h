// The independent evaluator: an expression as a straight line of instructions on numbered slots. Host and device.
#ifndef STENCIL_TUNE_TUNER_DEVICE_PROGRAM_H
#define STENCIL_TUNE_TUNER_DEVICE_PROGRAM_H

#include "tuner/verify/device/bounded.h"

namespace stencil_tune::check {

/// As enum Operation counts, and two that kernels compute as they stand: reference_expression.hpp.
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
  product,
  quotient,
};

struct Instruction {
  Code code;
  int target;       ///< slot written; may be one of the operands'
  int operands[3];  ///< slots read
  int input;        ///< read: which input; coordinate, before, after: which axis
  int offset[3];    ///< read
  int inexact;      ///< number, coordinate, step: a kernel has it rounded to the compute type
  double value;     ///< number; coefficient, as the kernel has it; coordinate: of the grid's first cell;
                    ///< before, after: how far the read is from the cell, towards that edge
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
