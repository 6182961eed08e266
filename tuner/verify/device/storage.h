// 16-bit floating point by bits, without cuda_fp16.h. Host and device; to nearest, ties to even.
#ifndef STENCIL_TUNE_TUNER_DEVICE_STORAGE_H
#define STENCIL_TUNE_TUNER_DEVICE_STORAGE_H

#ifndef __CUDACC_RTC__  // NVRTC has memcpy built in and no headers
#include <cstring>
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define STENCIL_TUNE_BITS __device__ inline
#else
#include <cstring>
#define STENCIL_TUNE_BITS inline
#endif

namespace stencil_tune::check {

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
__device__ inline unsigned bits_of(float value) { return __float_as_uint(value); }
__device__ inline float float_of(unsigned bits) { return __uint_as_float(bits); }
#else
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

}  // namespace stencil_tune::check

#endif
