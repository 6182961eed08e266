// Numbers that know how far a kernel's result may honestly differ from them. Host and device.
//
// A kernel may sum in any order, fuse multiply and add, factor or distribute; all of these perturb each monomial of
// the expanded expression by at most (1 + u)^k, where k counts the additions of the whole sum plus the factors
// (multiplications) on the way to the monomial. So a Bounded carries the sum's magnitude (the expression with all
// terms taken absolute) and the two counts, and the rounding bound k * u * magnitude is drawn only at the end or where
// an operation that is not a sum of products (divide, sqrt, min, a comparison ...) ends the expansion; from there on
// it travels on as `error`.
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
using std::exp;
using std::expm1;
using std::fabs;
using std::fmax;
using std::fmin;
using std::sqrt;
#endif

/// How the kernel under test rounds.
struct Rounding {
  double unit = 0;          ///< unit roundoff of the compute type; 0: all operations are known to be exact
  double tiny = 0;          ///< absolute error of an operation that underflows
  double storage_unit = 0;  ///< unit roundoff of storing; 0 when stored as computed
  double storage_tiny = 0;
  double largest = 0;  ///< largest finite stored value
};

struct Bounded {
  double value;
  double magnitude;  ///< >= |value|
  double error;      ///< inherited from operations that ended an expansion
  int additions;
  int factors;
};

STENCIL_TUNE_BOTH double infinity() {
  const double large = 1e308;  // no header with a name for it stands on both sides
  return large * large;
}

STENCIL_TUNE_BOTH Bounded exactly(double value) { return {value, fabs(value), 0, 0, 0}; }

/// A value with an error already bounded, after `roundings` more.
STENCIL_TUNE_BOTH Bounded opaque(double value, double error, int roundings) {
  return {value, fabs(value) + error, error, 0, roundings};
}

/// bound * factor; what may be anything stays so, also times 0.
STENCIL_TUNE_BOTH double scaled(double bound, double factor) {
  return bound == 0 || bound == infinity() ? bound : bound * factor;
}

/// How far a kernel's result may lie from a.value before it is stored.
STENCIL_TUNE_BOTH double total_error(const Bounded& a, const Rounding& rounding) {
  const int roundings = a.additions + a.factors;
  if (roundings == 0 || rounding.unit == 0) return a.error;
  return a.error + 1.01 * roundings * (rounding.unit * (a.magnitude + a.error) + rounding.tiny);
}

/// The same after storing; infinite where the result may overflow.
STENCIL_TUNE_BOTH double tolerance(const Bounded& a, const Rounding& rounding) {
  const double computed = total_error(a, rounding);
  const double reach = fabs(a.value) + computed;
  if (reach > rounding.largest) return infinity();
  return rounding.storage_unit == 0 ? computed : computed + reach * rounding.storage_unit + rounding.storage_tiny;
}

STENCIL_TUNE_BOTH Bounded negate(Bounded a) {
  a.value = -a.value;
  return a;
}

STENCIL_TUNE_BOTH Bounded add(const Bounded& a, const Bounded& b) {
  return {a.value + b.value, a.magnitude + b.magnitude, a.error + b.error, a.additions + b.additions + 1,
          a.factors > b.factors ? a.factors : b.factors};
}

STENCIL_TUNE_BOTH Bounded subtract(const Bounded& a, const Bounded& b) { return add(a, negate(b)); }

/// Inherited errors are those of numbers that a kernel has once, wherever it uses them: unlike roundings they cancel
/// where the numbers do, as in the square of a difference.
STENCIL_TUNE_BOTH Bounded multiply(const Bounded& a, const Bounded& b) {
  return {a.value * b.value, scaled(a.magnitude, b.magnitude),
          scaled(b.error, fabs(a.value)) + scaled(a.error, fabs(b.value)) + scaled(a.error, b.error),
          a.additions + b.additions, a.factors + b.factors + 1};
}

/// a * (1 / b): the expansion of a goes on. Infinite error where b may be 0.
STENCIL_TUNE_BOTH Bounded divide(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  const double error = total_error(b, rounding);
  const double least = fabs(b.value) - error;
  if (!(least > 0)) return opaque(a.value / b.value, infinity(), 0);
  const double relative = error / least;
  const double magnitude = a.magnitude / least;
  return {a.value / b.value, magnitude, a.error / least + scaled(relative, magnitude), a.additions, a.factors + 4};
}

STENCIL_TUNE_BOTH Bounded absolute(const Bounded& a, const Rounding& rounding) {
  return opaque(fabs(a.value), total_error(a, rounding), 0);
}

/// Infinite error where the operand may be negative and need not be: the kernel may see a NaN there.
STENCIL_TUNE_BOTH Bounded square_root(const Bounded& a, const Rounding& rounding) {
  const double error = total_error(a, rounding);
  if (error == 0) return opaque(sqrt(a.value), 0, 2);
  const double least = a.value - error;
  if (least < 0) return opaque(sqrt(fabs(a.value)), infinity(), 0);
  return opaque(sqrt(a.value), error / (sqrt(a.value) + sqrt(least)), 2);
}

STENCIL_TUNE_BOTH Bounded exponential(const Bounded& a, const Rounding& rounding) {
  const double value = exp(a.value);
  return opaque(value, value * expm1(total_error(a, rounding)), 8);
}

STENCIL_TUNE_BOTH Bounded minimum(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  return opaque(fmin(a.value, b.value), fmax(total_error(a, rounding), total_error(b, rounding)), 0);
}

STENCIL_TUNE_BOTH Bounded maximum(const Bounded& a, const Bounded& b, const Rounding& rounding) {
  return opaque(fmax(a.value, b.value), fmax(total_error(a, rounding), total_error(b, rounding)), 0);
}

/// The truth value of a comparison; uncertain (error 1) where rounding could turn it round.
STENCIL_TUNE_BOTH Bounded compared(bool truth, const Bounded& a, const Bounded& b, const Rounding& rounding) {
  const double error = total_error(a, rounding) + total_error(b, rounding);
  const bool certain = error == 0 || fabs(a.value - b.value) > error;
  return opaque(truth ? 1 : 0, certain ? 0 : 1, 0);
}

/// Near a tie of the condition either branch is right, so the error covers the way to the other one.
STENCIL_TUNE_BOTH Bounded select(const Bounded& condition, const Bounded& yes, const Bounded& no,
                                 const Rounding& rounding) {
  const Bounded& chosen = condition.value != 0 ? yes : no;
  const double error = total_error(condition, rounding);
  if (error == 0 || fabs(condition.value) > error) return chosen;
  const Bounded& other = condition.value != 0 ? no : yes;
  const double reach = fabs(yes.value - no.value) + total_error(other, rounding);
  return opaque(chosen.value, fmax(total_error(chosen, rounding), reach), 0);
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

}  // namespace stencil_tune::check

#endif
