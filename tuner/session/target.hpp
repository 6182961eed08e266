// What a session works for: a GPU that is here, or a model of one that is not.
#pragma once

#include "runtime/cuda/device.hpp"
#include "runtime/model/device_model.hpp"
#include "runtime/model/model_version.hpp"

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

}  // namespace stencil_tune
