// Which rows of the input a thread reads: seen from its first output, row r of plane p, both counted from the lowest in
// reach. Tables of them come with the generated tuning (T::Reads).
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

/// Indices 0..N-1 as template arguments, for loops whose index decides which code exists.
template <int... kIndices>
struct Indices {};
template <class First, class Second>
struct Joined;
template <int... kFirst, int... kSecond>
struct Joined<Indices<kFirst...>, Indices<kSecond...>> {
  using Type = Indices<kFirst..., (static_cast<int>(sizeof...(kFirst)) + kSecond)...>;
};
/// Halved, not counted down: a compiler instantiates no more than 200 within each other.
template <int kCount>
struct Below : Joined<typename Below<kCount / 2>::Type, typename Below<kCount - kCount / 2>::Type> {};
// clang-format off
template <> struct Below<0> { using Type = Indices<>; };
template <> struct Below<1> { using Type = Indices<0>; };
// clang-format on
template <int kCount>
using IndicesBelow = typename Below<kCount>::Type;

/// An index that is a constant, also as a template's argument.
template <int kValue>
struct Constant {
  STENCIL_DEVICE constexpr operator int() const { return kValue; }
};

/// A loop whose index decides which code exists: body(kFirst), body(kFirst + 1), ... for kCount indices. Halved, not counted
/// down: a compiler instantiates no more than 200 within each other.
template <int kCount, int kFirst = 0, class Body>
STENCIL_DEVICE void unrolled(const Body& body) {
  if constexpr (kCount == 1) body(Constant<kFirst>{});
  if constexpr (kCount > 1) {
    unrolled<kCount / 2, kFirst>(body);
    unrolled<kCount - kCount / 2, kFirst + kCount / 2>(body);
  }
}

/// The part of one row that is read.
struct RowUse {
  int left;   ///< cells before the thread's own
  int body;   ///< its own cells: all of them, or 0
  int right;  ///< cells after them
  int at;     ///< where its own stand in the thread's window: those before and after them are there too
};

STENCIL_DEVICE constexpr bool is_used(const RowUse& use) { return use.left + use.body + use.right > 0; }

}  // namespace stencil_tune
