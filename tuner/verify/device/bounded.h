// Numbers that know how far a kernel's result may honestly differ from them. Host and device.
//
// A kernel may sum in any order, fuse multiply and add, factor or distribute what is the same in all cells; all of
// these perturb each monomial of the expanded sum by at most (1 + u)^k, where k counts the additions of the whole sum
// plus the factors (multiplications) on the way to the monomial. So a Bounded carries the sum's magnitude (the
// expression with all terms taken absolute) and the two counts, and the rounding bound k * u * magnitude is drawn only
// at the end or where an operation that is not a weighted sum (a product of cells, a root, min, a comparison ...) ends
// the expansion; from there on it travels on as `error`. So terms that cancel within a factor or a divisor count there
// once: the smoothness indicators of WENO schemes are as good as they are small.
//
// Beside it travels a lower bound of what no kernel's value is below, as of squares and of magnitudes: what is added to
// such keeps a divisor from 0, and a root from what is negative, where value and error alone do not tell.
//
// NaN is a value like others: where the operands decide that a result is NaN, a kernel's must be NaN too. A result that
// may be NaN and need not be may be anything.
#ifndef STENCIL_TUNE_TUNER_DEVICE_BOUNDED_H
#define STENCIL_TUNE_TUNER_DEVICE_BOUNDED_H

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_TUNE_BOTH __host__ __device__ inline
#else
#include <cmath>
#define STENCIL_TUNE_BOTH inline
#endif

namespace stencil_tune::check {

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
using std::ceil;
using std::cos;
using std::cosh;
using std::exp;
using std::expm1;
using std::fabs;
using std::floor;
using std::fmax;
using std::fmin;
using std::fmod;
using std::frexp;
using std::ldexp;
using std::log;
using std::log1p;
using std::pow;
using std::rint;
using std::sin;
using std::sqrt;
using std::tan;
using std::tanh;
#endif

/// How the kernel under test rounds.
struct Rounding {
  double unit = 0;          ///< unit roundoff of the compute type; 0: all operations are known to be exact
  double tiny = 0;          ///< absolute error of an operation that underflows
  double storage_unit = 0;  ///< unit roundoff of storing; 0 when stored as computed
  double storage_tiny = 0;
  double largest = 0;           ///< largest finite stored value
  double largest_computed = 0;  ///< the same of the compute type
};

struct Bounded {
  double value;
  double magnitude;  ///< >= |value|
  double error;      ///< inherited from operations that ended an expansion; infinite: the result may be anything
  double least;      ///< >= 0, and no kernel's value is below it but for the roundings counted; NaN: none is known
  int additions;
  int factors;
};

STENCIL_TUNE_BOTH double infinity() {
  const double large = 1e308;  // no header with a name for it stands on both sides
  return large * large;
}

/// The lower bound where it tells that a value is not negative, else NaN, which sums and products hand on.
STENCIL_TUNE_BOTH double if_not_negative(double bound) {
  const double unknown = infinity() - infinity();
  return bound >= 0 ? bound : unknown;
}

STENCIL_TUNE_BOTH Bounded exactly(double value) { return {value, fabs(value), 0, if_not_negative(value), 0, 0}; }

/// A value with an error already bounded, after `roundings` more. least: what else is known of it.
STENCIL_TUNE_BOTH Bounded opaque(double value, double error, int roundings, double least = -1) {
  const double lower = value - error;
  return {value, fabs(value) + error, error, if_not_negative(lower > least ? lower : least), 0, roundings};
}

/// A value that a kernel has once, known to within `error`, as the operand of a sum of products that accounts for the
/// error apart.
STENCIL_TUNE_BOTH Bounded enclosed(double value, double error) {
  return {value, fabs(value) + error, 0, if_not_negative(value - error), 0, 0};
}

STENCIL_TUNE_BOTH bool is_nan(double value) { return value != value; }

/// A kernel's result here is NaN, whichever way it computes.
STENCIL_TUNE_BOTH bool is_nan(const Bounded& a) { return is_nan(a.value) && a.error != infinity(); }

/// bound * factor; what may be anything stays so, also times 0.
STENCIL_TUNE_BOTH double scaled(double bound, double factor) {
  return bound == 0 || bound == infinity() ? bound : bound * factor;
}

/// How far a kernel's result may lie from a.value before it is stored.
STENCIL_TUNE_BOTH double total_error(const Bounded& a, const Rounding& rounding) {
  if (a.error == infinity()) return infinity();
  const int roundings = a.additions + a.factors;
  if (roundings == 0 || rounding.unit == 0) return a.error;
  return a.error + 1.01 * roundings * (rounding.unit * (a.magnitude + a.error) + rounding.tiny);
}

/// No kernel's value is below it: value and error tell, or what the value is made of, as squares or magnitudes.
/// error: the total one.
STENCIL_TUNE_BOTH double at_least(const Bounded& a, double error, const Rounding& rounding) {
  const double sure = a.value - error;
  if (!(a.least >= 0)) return sure;
  const double roundings = 1.01 * (a.additions + a.factors);
  const double known = a.least * (1 - roundings * rounding.unit) - roundings * rounding.tiny;
  const double lower = sure > known ? sure : known;
  return lower > 0 ? lower : 0;
}

STENCIL_TUNE_BOTH double at_least(const Bounded& a, const Rounding& rounding) {
  return at_least(a, total_error(a, rounding), rounding);
}

/// The same for a value that a kernel keeps in the compute type for its next sweep; infinite where it may overflow.
STENCIL_TUNE_BOTH double kept_error(const Bounded& a, const Rounding& rounding) {
  const double error = total_error(a, rounding);
  return fabs(a.value) + error > rounding.largest_computed ? infinity() : error;
}

/// How far a kernel's stored result may lie from a value known to within `error`; infinite where it may overflow.
STENCIL_TUNE_BOTH double stored_error(double value, double error, const Rounding& rounding) {
  const double reach = fabs(value) + error;
  if (error == infinity() || reach > rounding.largest) return infinity();
  return rounding.storage_unit == 0 ? error : error + reach * rounding.storage_unit + rounding.storage_tiny;
}

/// Both in one: of a result that is stored.
STENCIL_TUNE_BOTH double tolerance(const Bounded& a, const Rounding& rounding) {
  return stored_error(a.value, total_error(a, rounding), rounding);
}

/// Is a kernel's `result` right where `expected` may be off by `allowed`?
STENCIL_TUNE_BOTH bool accepts(double expected, double allowed, double result) {
  if (allowed == infinity()) return true;
  if (is_nan(expected)) return is_nan(result);
  return fabs(result - expected) <= allowed || result == expected;
}

/// The tighter one of two bounds of the same result.
STENCIL_TUNE_BOTH Bounded closer(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  return total_error(a, rounding) < total_error(b, rounding) ? a : b;
}

STENCIL_TUNE_BOTH Bounded negate(Bounded a) {
  a.value = -a.value;
  a.least = if_not_negative(-1);
  return a;
}

/// A NaN that a sum or product of numbers makes, as Inf - Inf does: summed in another order it may be Inf.
STENCIL_TUNE_BOTH Bounded unless_made_nan(Bounded result, const Bounded& a, const Bounded& b) {
  if (is_nan(result.value) && !is_nan(a.value) && !is_nan(b.value)) result.error = infinity();
  return result;
}

STENCIL_TUNE_BOTH Bounded add(const Bounded& a, const Bounded& b) {
  return unless_made_nan({a.value + b.value, a.magnitude + b.magnitude, a.error + b.error, a.least + b.least,
                          a.additions + b.additions + 1, a.factors > b.factors ? a.factors : b.factors},
                         a, b);
}

STENCIL_TUNE_BOTH Bounded subtract(const Bounded& a, const Bounded& b) { return add(a, negate(b)); }

/// Inherited errors are those of numbers that a kernel has once, wherever it uses them: unlike roundings they cancel
/// where the numbers do, as in the square of a difference.
STENCIL_TUNE_BOTH Bounded multiply(const Bounded& a, const Bounded& b) {
  const double error = scaled(b.error, fabs(a.value)) + scaled(a.error, fabs(b.value)) + scaled(a.error, b.error);
  return unless_made_nan({a.value * b.value, scaled(a.magnitude, b.magnitude), error, a.least * b.least,
                          a.additions + b.additions, a.factors + b.factors + 1},
                         a, b);
}

/// A sum that may have weights, which kernels may take out of it and put into what it is multiplied by.
STENCIL_TUNE_BOTH bool is_weighted_sum(const Bounded& a) { return a.additions > 0 && a.factors > 0; }

/// A product of factors that both vary from cell to cell, which no kernel distributes: a factor is as good as its own
/// value, however large the terms that cancel in it. A weight that goes from one factor to the other is rounded twice.
STENCIL_TUNE_BOTH Bounded product(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  const double a_error = total_error(a, rounding), b_error = total_error(b, rounding);
  const double error = scaled(b_error, fabs(a.value)) + scaled(a_error, fabs(b.value)) + scaled(a_error, b_error);
  const double a_least = at_least(a, a_error, rounding), b_least = at_least(b, b_error, rounding);
  const bool is_square = &a == &b;
  const double least = a_least >= 0 && b_least >= 0 ? a_least * b_least : is_square ? 0 : -1;
  const bool weighted = is_weighted_sum(a) || is_weighted_sum(b);
  const Bounded whole = unless_made_nan(opaque(a.value * b.value, error, weighted ? 3 : 1, least), a, b);
  return weighted ? closer(whole, multiply(a, b), rounding) : whole;
}

/// Its inverse is one too, with no rounding.
STENCIL_TUNE_BOTH bool is_power_of_two(double value) {
  int exponent = 0;
  return fabs(frexp(value, &exponent)) == 0.5;
}

/// A number, coefficient or cell: its inverse and the product with that are rounded once each.
STENCIL_TUNE_BOTH bool is_plain(const Bounded& b) { return b.error == 0 && b.additions == 0 && b.factors <= 1; }

STENCIL_TUNE_BOTH int roundings_of_dividing_by(const Bounded& b) {
  return !is_plain(b) ? 4 : is_power_of_two(b.value) ? 1 : 2;
}

/// a * (1 / b): the expansion of a goes on. Infinite error where b may be 0.
STENCIL_TUNE_BOTH Bounded divide(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  if (is_nan(a) || is_nan(b)) return opaque(a.value / b.value, 0, 0);
  if (is_plain(b) && fabs(b.value) > rounding.tiny) {
    const double inverse = 1 / fabs(b.value);
    return unless_made_nan({a.value / b.value, scaled(a.magnitude, inverse), scaled(a.error, inverse),
                            if_not_negative(b.value > 0 ? a.least * inverse : -1), a.additions,
                            a.factors + b.factors + roundings_of_dividing_by(b)},
                           a, b);
  }
  const double error = total_error(b, rounding);
  const double least = fabs(b.value) - error;
  if (!(least > 0)) return opaque(a.value / b.value, infinity(), 0);
  const double relative = error / least;
  const double magnitude = a.magnitude / least;
  return unless_made_nan({a.value / b.value, magnitude, a.error / least + scaled(relative, magnitude),
                          if_not_negative(b.value > 0 ? a.least / (b.value + error) : -1), a.additions, a.factors + 4},
                         a, b);
}

/// The same by what varies from cell to cell: the quotient, or the product with the inverse, of a's whole.
STENCIL_TUNE_BOTH Bounded quotient(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  const double a_error = total_error(a, rounding), b_error = total_error(b, rounding);
  const double size = fabs(b.value), most = size + b_error;
  const double b_least = at_least(b, b_error, rounding), least = fmax(size - b_error, b_least);
  if (!(least > 0) || b_error == infinity() || is_nan(a) || is_nan(b)) return divide(a, b, rounding);
  // How far off the inverse may be, relative to itself. Only of a bad divisor do differences of f64 tell it.
  const double relative = b_error < size / 2 ? b_error / least : fmax((size - least) / least, b_error / most);
  const double error = a_error / least + scaled(relative / size, fabs(a.value));
  const double a_least = at_least(a, a_error, rounding);
  const bool positive = a_least >= 0 && b_least > 0;
  const double ratio_least = positive ? a_least / most : -1;
  return unless_made_nan(opaque(a.value / b.value, error, roundings_of_dividing_by(b), ratio_least), a, b);
}

STENCIL_TUNE_BOTH Bounded absolute(const Bounded& a, const Rounding& rounding) {
  return opaque(fabs(a.value), total_error(a, rounding), 0, 0);
}

/// Infinite error where the operand may be negative and need not be: the kernel may see a NaN there.
STENCIL_TUNE_BOTH Bounded square_root(const Bounded& a, const Rounding& rounding) {
  if (is_nan(a)) return a;
  const double error = total_error(a, rounding);
  if (error == 0) return opaque(sqrt(a.value), 0, 2);
  const double least = at_least(a, error, rounding);
  if (a.value + error < 0) return opaque(sqrt(a.value), 0, 0);
  if (!(least >= 0)) return opaque(sqrt(fabs(a.value)), infinity(), 0);
  const double root = sqrt(a.value);
  if (error < a.value / 2) return opaque(root, error / (root + sqrt(least)), 2, sqrt(least));
  return opaque(root, fmax(sqrt(a.value + error) - root, root - sqrt(least)), 2, sqrt(least));
}

STENCIL_TUNE_BOTH Bounded exponential(const Bounded& a, const Rounding& rounding) {
  const double value = exp(a.value);
  return opaque(value, value * expm1(total_error(a, rounding)), 8, 0);
}

// What CUDA's functions may be off by (CUDA C++ Programming Guide, mathematical functions), in units of the last place
// and for the worst of f32 and f64: sin and cos 2, tan 4, tanh 2, log 1, pow 4, in older versions 9. A unit in the last
// place is two roundings. The reference's own functions are as good as those of f64, whose rounding counts twice.
constexpr int kSineRoundings = 5;
constexpr int kTangentRoundings = 9;
constexpr int kLogarithmRoundings = 3;
constexpr int kPowerRoundings = 19;

/// Whether a kernel may have Inf or NaN in place of the number.
STENCIL_TUNE_BOTH bool may_overflow(double value, double error, const Rounding& rounding) {
  return !(fabs(value) + error <= rounding.largest_computed);
}

/// The sine or cosine of a number of any size lies in -1 .. 1.
STENCIL_TUNE_BOTH Bounded wave(double value, const Bounded& a, const Rounding& rounding) {
  const double error = total_error(a, rounding);
  if (error == 0 || is_nan(a)) return opaque(value, 0, kSineRoundings);
  if (may_overflow(a.value, error, rounding)) return opaque(value, infinity(), 0);
  return opaque(value, fmin(error, 2.0), kSineRoundings);
}

STENCIL_TUNE_BOTH Bounded sine(const Bounded& a, const Rounding& rounding) { return wave(sin(a.value), a, rounding); }

STENCIL_TUNE_BOTH Bounded cosine(const Bounded& a, const Rounding& rounding) { return wave(cos(a.value), a, rounding); }

/// tan(a + e) - tan(a) = sin(e) / (cos(a + e) cos(a)), and cos changes by |e| at most. Infinite error where a pole may
/// lie between.
STENCIL_TUNE_BOTH Bounded tangent(const Bounded& a, const Rounding& rounding) {
  const double value = tan(a.value);
  const double error = total_error(a, rounding);
  if (error == 0 || is_nan(a)) return opaque(value, 0, kTangentRoundings);
  const double here = fabs(cos(a.value));
  const double least = here - error;
  if (!(least > 0) || may_overflow(a.value, error, rounding)) return opaque(value, infinity(), 0);
  return opaque(value, error / (here * least), kTangentRoundings);
}

/// Its slope, 1 / cosh^2, is the steepest where the operand may be nearest to 0.
STENCIL_TUNE_BOTH Bounded hyperbolic_tangent(const Bounded& a, const Rounding& rounding) {
  const double value = tanh(a.value);
  const double error = total_error(a, rounding);
  if (error == 0 || is_nan(a)) return opaque(value, 0, kSineRoundings);
  if (error == infinity()) return opaque(value, infinity(), 0);
  const double steepest = cosh(fmax(fabs(a.value) - error, 0.0));
  return opaque(value, fmin(error / steepest / steepest, 2.0), kSineRoundings);
}

/// Infinite error where the operand may be 0 or negative and need not be.
STENCIL_TUNE_BOTH Bounded logarithm(const Bounded& a, const Rounding& rounding) {
  if (is_nan(a)) return a;
  const double error = total_error(a, rounding);
  if (error == 0) return opaque(log(a.value), 0, kLogarithmRoundings);
  const double least = a.value - error;
  if (a.value + error < 0) return opaque(log(a.value), 0, 0);
  if (!(least > 0)) return opaque(a.value == 0 ? 0 : log(fabs(a.value)), infinity(), 0);
  return opaque(log(a.value), log1p(error / least), kLogarithmRoundings);
}

/// A base that is known to be positive: |b| |log a| may move by as much as both operands allow.
STENCIL_TUNE_BOTH Bounded power_of_positive(double value, const Bounded& a, const Bounded& b, double base_error,
                                            double exponent_error) {
  const double moved = log1p(base_error / (a.value - base_error));
  const double error = scaled(fabs(b.value) + exponent_error, moved) + scaled(exponent_error, fabs(log(a.value)));
  return opaque(value, scaled(expm1(error), fabs(value)), kPowerRoundings);
}

/// A base of any sign and a whole exponent that is known: a product of |b| factors, or the inverse of one.
STENCIL_TUNE_BOTH Bounded whole_power(double value, const Bounded& a, double exponent, double base_error) {
  if (exponent == 0) return exactly(1);
  const double size = fabs(a.value);
  if (exponent > 0) {
    const double most = pow(size + base_error, exponent);
    return opaque(value, fmax(most - fabs(value), 0.0), kPowerRoundings + 4);  // the difference cancels
  }
  const double least = size - base_error;
  if (!(least > 0)) return opaque(value, infinity(), 0);
  return opaque(value, fabs(value) * expm1(-exponent * log1p(base_error / least)), kPowerRoundings);
}

/// As C's pow. Infinite error where the base may be 0 or negative and need not be, but for whole exponents; NaN for
/// negative bases and exponents that are not whole.
STENCIL_TUNE_BOTH Bounded power(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  const double value = pow(a.value, b.value);
  const double base_error = total_error(a, rounding);
  const double exponent_error = total_error(b, rounding);
  const bool known = (base_error == 0 || is_nan(a)) && (exponent_error == 0 || is_nan(b));
  if (value == value && may_overflow(value, 0, rounding)) return opaque(value, infinity(), 0);
  if (known) return opaque(value, 0, kPowerRoundings);
  const double made_up = value == value ? value : 0;  // where a kernel may have anything
  if (may_overflow(a.value, base_error, rounding) || may_overflow(b.value, exponent_error, rounding)) {
    return opaque(made_up, infinity(), 0);
  }
  if (a.value - base_error > 0) return power_of_positive(value, a, b, base_error, exponent_error);
  if (a.value == 0 && base_error == 0 && b.value - exponent_error > 0) return exactly(0);
  const bool may_be_whole = floor(b.value + exponent_error) >= ceil(b.value - exponent_error);
  if (exponent_error == 0 && may_be_whole) return whole_power(value, a, b.value, base_error);
  if (!may_be_whole && a.value + base_error < 0) return opaque(value, 0, 0);
  return opaque(made_up, infinity(), 0);
}

/// Where the operand may come to another side of a whole number, any that it may come to is right.
STENCIL_TUNE_BOTH Bounded floored(const Bounded& a, const Rounding& rounding) {
  const double value = floor(a.value), error = total_error(a, rounding);
  if (is_nan(a) || error == 0) return opaque(value, 0, 0);
  if (error == infinity()) return opaque(value, error, 0);
  const double down = value - floor(a.value - error), up = floor(a.value + error) - value;
  return opaque(value, fmax(down, up), 0, floor(at_least(a, error, rounding)));
}

/// The same of the nearest whole number.
STENCIL_TUNE_BOTH Bounded rounded(const Bounded& a, const Rounding& rounding) {
  const double value = rint(a.value), error = total_error(a, rounding);
  if (is_nan(a) || error == 0) return opaque(value, 0, 0);
  if (error == infinity()) return opaque(value, error, 0);
  const double down = value - rint(a.value - error), up = rint(a.value + error) - value;
  return opaque(value, fmax(down, up), 0, rint(at_least(a, error, rounding)));
}

/// The rest of a floored division. Where the quotient may come to another side of a whole number, it may be any number
/// between 0 and the divisor.
STENCIL_TUNE_BOTH Bounded modulo(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  const double rest = fmod(a.value, b.value);
  const double value = rest != 0 && (rest < 0) != (b.value < 0) ? rest + b.value : rest;
  const double a_error = total_error(a, rounding), b_error = total_error(b, rounding);
  const double size = fabs(b.value), least = size - b_error;
  const double at_least_0 = b.value - b_error > 0 ? 0 : -1;
  if (is_nan(a) || is_nan(b)) return opaque(value, 0, 0);
  if (a_error == 0 && b_error == 0) return opaque(value, 0, 1, at_least_0);
  if (!(least > 0) || fabs(a.value) + a_error == infinity()) return opaque(value, infinity(), 0);
  const double quotient = a.value / b.value;
  const double off = (a_error + scaled(b_error, fabs(quotient))) / least + 0x1p-51 * fabs(quotient);
  const double whole = floor(quotient - off);
  const bool certain = whole == floor(quotient + off);
  return opaque(value, certain ? a_error + scaled(b_error, fabs(whole)) : size + b_error, 1, at_least_0);
}

/// A whole number, rounded where the compute type does not hold it.
STENCIL_TUNE_BOTH Bounded whole(double value, bool rounded) {
  Bounded result = exactly(value);
  result.factors = rounded ? 1 : 0;
  return result;
}

/// A minimum or maximum: the other operand counts only as far as it may come beyond the chosen one.
STENCIL_TUNE_BOTH Bounded the_nearer(const Bounded& chosen, const Bounded& other, double least,
                                     const Rounding& rounding) {
  const double error = total_error(other, rounding);
  const double beyond = error == infinity() ? error : error - fabs(chosen.value - other.value);
  return opaque(chosen.value, fmax(total_error(chosen, rounding), beyond), 0, least);
}

/// min and max are fmin and fmax: of NaN and a number they are the number.
STENCIL_TUNE_BOTH Bounded minimum(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  const double least = fmin(at_least(a, rounding), at_least(b, rounding));
  return a.value <= b.value ? the_nearer(a, b, least, rounding) : the_nearer(b, a, least, rounding);
}

STENCIL_TUNE_BOTH Bounded maximum(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  const double least = fmax(at_least(a, rounding), at_least(b, rounding));
  return a.value >= b.value ? the_nearer(a, b, least, rounding) : the_nearer(b, a, least, rounding);
}

/// The truth value of a comparison; uncertain (error 1) where rounding could turn it round. NaN compares as false.
STENCIL_TUNE_BOTH Bounded compared(bool truth, const Bounded& a, const Bounded& b, const Rounding& rounding) {
  if (is_nan(a) || is_nan(b)) return exactly(0);
  const double error = total_error(a, rounding) + total_error(b, rounding);
  const bool certain = error == 0 || fabs(a.value - b.value) > error;
  return opaque(truth ? 1 : 0, certain ? 0 : 1, 0, 0);
}

/// Near a tie of the condition either branch is right, so the error covers the way to the other one. NaN is not 0.
STENCIL_TUNE_BOTH Bounded select(const Bounded& condition, const Bounded& yes, const Bounded& no,
                                 const Rounding& rounding) {
  const Bounded& chosen = condition.value != 0 ? yes : no;
  const double error = total_error(condition, rounding);
  if (is_nan(condition) || error == 0 || fabs(condition.value) > error) return chosen;
  const Bounded& other = condition.value != 0 ? no : yes;
  if (is_nan(chosen) && is_nan(other)) return chosen;
  if (is_nan(chosen.value) || is_nan(other.value)) return opaque(chosen.value, infinity(), 0);
  const double reach = fabs(yes.value - no.value) + total_error(other, rounding);
  const double least = fmin(at_least(yes, rounding), at_least(no, rounding));
  return opaque(chosen.value, fmax(total_error(chosen, rounding), reach), 0, least);
}

/// Where a read at index i of an axis of n cells finds its value; -1 for the 0 outside.
/// `boundary` counts as enum Boundary does: hold, zero, clamp, periodic, reflect. Reads under hold stay inside.
STENCIL_TUNE_BOTH long long mapped_index(long long i, long long n, int boundary) {
  if (i >= 0 && i < n) return i;
  switch (boundary) {
    case 2:
      return i < 0 ? 0 : n - 1;
    case 3:
      return ((i % n) + n) % n;
    case 4: {
      if (n == 1) return 0;
      const long long period = 2 * (n - 1);
      const long long place = ((i % period) + period) % period;
      return place < n ? place : period - place;
    }
    default:
      return -1;
  }
}

/// The same for a profile, which has an entry for each index under hold too: the nearest.
STENCIL_TUNE_BOTH long long profile_index(long long i, long long n, int boundary) {
  constexpr int kHold = 0, kClamp = 2;
  return mapped_index(i, n, boundary == kHold ? kClamp : boundary);
}

}  // namespace stencil_tune::check

#endif
