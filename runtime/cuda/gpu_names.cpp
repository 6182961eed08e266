#include "runtime/cuda/gpu_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stencil_tune {
namespace {

constexpr std::array kGpus{
    GpuName{"v100", "Tesla V100-SXM2-16GB", "sm_70"},
    GpuName{"t4", "Tesla T4", "sm_75"},
    GpuName{"a100", "NVIDIA A100-SXM4-80GB", "sm_80"},
    GpuName{"rtx3090", "NVIDIA GeForce RTX 3090", "sm_86"},
    GpuName{"l40s", "NVIDIA L40S", "sm_89"},
    GpuName{"rtx4090", "NVIDIA GeForce RTX 4090", "sm_89"},
    GpuName{"h100", "NVIDIA H100 80GB HBM3", "sm_90"},
    GpuName{"h200", "NVIDIA H200", "sm_90"},
    GpuName{"b200", "NVIDIA B200", "sm_100"},
    GpuName{"b300", "NVIDIA B300", "sm_103"},
    GpuName{"rtx5090", "NVIDIA GeForce RTX 5090", "sm_120"},
};

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char left, unsigned char right) { return std::tolower(left) == std::tolower(right); });
}

}  // namespace

std::span<const GpuName> gpu_names() { return kGpus; }

const GpuName* find_gpu_name(std::string_view text) {
  const auto found = std::find_if(kGpus.begin(), kGpus.end(), [&](const GpuName& gpu) {
    return equal_but_for_case(gpu.name, text) || equal_but_for_case(gpu.model, text);
  });
  return found == kGpus.end() ? nullptr : &*found;
}

}  // namespace stencil_tune
