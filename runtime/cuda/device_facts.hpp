// Device facts from any Driver; device.hpp has the same for the machine's own.
#pragma once

#include "runtime/cuda/device.hpp"
#include "runtime/cuda/driver.hpp"

namespace stencil_tune {

/// Throws Error(no_device) when there is no GPU of that ordinal.
DeviceFacts read_device(Driver& driver, int device);

std::vector<DeviceFacts> list_devices(Driver& driver);
DeviceFacts find_device(Driver& driver, std::string_view ordinal_or_uuid);

/// 13000 -> "13.0"
std::string format_cuda_version(int version);

}  // namespace stencil_tune
