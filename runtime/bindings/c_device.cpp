// The C interface: device memory, for programs that use neither the CUDA runtime nor the driver themselves.
#include "runtime/bindings/c_call.hpp"
#include "runtime/cuda/driver.hpp"
#include "stencil_tune/device_memory.hpp"

using namespace stencil_tune;

extern "C" {

int64_t stencil_tune_padded_pitch(int64_t nx, const char* type) {
  int64_t pitch = 0;
  guarded([&] {
    require(type, "type");
    pitch = padded_pitch(nx, parse_element_type(type));
  });
  return pitch;
}

stencil_tune_status stencil_tune_use_device(int32_t device) {
  return guarded([&] {
    Driver& driver = cuda_driver();
    if (device < 0 || device >= driver.device_count()) {
      throw Error(ErrorCode::no_device,
                  "no GPU " + std::to_string(device) + ": this process sees " + std::to_string(driver.device_count()));
    }
    driver.set_current_context(driver.retain_primary_context(device));
  });
}

stencil_tune_status stencil_tune_allocate(size_t bytes, void** address) {
  return guarded([&] {
    require(address, "address");
    *address = nullptr;
    *address = reinterpret_cast<void*>(cuda_driver().allocate(bytes));
  });
}

void stencil_tune_free(void* address) {
  // Only allocate() above gives addresses, and it has opened the driver.
  if (address != nullptr) cuda_driver().free(reinterpret_cast<std::uintptr_t>(address));
}

stencil_tune_status stencil_tune_copy_to_device(void* to, const void* from, size_t bytes, CUstream_st* stream) {
  return guarded([&] {
    require(to, "to");
    require(from, "from");
    cuda_driver().copy_to_device(reinterpret_cast<std::uintptr_t>(to), from, bytes, stream);
    cuda_driver().synchronize_stream(stream);
  });
}

stencil_tune_status stencil_tune_copy_to_host(void* to, const void* from, size_t bytes, CUstream_st* stream) {
  return guarded([&] {
    require(to, "to");
    require(from, "from");
    cuda_driver().copy_to_host(to, reinterpret_cast<std::uintptr_t>(from), bytes, stream);
    cuda_driver().synchronize_stream(stream);
  });
}

stencil_tune_status stencil_tune_synchronize(CUstream_st* stream) {
  return guarded([&] { cuda_driver().synchronize_stream(stream); });
}

}  // extern "C"
