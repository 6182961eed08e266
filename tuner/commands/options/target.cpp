#include "tuner/commands/options/target.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {
namespace {

constexpr const char* kDefaultArchitecture = "sm_90";

Target predicted_target(const po::variables_map& values, std::string note) {
  Target target;
  target.note = std::move(note);
  if (values.count("device-model") > 0) {
    target.model = find_device_model(values["device-model"].as<std::string>());
    target.architecture = target.model.architecture;
  }
  if (values.count("arch") > 0) {
    target.architecture = values["arch"].as<std::string>();
  } else if (target.architecture.empty()) {
    target.architecture = kDefaultArchitecture;
  }
  target.limits = limits_of_architecture(target.architecture);
  if (values.count("device-model") == 0) target.model = model_of_architecture(target.architecture);
  return target;
}

void reject_contradictions(const po::variables_map& values) {
  for (const char* predict : {"arch", "device-model"}) {
    if (values.count("device") == 0 || values.count(predict) == 0) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--device and --{} exclude each other: a GPU that is here is measured, what --{} names is "
                            "predicted",
                            predict, predict));
  }
  if (values.count("arch") == 0 || values.count("device-model") == 0) return;
  const DeviceModel& model = find_device_model(values["device-model"].as<std::string>());
  const auto arch = values["arch"].as<std::string>();
  if (limits_of_architecture(arch).compute_capability ==
      limits_of_architecture(model.architecture).compute_capability) {
    return;
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--device-model {} has {}, --arch asks for {}: give one of the two", model.name,
                          model.architecture, arch));
}

Target measured_target(DeviceFacts device) {
  Target target;
  target.model = model_of(device);
  target.architecture = device.architecture;
  target.limits = device.limits;
  target.device = std::move(device);
  return target;
}

}  // namespace

void add_device_option(CommandLine& line) {
  line.group("where").add_options()("device", po::value<std::string>()->value_name("N|UUID"),
                                    "the GPU, by number or UUID (default 0; see `stencil-tune devices`)");
}

void add_prediction_options(CommandLine& line) {
  line.group("without a GPU")
      .add_options()("arch", po::value<std::string>()->value_name("sm_NN"),
                     "predict for an architecture (default sm_90)")(
          "device-model", po::value<std::string>()->value_name("NAME"), "predict for a GPU: h200, h100, a100 ...");
}

Target choose_target(const po::variables_map& values) {
  reject_contradictions(values);
  if (values.count("arch") > 0 || values.count("device-model") > 0) return predicted_target(values, "");
  if (values.count("device") > 0) return measured_target(require_device(values));
  try {
    auto devices = list_devices();
    if (!devices.empty()) return measured_target(std::move(devices.front()));
    return predicted_target(values, "no GPU found on this machine");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing_library) throw;
    return predicted_target(values, "no GPU driver on this machine");
  }
}

DeviceFacts require_device(const po::variables_map& values) {
  try {
    return find_device(values.count("device") > 0 ? values["device"].as<std::string>() : "0");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing_library) throw;
    throw Error(ErrorCode::no_device, fmt::format("no GPU here: {}", error.what()));
  }
}

}  // namespace stencil_tune
