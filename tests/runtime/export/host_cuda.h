// Stands where the CUDA runtime would for an exported file that is compiled together with its kernels for the host
// executor: arrays are the CPU's, and launches go to whoever set host_launch.
#pragma once

#include "../../../tuner/verify/device/storage.h"
#include "host_launch.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using cudaStream_t = void*;
using cudaEvent_t = int;
enum cudaError_t { cudaSuccess, cudaErrorInvalidValue, cudaErrorMisalignedAddress };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  explicit dim3(unsigned in_x, unsigned in_y = 1, unsigned in_z = 1) : x(in_x), y(in_y), z(in_z) {}
};

struct __half {
  unsigned short bits;
};
inline float __half2float(__half cell) { return stencil_tune::check::from_f16(cell.bits); }
inline __half __float2half(float value) { return {stencil_tune::check::to_f16(value)}; }

struct __nv_bfloat16 {
  unsigned short bits;
};
inline float __bfloat162float(__nv_bfloat16 cell) { return stencil_tune::check::from_bf16(cell.bits); }
inline __nv_bfloat16 __float2bfloat16(float value) { return {stencil_tune::check::to_bf16(value)}; }

inline const char* cudaGetErrorString(cudaError_t) { return "an error of the launcher's own"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

inline cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  *data = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* data) {
  std::free(data);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
  return cudaSuccess;
}

// The time of a batch is always the same, and its launches are not run.
inline bool host_times_launches = false;
inline cudaError_t cudaEventCreate(cudaEvent_t*) { return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t) {
  host_times_launches = true;
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 100;
  return cudaSuccess;
}

extern "C" {
__attribute__((visibility("default"))) void (*host_launch)(const HostLaunch&);
}

template <class Arguments>
void launch_on_host(const char* kernel, const dim3& grid, const dim3& block, std::size_t shared_bytes,
                    const Arguments& arguments) {
  if (host_times_launches) return;
  host_launch(
      {kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, &arguments, sizeof arguments});
}
