// Facts about a GPU, as the driver reports them.
#pragma once

#include "generator/candidates/constraints.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

struct DeviceFacts {
  int ordinal = 0;
  std::string name;          ///< "NVIDIA H200": the GPU model that winners are kept for
  std::string uuid;          ///< "GPU-xxxxxxxx-..."
  std::string architecture;  ///< "sm_90"
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  std::size_t free_bytes = 0;  ///< when asked
  std::size_t l2_bytes = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  std::string driver;  ///< "13.0": the CUDA version the driver supports
  Limits limits;

  bool operator==(const DeviceFacts&) const = default;
};

/// All GPUs this process sees; empty when there is none. Creates no context.
/// Throws Error(missing_library) when libcuda is not there, Error(unsupported_driver) when it is too old.
std::vector<DeviceFacts> list_devices();

/// By ordinal ("0") or UUID (a unique prefix is enough). Throws Error(no_device).
DeviceFacts find_device(std::string_view ordinal_or_uuid);

}  // namespace stencil_tune
