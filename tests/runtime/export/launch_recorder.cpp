// Stands where the CUDA runtime would for one exported file: notes the launch that its launcher asks for, and makes
// none. Compiled by nvcc together with the export (exported_launcher.cpp).
#include "tests/runtime/export/launch_record.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

extern "C" LaunchRecord* current_record;
LaunchRecord* current_record = nullptr;

namespace {

struct {
  dim3 grid, block;
  size_t shared_bytes;
} configuration;

cudaError_t record_launch(const dim3& grid, const dim3& block, void** arguments, size_t shared_bytes) {
  LaunchRecord& record = *current_record;
  ++record.launches;
  const unsigned of_grid[3] = {grid.x, grid.y, grid.z}, of_block[3] = {block.x, block.y, block.z};
  std::memcpy(record.grid, of_grid, sizeof of_grid);
  std::memcpy(record.block, of_block, sizeof of_block);
  record.shared_bytes = shared_bytes;
  std::memcpy(record.arguments, arguments[0], record.argument_bytes);
  return cudaSuccess;
}

CUresult record_tensor_map(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void* address,
                           const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                           const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                           CUtensorMapFloatOOBfill) {
  TensorMapRecord record = {};
  record.address = reinterpret_cast<unsigned long long>(address);
  for (int axis = 0; axis < 3; ++axis) {
    record.extents[axis] = extents[axis];
    record.box[axis] = box[axis];
    if (axis < 2) record.strides[axis] = strides[axis];
  }
  record.rank = rank;
  std::memset(map, 0, sizeof *map);
  std::memcpy(map, &record, sizeof record);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st*) {
  configuration = {grid, block, shared_bytes};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void*) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared_bytes = configuration.shared_bytes;
  return cudaSuccess;
}

// CUDA 13 launches by kernel handle, earlier ones by function.
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return cudaSuccess; }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                               cudaStream_t) {
  return record_launch(grid, block, arguments, shared_bytes);
}
cudaError_t cudaLaunchKernel(const void*, dim3 grid, dim3 block, void** arguments, size_t shared_bytes, cudaStream_t) {
  return record_launch(grid, block, arguments, shared_bytes);
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    current_record->allowed_shared_bytes = static_cast<size_t>(value);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool known = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&record_tensor_map) : nullptr;
  *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return cudaSuccess; }

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*) {}
char __cudaInitModule(void**) { return 0; }

}  // extern "C"
