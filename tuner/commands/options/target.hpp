// What a verb works for: a GPU that is here, or a model of one that is not.
#pragma once

#include "runtime/cuda/device.hpp"
#include "tuner/commands/program/command_line.hpp"
#include "tuner/model/device_model.hpp"
#include "tuner/model/model_version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

struct Target {
  std::optional<DeviceFacts> device;        ///< empty: predict
  std::vector<DeviceFacts> more_devices{};  ///< further GPUs of the same model, which share the trials
  DeviceModel model;
  std::string architecture;
  Limits limits;
  std::string note;  ///< why there is no device although none was excluded; empty otherwise

  bool predicted() const noexcept { return !device.has_value(); }
  /// The model whose predictions count; nothing where the GPU measures.
  std::optional<std::string_view> predicting_model() const {
    return predicted() ? std::optional<std::string_view>(model_version()) : std::nullopt;
  }
  const std::string& gpu() const noexcept { return device ? device->name : model.gpu; }
};

void add_device_option(CommandLine& line);   ///< one GPU
void add_devices_option(CommandLine& line);  ///< several
void add_prediction_options(CommandLine& line);

/// A target for each GPU model, in the order in which the models come first.
std::vector<Target> targets_of(const std::vector<DeviceFacts>& devices);

/// --arch or --device-model: a prediction. Otherwise the GPUs of --device (default: the first), a target for each model
/// of GPU; without any GPU a prediction for the default architecture, unless --device asked for one.
/// Throws Error: no_device, unknown_name, unsupported_driver; invalid_argument where options contradict each other.
std::vector<Target> choose_targets(const po::variables_map& values);

/// The same where all GPUs have to be of one model; throws Error(invalid_argument) where they are not.
Target choose_target(const po::variables_map& values);

/// The GPU of --device. Throws Error(no_device) when there is none.
DeviceFacts require_device(const po::variables_map& values);

}  // namespace stencil_tune
