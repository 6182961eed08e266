// What a verb works for: a GPU that is here, or a model of one that is not.
#pragma once

#include "runtime/cuda/device.hpp"
#include "tuner/commands/program/command_line.hpp"
#include "tuner/model/device_model.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

struct Target {
  std::optional<DeviceFacts> device;  ///< empty: predict
  DeviceModel model;
  std::string architecture;
  Limits limits;
  std::string note;  ///< why there is no device although none was excluded; empty otherwise

  bool predicted() const noexcept { return !device.has_value(); }
  const std::string& gpu() const noexcept { return device ? device->name : model.gpu; }
};

void add_device_option(CommandLine& line);
void add_prediction_options(CommandLine& line);

/// --arch or --device-model: a prediction. Otherwise the GPU of --device (default: the first); without any GPU a
/// prediction for the default architecture, unless --device asked for one.
/// Throws Error: no_device, unknown_name, unsupported_driver; invalid_argument where options contradict each other.
Target choose_target(const po::variables_map& values);

/// The GPU of --device. Throws Error(no_device) when there is none.
DeviceFacts require_device(const po::variables_map& values);

}  // namespace stencil_tune
