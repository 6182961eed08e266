#include "runtime/model/device_model.hpp"

#include "generator/printable.hpp"
#include "generator/suggest.hpp"
#include "runtime/cuda/gpu_names.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace stencil_tune {
namespace {

// SMs, clocks, DRAM, L2 size, memory: NVIDIA's data sheets and architecture white papers of each product.
// L2 bandwidth, H200: measured, 2026-11-21: the fabric between the two L2 partitions carries about 84 sectors of 32
// bytes per ns for every good kernel and half of all traffic crosses it. V100: Jia et al., "Dissecting the NVIDIA Volta
// GPU architecture via microbenchmarking", 2018. All others are estimates from L2 clock and width.
constexpr const char* kMeasured = "data sheet; L2 rate measured";
constexpr const char* kPublished = "data sheet; L2 rate published";
constexpr const char* kEstimated = "data sheet; L2 rate estimated";

/// Figures of a GPU that has a name, in the order of DeviceModel.
DeviceModel model(std::string_view name, int multiprocessors, double clock_ghz, double dram_gbs, double l2_gbs,
                  double l2_mb, double l1_kb, double memory_gb, int f32_lanes, int f64_lanes, const char* source) {
  const GpuName& gpu = *find_gpu_name(name);
  return {std::string(gpu.name),
          std::string(gpu.model),
          std::string(gpu.architecture),
          multiprocessors,
          clock_ghz,
          dram_gbs,
          l2_gbs,
          l2_mb,
          l1_kb,
          memory_gb,
          f32_lanes,
          f64_lanes,
          source};
}

const std::array<DeviceModel, 11> kModels{{
    model("v100", 80, 1.53, 900, 2155, 6, 128, 17.0, 64, 32, kPublished),
    model("t4", 40, 1.59, 320, 1270, 4, 96, 15.8, 64, 2, kEstimated),
    model("a100", 108, 1.41, 2039, 3800, 40, 192, 85.0, 64, 32, kEstimated),
    model("rtx3090", 82, 1.70, 936, 2600, 6, 128, 25.4, 128, 2, kEstimated),
    model("l40s", 142, 2.52, 864, 5000, 96, 128, 47.7, 128, 2, kEstimated),
    model("rtx4090", 128, 2.52, 1008, 5000, 72, 128, 25.2, 128, 2, kEstimated),
    model("h100", 132, 1.98, 3352, 5380, 50, 256, 85.0, 128, 64, kEstimated),
    model("h200", 132, 1.98, 4800, 5380, 60, 256, 150.0, 128, 64, kMeasured),
    model("b200", 148, 1.96, 8000, 9500, 126, 256, 192.0, 128, 64, kEstimated),
    model("b300", 148, 1.96, 8000, 9500, 126, 256, 288.0, 128, 2, kEstimated),
    model("rtx5090", 170, 2.41, 1792, 6500, 96, 128, 34.2, 128, 2, kEstimated),
}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

int capability(const DeviceModel& model) { return limits_of_architecture(model.architecture).compute_capability; }

}  // namespace

std::span<const DeviceModel> device_models() { return kModels; }

const DeviceModel& find_device_model(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string> names;
  for (const DeviceModel& model : kModels) {
    if (model.name == wanted) return model;
    names.push_back(model.name);
  }
  throw Error(ErrorCode::unknown_name, fmt::format("unknown device model '{}'{} (`stencil-tune devices` lists them)",
                                                   name, did_you_mean(wanted, names)));
}

const DeviceModel& device_model_of_gpu(std::string_view gpu) {
  for (const DeviceModel& model : kModels) {
    if (model.gpu == gpu) return model;
  }
  throw Error(
      ErrorCode::unknown_name,
      fmt::format("no device model of '{}': its figures belong in runtime/model/device_model.cpp", printable(gpu)));
}

const DeviceModel& default_model() { return find_device_model("h200"); }  // the calibrated one

const DeviceModel& model_of_architecture(std::string_view architecture) {
  if (architecture == default_model().architecture) return default_model();
  const int wanted = limits_of_architecture(architecture).compute_capability;
  const DeviceModel* best = &kModels.front();
  for (const DeviceModel& model : kModels) {
    if (capability(model) <= wanted && capability(model) > capability(*best)) best = &model;
  }
  return *best;
}

DeviceModel model_of(const DeviceFacts& device) {
  const auto by_name =
      std::find_if(kModels.begin(), kModels.end(), [&](const DeviceModel& model) { return model.gpu == device.name; });
  DeviceModel result = by_name != kModels.end() ? *by_name : model_of_architecture(device.architecture);
  result.gpu = device.name;
  result.architecture = device.architecture;
  result.memory_gb = static_cast<double>(device.memory_bytes) / 1e9;
  if (by_name != kModels.end()) return result;

  result.source = "the driver; the rest as " + result.name;
  result.name = "this device";
  const double scale = static_cast<double>(device.multiprocessors) / result.multiprocessors;
  result.l2_gbs *= scale;
  result.dram_gbs *= scale;
  result.multiprocessors = device.multiprocessors;
  if (device.clock_khz > 0) result.clock_ghz = device.clock_khz / 1e6;
  if (device.l2_bytes > 0) result.l2_mb = static_cast<double>(device.l2_bytes) / (1 << 20);
  if (device.memory_clock_khz > 0 && device.memory_bus_bits > 0) {
    result.dram_gbs = 2.0 * device.memory_clock_khz * 1e3 * device.memory_bus_bits / 8 / 1e9;  // double data rate
  }
  return result;
}

}  // namespace stencil_tune
