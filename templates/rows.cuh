// How much of its rows a thread of a fused kernel reads: seen from its first output, row r of plane p, both counted
// from the lowest in reach. Tables of them come with the generated tuning (T::Reads).
#pragma once

#include "stencil_tune/unrolled.cuh"

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

/// The part of one row that is read.
struct RowUse {
  int left;   ///< cells before the thread's own
  int body;   ///< its own cells: all of them, or 0
  int right;  ///< cells after them
  int at;     ///< where its own stand in the thread's window: those before and after them are there too
};

STENCIL_DEVICE constexpr bool is_used(const RowUse& use) { return use.left + use.body + use.right > 0; }

}  // namespace stencil_tune
