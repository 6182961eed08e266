// Cells in memory: 16-bit floating point by bits, without cuda_fp16.h, and whole numbers. Host and device; to nearest,
// ties to even.
#ifndef STENCIL_TUNE_TUNER_DEVICE_STORAGE_H
#define STENCIL_TUNE_TUNER_DEVICE_STORAGE_H

#ifndef __CUDACC_RTC__  // NVRTC has memcpy built in and no headers
#include <cstring>
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_TUNE_BITS __device__ inline
#else
#include <cmath>
#include <cstring>
#define STENCIL_TUNE_BITS inline
#endif

namespace stencil_tune::check {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
__device__ inline unsigned bits_of(float value) { return __float_as_uint(value); }
__device__ inline float float_of(unsigned bits) { return __uint_as_float(bits); }
#else
using std::rint;
inline unsigned bits_of(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
#endif

/// Bits of an IEEE-like format with `exponent_bits` and `fraction_bits`; overflow gives infinity.
STENCIL_TUNE_BITS unsigned short narrow(float value, int exponent_bits, int fraction_bits) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  const unsigned sign = (bits >> 31) << (exponent_bits + fraction_bits);
  const unsigned infinite = ((1u << exponent_bits) - 1) << fraction_bits;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | infinite | (1u << (fraction_bits - 1)));
  if (magnitude == 0) return static_cast<unsigned short>(sign);

  // The value is fraction * 2^(exponent - 23); the target keeps `drop` bits less of the fraction.
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  unsigned fraction = magnitude & 0x7fffffu;
  if (magnitude >> 23)
    fraction |= 0x800000u;
  else
    exponent = -126;
  int drop = 23 - fraction_bits;
  int target = exponent + bias;
  if (target < 1) {
    drop += 1 - target;
    target = 1;
  }
  if (drop > 25) return static_cast<unsigned short>(sign);
  unsigned kept = fraction >> drop;
  const unsigned rest = fraction & ((1u << drop) - 1);
  const unsigned half = 1u << (drop - 1);
  if (rest > half || (rest == half && (kept & 1u))) ++kept;
  // A kept hidden bit, or a carry into the next binade, adds itself to the exponent.
  const unsigned result = (static_cast<unsigned>(target - 1) << fraction_bits) + kept;
  return static_cast<unsigned short>(sign | (result < infinite ? result : infinite));
}

STENCIL_TUNE_BITS float widen(unsigned short stored, int exponent_bits, int fraction_bits) {
  const unsigned bits = stored;
  const unsigned fraction = bits & ((1u << fraction_bits) - 1);
  const unsigned exponent = (bits >> fraction_bits) & ((1u << exponent_bits) - 1);
  const unsigned sign = (bits >> (exponent_bits + fraction_bits)) << 31;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  unsigned result;
  if (exponent == (1u << exponent_bits) - 1) {
    result = 0x7f800000u | (fraction << (23 - fraction_bits));
  } else if (exponent != 0 || exponent_bits == 8) {
    // With 8 exponent bits the format is the upper half of an f32, subnormal numbers included.
    const unsigned shifted = exponent_bits == 8 ? exponent : exponent + 127u - static_cast<unsigned>(bias);
    result = (shifted << 23) | (fraction << (23 - fraction_bits));
  } else {
    float scale;
    const unsigned scale_bits = static_cast<unsigned>(127 + 1 - bias - fraction_bits) << 23;
    memcpy(&scale, &scale_bits, sizeof scale);
    const float value = static_cast<float>(fraction) * scale;
    memcpy(&result, &value, sizeof result);
  }
  result |= sign;
  float value;
  memcpy(&value, &result, sizeof value);
  return value;
}

STENCIL_TUNE_BITS unsigned short to_f16(float value) { return narrow(value, 5, 10); }
STENCIL_TUNE_BITS unsigned short to_bf16(float value) { return narrow(value, 8, 7); }
STENCIL_TUNE_BITS float from_f16(unsigned short bits) { return widen(bits, 5, 10); }
STENCIL_TUNE_BITS float from_bf16(unsigned short bits) { return widen(bits, 8, 7); }

// ---- whole numbers; types as enum ElementType counts: f64, f32, f16, bf16, u8, i8, u16, i16, i32

STENCIL_TUNE_BITS bool is_whole_type(int type) { return type >= 4; }
STENCIL_TUNE_BITS double least_whole(int type) {
  return type == 5 ? -128.0 : type == 7 ? -32768.0 : type == 8 ? -2147483648.0 : 0.0;
}
STENCIL_TUNE_BITS double largest_whole(int type) {
  return type == 4 ? 255.0 : type == 5 ? 127.0 : type == 6 ? 65535.0 : type == 7 ? 32767.0 : 2147483647.0;
}

/// The nearest number of the type, ties to even; NaN becomes the least one.
STENCIL_TUNE_BITS double to_whole(double value, int type) {
  const double least = least_whole(type), largest = largest_whole(type);
  if (!(value > least)) return least;
  return value < largest ? rint(value) : largest;
}

// ---- cells of any type

STENCIL_TUNE_BITS int bytes_of_cell(int type) {
  return type == 0 ? 8 : type == 1 || type == 8 ? 4 : type == 4 || type == 5 ? 1 : 2;
}

STENCIL_TUNE_BITS unsigned long long cell_bits(const void* cells, long long place, int type) {
  const int bytes = bytes_of_cell(type);
  if (bytes == 8) return static_cast<const unsigned long long*>(cells)[place];
  if (bytes == 4) return static_cast<const unsigned*>(cells)[place];
  if (bytes == 2) return static_cast<const unsigned short*>(cells)[place];
  return static_cast<const unsigned char*>(cells)[place];
}

STENCIL_TUNE_BITS void set_cell_bits(void* cells, long long place, int type, unsigned long long bits) {
  const int bytes = bytes_of_cell(type);
  if (bytes == 8) static_cast<unsigned long long*>(cells)[place] = bits;
  if (bytes == 4) static_cast<unsigned*>(cells)[place] = static_cast<unsigned>(bits);
  if (bytes == 2) static_cast<unsigned short*>(cells)[place] = static_cast<unsigned short>(bits);
  if (bytes == 1) static_cast<unsigned char*>(cells)[place] = static_cast<unsigned char>(bits);
}

/// What a cell holds that has the value.
STENCIL_TUNE_BITS unsigned long long bits_of_value(double value, int type) {
  if (type == 0) {
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  if (type == 1) return bits_of(static_cast<float>(value));
  if (type == 2) return to_f16(static_cast<float>(value));
  if (type == 3) return to_bf16(static_cast<float>(value));
  const unsigned long long bits = static_cast<unsigned long long>(static_cast<long long>(to_whole(value, type)));
  return bits & ((1ull << (8 * bytes_of_cell(type))) - 1);
}

STENCIL_TUNE_BITS double value_of_bits(unsigned long long bits, int type) {
  if (type == 0) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (type == 1) return float_of(static_cast<unsigned>(bits));
  if (type == 2) return from_f16(static_cast<unsigned short>(bits));
  if (type == 3) return from_bf16(static_cast<unsigned short>(bits));
  const int unused = 64 - 8 * bytes_of_cell(type);
  if (least_whole(type) < 0) return static_cast<double>(static_cast<long long>(bits << unused) >> unused);
  return static_cast<double>(bits);
}

}  // namespace stencil_tune::check

#endif
