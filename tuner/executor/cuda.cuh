// Plain CUDA for the host: what kernels of the user's own find without an #include, carried out by the executor.
// Lanes that a mask leaves out do not meet the others here. Static shared memory lives on from block to block.
#pragma once

#include "stencil_tune/device.cuh"

#include <cfloat>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define __shared__ static
#define __constant__ static
#define __noinline__

// Where a variable of the source is, for HostLibrary::symbol.
#define STENCIL_TUNE_HOST_SYMBOL(variable)                                                                        \
  extern "C" {                                                                                                    \
  __attribute__((visibility("default"))) extern void* const stencil_tune_host_symbol_##variable =                 \
      const_cast<void*>(static_cast<const volatile void*>(&variable));                                            \
  __attribute__((visibility("default"))) extern const unsigned long stencil_tune_host_symbol_##variable##_bytes = \
      sizeof variable;                                                                                            \
  }
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __restrict__ __restrict

using uint3 = stencil_tune::host::Index;
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
};
using uchar = unsigned char;
using uint = unsigned int;

#define threadIdx (stencil_tune::host::self().thread)
#define blockIdx (stencil_tune::host::self().block)
#define blockDim (stencil_tune::host::self().block_extent)
#define gridDim (stencil_tune::host::self().grid_extent)
constexpr int warpSize = 32;

#define STENCIL_TUNE_VECTORS(type, name)                                      \
  struct alignas(2 * sizeof(type)) name##2 {                                  \
    type x, y;                                                                \
  };                                                                          \
  struct name##3 {                                                            \
    type x, y, z;                                                             \
  };                                                                          \
  struct alignas(sizeof(type) == 8 ? 16 : 4 * sizeof(type)) name##4 {         \
    type x, y, z, w;                                                          \
  };                                                                          \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
STENCIL_TUNE_VECTORS(float, float)
STENCIL_TUNE_VECTORS(double, double)
STENCIL_TUNE_VECTORS(int, int)
STENCIL_TUNE_VECTORS(unsigned char, uchar)
#undef STENCIL_TUNE_VECTORS
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

namespace stencil_tune::host {

inline int lane() { return static_cast<int>(self().lane); }

/// Lanes of this thread's warp; the last one of a block may have fewer.
inline int lanes() {
  const Index& block = self().block_extent;
  const Index& thread = self().thread;
  const unsigned threads = block.x * block.y * block.z;
  const unsigned own = (thread.z * block.y + thread.y) * block.x + thread.x;
  const unsigned first = own / 32 * 32;
  return static_cast<int>(threads - first < 32 ? threads - first : 32);
}

/// From another lane of the thread's segment, or its own value where there is none.
template <class Value>
Value shuffle(Value value, int source, int width, Site site) {
  const int first = lane() / width * width;
  const bool exists = source >= first && source < first + width && source < lanes();
  return exchange(value, exists ? source : lane(), site);
}

template <class Value, class Combine>
Value combined(Value value, Combine combine, Site site) {
  Value result = exchange(value, 0, site);
  for (int source = 1; source < lanes(); ++source) result = combine(result, exchange(value, source, site));
  return result;
}

template <class Value, class Change>
Value changed(Value* at, Change change) {
  const Value before = *at;
  *at = change(before);
  return before;
}

}  // namespace stencil_tune::host

#define STENCIL_TUNE_SITE \
  { file, line }

inline void __syncthreads(STENCIL_TUNE_CALLER) { stencil_tune_host_services->barrier(STENCIL_TUNE_SITE); }
inline void __syncwarp(unsigned = 0xffffffffu, STENCIL_TUNE_CALLER) {
  stencil_tune::host::exchange(0, stencil_tune::host::lane(), STENCIL_TUNE_SITE);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

template <class Value>
Value __shfl_sync(unsigned, Value value, int source, int width = 32, STENCIL_TUNE_CALLER) {
  const int first = stencil_tune::host::lane() / width * width;
  return stencil_tune::host::shuffle(value, first + ((source % width) + width) % width, width, STENCIL_TUNE_SITE);
}
template <class Value>
Value __shfl_up_sync(unsigned, Value value, unsigned by, int width = 32, STENCIL_TUNE_CALLER) {
  return stencil_tune::host::shuffle(value, stencil_tune::host::lane() - static_cast<int>(by), width,
                                     STENCIL_TUNE_SITE);
}
template <class Value>
Value __shfl_down_sync(unsigned, Value value, unsigned by, int width = 32, STENCIL_TUNE_CALLER) {
  return stencil_tune::host::shuffle(value, stencil_tune::host::lane() + static_cast<int>(by), width,
                                     STENCIL_TUNE_SITE);
}
template <class Value>
Value __shfl_xor_sync(unsigned, Value value, int mask, int width = 32, STENCIL_TUNE_CALLER) {
  return stencil_tune::host::shuffle(value, stencil_tune::host::lane() ^ mask, width, STENCIL_TUNE_SITE);
}
inline unsigned __ballot_sync(unsigned, int condition, STENCIL_TUNE_CALLER) {
  const unsigned own = condition != 0 ? 1u << stencil_tune::host::lane() : 0u;
  return stencil_tune::host::combined(
      own, [](unsigned a, unsigned b) { return a | b; }, STENCIL_TUNE_SITE);
}
inline int __any_sync(unsigned mask, int condition, STENCIL_TUNE_CALLER) {
  return __ballot_sync(mask, condition, file, line) != 0;
}
inline int __all_sync(unsigned mask, int condition, STENCIL_TUNE_CALLER) {
  return __ballot_sync(mask, condition == 0, file, line) == 0;
}
inline unsigned __activemask() {
  return stencil_tune::host::lanes() == 32 ? 0xffffffffu : (1u << stencil_tune::host::lanes()) - 1;
}
template <class Value>
Value __reduce_add_sync(unsigned, Value value, STENCIL_TUNE_CALLER) {
  return stencil_tune::host::combined(
      value, [](Value a, Value b) { return a + b; }, STENCIL_TUNE_SITE);
}

#define STENCIL_TUNE_ATOMIC(name, expression)                                                \
  template <class Value>                                                                     \
  Value name(Value* at, decltype(Value()) by) {                                              \
    return stencil_tune::host::changed(at, [by](Value now) -> Value { return expression; }); \
  }
STENCIL_TUNE_ATOMIC(atomicAdd, now + by)
STENCIL_TUNE_ATOMIC(atomicSub, now - by)
STENCIL_TUNE_ATOMIC(atomicExch, ((void)now, by))
STENCIL_TUNE_ATOMIC(atomicMin, by < now ? by : now)
STENCIL_TUNE_ATOMIC(atomicMax, now < by ? by : now)
STENCIL_TUNE_ATOMIC(atomicAnd, now& by)
STENCIL_TUNE_ATOMIC(atomicOr, now | by)
STENCIL_TUNE_ATOMIC(atomicXor, now ^ by)
STENCIL_TUNE_ATOMIC(atomicInc, now >= by ? 0 : now + 1)
#undef STENCIL_TUNE_ATOMIC
template <class Value>
Value atomicCAS(Value* at, decltype(Value()) expected, decltype(Value()) value) {
  return stencil_tune::host::changed(at, [=](Value now) { return now == expected ? value : now; });
}

template <class Value>
Value __ldg(const Value* at) {
  return *at;
}
template <class Value>
Value __ldcs(const Value* at) {
  return *at;
}
template <class Value>
void __stcs(Value* at, decltype(Value()) value) {
  *at = value;
}
template <class Value>
void __stwt(Value* at, decltype(Value()) value) {
  *at = value;
}

template <class A, class B>
constexpr auto min(A a, B b) -> decltype(a + b) {
  return b < a ? b : a;
}
template <class A, class B>
constexpr auto max(A a, B b) -> decltype(a + b) {
  return a < b ? b : a;
}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float stencil_tune_expf(float x) { return std::exp(x); }
inline float stencil_tune_logf(float x) { return std::log(x); }
inline float stencil_tune_sinf(float x) { return std::sin(x); }
inline float stencil_tune_cosf(float x) { return std::cos(x); }
#define __expf stencil_tune_expf  // the C library has functions of these names
#define __logf stencil_tune_logf
#define __sinf stencil_tune_sinf
#define __cosf stencil_tune_cosf
inline float __fdividef(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __frcp_rn(float x) { return 1 / x; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __float_as_int(float x) {
  int bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float __int_as_float(int bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

#undef STENCIL_TUNE_SITE
