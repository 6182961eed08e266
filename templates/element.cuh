// Cells in memory (Storage) and in arithmetic (Value): f64 -> double, f32 -> float, f16 and bf16 -> float.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

struct F16 {
  unsigned short bits;
};
struct BF16 {
  unsigned short bits;
};

STENCIL_DEVICE double widen(double cell) { return cell; }
STENCIL_DEVICE float widen(float cell) { return cell; }
STENCIL_DEVICE float widen(F16 cell) { return float_from_f16(cell.bits); }
STENCIL_DEVICE float widen(BF16 cell) { return float_from_bf16(cell.bits); }

STENCIL_DEVICE void narrow(double value, double& cell) { cell = value; }
STENCIL_DEVICE void narrow(float value, float& cell) { cell = value; }
STENCIL_DEVICE void narrow(float value, F16& cell) { cell.bits = f16_from_float(value); }
STENCIL_DEVICE void narrow(float value, BF16& cell) { cell.bits = bf16_from_float(value); }

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
  for (int i = 0; i < N; ++i) to[i] = widen(pack.cells[i]);
}

template <StoreHint kHint, int N, class Storage, class Value>
STENCIL_DEVICE void store_cells(Storage* to, const Value* from) {
  Pack<Storage, N> pack;
  STENCIL_UNROLL
  for (int i = 0; i < N; ++i) narrow(from[i], pack.cells[i]);
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

}  // namespace stencil_tune
