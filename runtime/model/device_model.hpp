// What the performance model knows of a GPU: data-sheet figures and a few measured ones.
#pragma once

#include "generator/candidates/constraints.hpp"
#include "runtime/cuda/device.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

struct DeviceModel {
  std::string name;          ///< "h200": what --device-model takes
  std::string gpu;           ///< "NVIDIA H200": the model name the driver reports
  std::string architecture;  ///< "sm_90"
  int multiprocessors = 0;
  double clock_ghz = 0;  ///< SM clock under load
  double dram_gbs = 0;   ///< peak of the data sheet, 1e9 bytes/s
  double l2_gbs = 0;     ///< sustained reads + writes between SMs and L2, 1e9 bytes/s
  double l2_mb = 0;      ///< 2^20 bytes
  double l1_kb = 0;      ///< L1 and shared memory of an SM together, 2^10 bytes
  double memory_gb = 0;  ///< 1e9 bytes
  int f32_lanes = 0;     ///< FMAs an SM starts per clock
  int f64_lanes = 0;
  std::string source;  ///< where the figures come from
};

/// All models known by name.
std::span<const DeviceModel> device_models();

/// By name ("h200", any case). Throws Error(unknown_name) with the nearest name.
const DeviceModel& find_device_model(std::string_view name);

/// By the GPU's model name ("NVIDIA H200"). Throws Error(unknown_name).
const DeviceModel& device_model_of_gpu(std::string_view gpu);

/// What is predicted for where no GPU is here and none is named.
const DeviceModel& default_model();

/// The model that stands for an architecture ("sm_90" -> h200): the same, else the nearest older one.
/// Throws Error(unknown_name) for what is not sm_NN with NN >= 70.
const DeviceModel& model_of_architecture(std::string_view architecture);

/// For a GPU that is present: the model of its name, else the one of its architecture, with the driver's facts put in.
DeviceModel model_of(const DeviceFacts& device);

}  // namespace stencil_tune
