// Plain copies: what the best of them reaches is the copy ceiling.
//
// A thread moves kVectors times 16 bytes a turn, neighbouring threads neighbouring vectors; with fewer blocks than the
// array needs, all blocks take further turns (grid stride).
#include "tuner/verify/device/arguments.h"

namespace stencil_tune::check {

struct Cached {
  static __device__ float4 load(const float4* from) { return *from; }
  static __device__ void store(float4* to, float4 value) { *to = value; }
};
struct Streaming {
  static __device__ float4 load(const float4* from) { return __ldcs(from); }
  static __device__ void store(float4* to, float4 value) { __stcs(to, value); }
};
struct ReadOnly {
  static __device__ float4 load(const float4* from) { return __ldg(from); }
  static __device__ void store(float4* to, float4 value) { *to = value; }
};

template <int kVectors, class Access>
__device__ void copy(const CopyArguments& arguments) {
  const float4* from = static_cast<const float4*>(arguments.from);
  float4* to = static_cast<float4*>(arguments.to);
  const long long turn = static_cast<long long>(gridDim.x) * blockDim.x * kVectors;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x * kVectors + threadIdx.x; i < arguments.vectors;
       i += turn) {
    float4 held[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const long long at = i + static_cast<long long>(k) * blockDim.x;
      if (at < arguments.vectors) held[k] = Access::load(from + at);
    }
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const long long at = i + static_cast<long long>(k) * blockDim.x;
      if (at < arguments.vectors) Access::store(to + at, held[k]);
    }
  }
}

#define STENCIL_TUNE_COPY(name, vectors, access) \
  extern "C" __global__ void name(CopyArguments arguments) { copy<vectors, access>(arguments); }

STENCIL_TUNE_COPY(copy_1_cached, 1, Cached)
STENCIL_TUNE_COPY(copy_2_cached, 2, Cached)
STENCIL_TUNE_COPY(copy_4_cached, 4, Cached)
STENCIL_TUNE_COPY(copy_1_streaming, 1, Streaming)
STENCIL_TUNE_COPY(copy_2_streaming, 2, Streaming)
STENCIL_TUNE_COPY(copy_4_streaming, 4, Streaming)
STENCIL_TUNE_COPY(copy_1_read_only, 1, ReadOnly)
STENCIL_TUNE_COPY(copy_2_read_only, 2, ReadOnly)
STENCIL_TUNE_COPY(copy_4_read_only, 4, ReadOnly)

#undef STENCIL_TUNE_COPY

}  // namespace stencil_tune::check
