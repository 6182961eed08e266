#include "runtime/cuda/driver_api.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

namespace {

ErrorCode meaning(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return ErrorCode::exceeds_device_memory;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
      return ErrorCode::no_device;
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return ErrorCode::device_lost;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return ErrorCode::timeout;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return ErrorCode::invalid_argument;
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return ErrorCode::unsupported_driver;
    default:
      return ErrorCode::launch_failed;
  }
}

std::string_view advice(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "; the kernel was compiled for another architecture than this GPU's, or by an NVRTC newer than the driver";
    case CUDA_ERROR_INVALID_CONTEXT:
      return "; make a context current first (cudaSetDevice, cuCtxSetCurrent or stencil_tune::DeviceContext)";
    case CUDA_ERROR_STUB_LIBRARY:
      return "; the libcuda.so found is the toolkit's stub: put the driver's libcuda.so.1 first on the library path";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "; the kernel module and libcuda differ in version: reboot or reinstall the driver";
    default:
      return "";
  }
}

}  // namespace

void DriverApi::fail(CUresult result, std::string_view what) const {
  const char* error = nullptr;
  const char* text = nullptr;
  if (error_name(result, &error) != CUDA_SUCCESS || error == nullptr) error = "unknown CUDA error";
  if (error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "no description";
  throw Error(meaning(result),
              fmt::format("cannot {}: {} ({}, {}){}", what, text, error, static_cast<int>(result), advice(result)));
}

DriverApi DriverApi::open(const std::string& path_or_soname) {
  std::string why;
  auto library = SharedLibrary::open(path_or_soname, &why);
  if (!library) {
    throw Error(
        ErrorCode::missing_library,
        fmt::format("no CUDA driver: {} cannot be opened ({}); install the NVIDIA driver", path_or_soname, why));
  }
  DriverApi api{.library = std::move(*library)};
#define STENCIL_TUNE_RESOLVE(member, declaration, symbol) api.library.require(api.member, symbol);
  try {
    STENCIL_TUNE_DRIVER_FUNCTIONS(STENCIL_TUNE_RESOLVE)
  } catch (const Error& error) {
    throw Error(ErrorCode::unsupported_driver,
                fmt::format("the CUDA driver is too old (11.4 is needed): {}", error.what()));
  }
#undef STENCIL_TUNE_RESOLVE
  api.context_id = reinterpret_cast<decltype(api.context_id)>(api.library.find("cuCtxGetId"));
  api.encode_tensor_map = reinterpret_cast<decltype(api.encode_tensor_map)>(api.library.find("cuTensorMapEncodeTiled"));
  api.executable_update = reinterpret_cast<decltype(api.executable_update)>(api.library.find("cuGraphExecUpdate_v2"));
  return api;
}

}  // namespace stencil_tune
