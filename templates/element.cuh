// Cells in memory (Storage) and in arithmetic (Value): f64 -> double, f32 -> float, f16 and bf16 -> float. 16-bit cells
// convert to and from float where one is read or written.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

struct F16 {
  unsigned short bits;
  STENCIL_DEVICE operator float() const { return float_from_f16(bits); }
  STENCIL_DEVICE F16& operator=(float value) {
    bits = f16_from_float(value);
    return *this;
  }
};
struct BF16 {
  unsigned short bits;
  STENCIL_DEVICE operator float() const { return float_from_bf16(bits); }
  STENCIL_DEVICE BF16& operator=(float value) {
    bits = bf16_from_float(value);
    return *this;
  }
};

/// N neighbouring cells that one instruction moves; the address must be a multiple of its size.
template <class Storage, int N>
union Pack {
  Storage cells[N];
  typename Word<N * static_cast<int>(sizeof(Storage))>::Type word;
};

template <LoadHint kHint, int N, class Storage, class Value>
STENCIL_DEVICE void load_cells(const Storage* from, Value* to) {
  Pack<Storage, N> pack;
  pack.word = load_word<kHint>(reinterpret_cast<const decltype(pack.word)*>(from));
  STENCIL_UNROLL
  for (int i = 0; i < N; ++i) to[i] = pack.cells[i];
}

template <StoreHint kHint, int N, class Storage, class Value>
STENCIL_DEVICE void store_cells(Storage* to, const Value* from) {
  Pack<Storage, N> pack;
  STENCIL_UNROLL
  for (int i = 0; i < N; ++i) pack.cells[i] = from[i];
  store_word<kHint>(reinterpret_cast<decltype(pack.word)*>(to), pack.word);
}

/// Starts to write N cells to another block of the cluster; their bytes count towards its mbarrier.
template <int N, class Value>
STENCIL_DEVICE void send_cells(PeerAddress to, const Value* from, PeerAddress barrier) {
  Pack<Value, N> pack;
  STENCIL_UNROLL
  for (int i = 0; i < N; ++i) pack.cells[i] = from[i];
  send_word(to, pack.word, barrier);
}

template <class Value>
STENCIL_DEVICE Value absolute(Value a) {
  return a < Value(0) ? -a : a;
}

/// The rest of a floored division: 0, or of the divisor's sign.
template <class Value>
STENCIL_DEVICE Value modulo(Value a, Value b) {
  const Value rest = rest_of_division(a, b);
  return rest != Value(0) && (rest < Value(0)) != (b < Value(0)) ? rest + b : rest;
}

}  // namespace stencil_tune
