// The functions of libcuda that we call, resolved at run time.
#pragma once

#include "runtime/cuda/shared_library.hpp"

#include <cuda.h>

#include <string>
#include <string_view>

// Our name, the header's declaration (which macros may map to a versioned one), the symbol in the library.
// The symbols are the oldest with today's signature, so that every driver since CUDA 11.4 has them.
#define STENCIL_TUNE_DRIVER_FUNCTIONS(X)                                                                         \
  X(init, cuInit, "cuInit")                                                                                      \
  X(driver_version, cuDriverGetVersion, "cuDriverGetVersion")                                                    \
  X(error_name, cuGetErrorName, "cuGetErrorName")                                                                \
  X(error_string, cuGetErrorString, "cuGetErrorString")                                                          \
  X(device_count, cuDeviceGetCount, "cuDeviceGetCount")                                                          \
  X(device_get, cuDeviceGet, "cuDeviceGet")                                                                      \
  X(device_name, cuDeviceGetName, "cuDeviceGetName")                                                             \
  X(device_uuid, cuDeviceGetUuid, "cuDeviceGetUuid_v2")                                                          \
  X(device_memory, cuDeviceTotalMem, "cuDeviceTotalMem_v2")                                                      \
  X(device_attribute, cuDeviceGetAttribute, "cuDeviceGetAttribute")                                              \
  X(primary_retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                                        \
  X(primary_release, cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2")                                  \
  X(context_current, cuCtxGetCurrent, "cuCtxGetCurrent")                                                         \
  X(context_set, cuCtxSetCurrent, "cuCtxSetCurrent")                                                             \
  X(context_device, cuCtxGetDevice, "cuCtxGetDevice")                                                            \
  X(context_synchronize, cuCtxSynchronize, "cuCtxSynchronize")                                                   \
  X(memory_info, cuMemGetInfo, "cuMemGetInfo_v2")                                                                \
  X(allocate, cuMemAlloc, "cuMemAlloc_v2")                                                                       \
  X(free, cuMemFree, "cuMemFree_v2")                                                                             \
  X(pointer_attribute, cuPointerGetAttribute, "cuPointerGetAttribute")                                           \
  X(copy_to_device, cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                                   \
  X(copy_to_host, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                                                     \
  X(copy_on_device, cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                                   \
  X(copy_3d, cuMemcpy3DAsync, "cuMemcpy3DAsync_v2")                                                              \
  X(fill_bytes, cuMemsetD8Async, "cuMemsetD8Async")                                                              \
  X(fill_words, cuMemsetD32Async, "cuMemsetD32Async")                                                            \
  X(module_load, cuModuleLoadData, "cuModuleLoadData")                                                           \
  X(module_unload, cuModuleUnload, "cuModuleUnload")                                                             \
  X(module_function, cuModuleGetFunction, "cuModuleGetFunction")                                                 \
  X(module_symbol, cuModuleGetGlobal, "cuModuleGetGlobal_v2")                                                    \
  X(function_get_attribute, cuFuncGetAttribute, "cuFuncGetAttribute")                                            \
  X(function_set_attribute, cuFuncSetAttribute, "cuFuncSetAttribute")                                            \
  X(resident_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor") \
  X(launch, cuLaunchKernel, "cuLaunchKernel")                                                                    \
  X(launch_together, cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel")                                     \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode")               \
  X(is_capturing, cuStreamIsCapturing, "cuStreamIsCapturing")                                                    \
  X(begin_capture, cuStreamBeginCapture, "cuStreamBeginCapture_v2")                                              \
  X(end_capture, cuStreamEndCapture, "cuStreamEndCapture")                                                       \
  X(graph_instantiate, cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags")                               \
  X(graph_launch, cuGraphLaunch, "cuGraphLaunch")                                                                \
  X(graph_destroy, cuGraphDestroy, "cuGraphDestroy")                                                             \
  X(executable_destroy, cuGraphExecDestroy, "cuGraphExecDestroy")                                                \
  X(stream_create, cuStreamCreate, "cuStreamCreate")                                                             \
  X(stream_create_with_priority, cuStreamCreateWithPriority, "cuStreamCreateWithPriority")                       \
  X(stream_destroy, cuStreamDestroy, "cuStreamDestroy_v2")                                                       \
  X(stream_synchronize, cuStreamSynchronize, "cuStreamSynchronize")                                              \
  X(stream_query, cuStreamQuery, "cuStreamQuery")                                                                \
  X(stream_wait_event, cuStreamWaitEvent, "cuStreamWaitEvent")                                                   \
  X(event_create, cuEventCreate, "cuEventCreate")                                                                \
  X(event_destroy, cuEventDestroy, "cuEventDestroy_v2")                                                          \
  X(event_record, cuEventRecord, "cuEventRecord")                                                                \
  X(event_synchronize, cuEventSynchronize, "cuEventSynchronize")                                                 \
  X(event_elapsed, cuEventElapsedTime, "cuEventElapsedTime")

namespace stencil_tune {

/// libcuda, opened and initialised, with its functions.
struct DriverApi {
  SharedLibrary library;
#define STENCIL_TUNE_DECLARE(member, declaration, symbol) decltype(&::declaration) member = nullptr;
  STENCIL_TUNE_DRIVER_FUNCTIONS(STENCIL_TUNE_DECLARE)
#undef STENCIL_TUNE_DECLARE
  CUresult (*context_id)(CUcontext, unsigned long long*) = nullptr;  ///< since CUDA 12.0; null before
  decltype(&::cuTensorMapEncodeTiled) encode_tensor_map = nullptr;   ///< since CUDA 12.0; null before
  decltype(&::cuGraphExecUpdate) executable_update = nullptr;        ///< since CUDA 12.0; null before

  /// Opens `path_or_soname` ("libcuda.so.1"). Throws Error(missing_library), Error(unsupported_driver).
  static DriverApi open(const std::string& path_or_soname);

  /// Throws the Error that a failed call means. `what` was attempted: "load the module".
  void check(CUresult result, std::string_view what) const {
    if (result != CUDA_SUCCESS) fail(result, what);
  }
  [[noreturn]] void fail(CUresult result, std::string_view what) const;
};

}  // namespace stencil_tune
