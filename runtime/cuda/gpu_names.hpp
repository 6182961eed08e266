// GPUs that can be named without one being here.
#pragma once

#include <span>
#include <string_view>

namespace stencil_tune {

struct GpuName {
  std::string_view name;          ///< short: "h200"
  std::string_view model;         ///< as the driver reports it: "NVIDIA H200"
  std::string_view architecture;  ///< "sm_90"
};

std::span<const GpuName> gpu_names();

/// By short name or model, any case; null where there is none.
const GpuName* find_gpu_name(std::string_view text);

}  // namespace stencil_tune
