// Cells of the arrays of users' kernels: what they are filled with, and whether two are as good as equal. Host and
// device.
#ifndef STENCIL_TUNE_TUNER_DEVICE_CELLS_H
#define STENCIL_TUNE_TUNER_DEVICE_CELLS_H

#include "tuner/verify/device/storage.h"

namespace stencil_tune::check {

/// As enum CellType of generator/user_kernel counts.
enum class Cell : int { f32, f64, f16, bf16, i32, u32, i64, u64, u8 };

/// As enum Fill counts.
enum class CellFill : int { random, integers, zeros, index, number };

struct CellsFilled {
  Cell type;
  CellFill fill;
  double number;              ///< for CellFill::number
  unsigned long long stream;  ///< selects the random numbers
};

STENCIL_TUNE_BITS bool is_floating(Cell type) { return static_cast<int>(type) < static_cast<int>(Cell::i32); }
STENCIL_TUNE_BITS bool is_signed(Cell type) { return type != Cell::u8 && type != Cell::u32 && type != Cell::u64; }

STENCIL_TUNE_BITS int size_of(Cell type) {
  if (type == Cell::u8) return 1;
  if (type == Cell::f16 || type == Cell::bf16) return 2;
  return type == Cell::f64 || type == Cell::i64 || type == Cell::u64 ? 8 : 4;
}

template <class Value>
STENCIL_TUNE_BITS Value read_as(const void* cell) {
  Value value;
  memcpy(&value, cell, sizeof value);
  return value;
}
template <class Value>
STENCIL_TUNE_BITS void write_as(Value value, void* cell) {
  memcpy(cell, &value, sizeof value);
}

/// Widened; exact up to 2^53.
STENCIL_TUNE_BITS double load_cell(Cell type, const void* cell) {
  switch (type) {
    case Cell::f32:
      return read_as<float>(cell);
    case Cell::f64:
      return read_as<double>(cell);
    case Cell::f16:
      return from_f16(read_as<unsigned short>(cell));
    case Cell::bf16:
      return from_bf16(read_as<unsigned short>(cell));
    case Cell::i32:
      return read_as<int>(cell);
    case Cell::u32:
      return read_as<unsigned>(cell);
    case Cell::i64:
      return static_cast<double>(read_as<long long>(cell));
    case Cell::u64:
      return static_cast<double>(read_as<unsigned long long>(cell));
    case Cell::u8:
      return read_as<unsigned char>(cell);
  }
  return 0;
}

/// Rounded to nearest; of whole numbers cut to the type's width.
STENCIL_TUNE_BITS void store_cell(Cell type, double value, void* cell) {
  switch (type) {
    case Cell::f32:
      return write_as(static_cast<float>(value), cell);
    case Cell::f64:
      return write_as(value, cell);
    case Cell::f16:
      return write_as(to_f16(static_cast<float>(value)), cell);
    case Cell::bf16:
      return write_as(to_bf16(static_cast<float>(value)), cell);
    case Cell::i32:
      return write_as(static_cast<int>(static_cast<long long>(value)), cell);
    case Cell::u32:
      return write_as(static_cast<unsigned>(static_cast<long long>(value)), cell);
    case Cell::i64:
      return write_as(static_cast<long long>(value), cell);
    case Cell::u64:
      return write_as(static_cast<unsigned long long>(value), cell);
    case Cell::u8:
      return write_as(static_cast<unsigned char>(static_cast<long long>(value)), cell);
  }
}

/// A random function of 64 bits: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
STENCIL_TUNE_BITS unsigned long long mixed(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// What a cell holds before a launch, before it is stored.
STENCIL_TUNE_BITS double filled_value(const CellsFilled& filled, long long cell) {
  const unsigned long long random = mixed(filled.stream + static_cast<unsigned long long>(cell));
  switch (filled.fill) {
    case CellFill::random:
      if (is_floating(filled.type)) return static_cast<double>(random >> 11) / 4503599627370496.0 - 1;  // [-1, 1)
      return static_cast<double>(random % 256);
    case CellFill::integers:
      return static_cast<double>(random % 17) - (is_signed(filled.type) ? 8 : 0);
    case CellFill::zeros:
      return 0;
    case CellFill::index:
      return static_cast<double>(cell);
    case CellFill::number:
      return filled.number;
  }
  return 0;
}

STENCIL_TUNE_BITS bool same_bits(const void* a, const void* b, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    if (static_cast<const unsigned char*>(a)[i] != static_cast<const unsigned char*>(b)[i]) return false;
  }
  return true;
}

STENCIL_TUNE_BITS bool holds_byte(const void* cell, unsigned byte, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    if (static_cast<const unsigned char*>(cell)[i] != byte) return false;
  }
  return true;
}

/// Whole numbers must be equal; floating point may be off by tolerance * max(1, |expected|).
STENCIL_TUNE_BITS bool is_right(Cell type, const void* found, const void* expected, double tolerance) {
  if (same_bits(found, expected, size_of(type))) return true;
  if (!is_floating(type)) return false;
  const double a = load_cell(type, found), b = load_cell(type, expected);
  if (b != b) return a != a;
  const double magnitude = b < 0 ? -b : b, off = a < b ? b - a : a - b;
  return a == b || off <= tolerance * (magnitude > 1 ? magnitude : 1);
}

}  // namespace stencil_tune::check

#endif
