#include "tuner/commands/options/target.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

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
    target.architecture = default_model().architecture;
  }
  target.limits = limits_of_architecture(target.architecture);
  if (values.count("device-model") == 0) target.model = model_of_architecture(target.architecture);
  target.limits.multiprocessors = target.model.multiprocessors;
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

/// Those share a session. MIG instances have a name of their own for each size.
bool is_same_model(const DeviceFacts& a, const DeviceFacts& b) {
  return a.name == b.name && a.multiprocessors == b.multiprocessors && a.limits == b.limits;
}

/// Without a driver there is no GPU either.
template <class Ask>
auto asking_driver(const Ask& ask) try {
  return ask();
} catch (const Error& error) {
  if (error.code() != ErrorCode::missing_library) throw;
  throw Error(ErrorCode::no_device, fmt::format("no GPU here: {}", error.what()));
}

/// "all", or numbers and UUIDs. Each once.
std::vector<DeviceFacts> require_devices(const std::string& named) {
  return asking_driver([&] {
    std::vector<DeviceFacts> devices;
    if (named == "all") {
      devices = list_devices();
      if (devices.empty()) throw Error(ErrorCode::no_device, "--device all: the CUDA driver sees no GPU");
      return devices;
    }
    for (const std::string& one : split_list(named)) {
      DeviceFacts device = find_device(one);
      if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(std::move(device));
    }
    return devices;
  });
}

}  // namespace

void add_device_option(CommandLine& line) {
  line.group("where").add_options()("device", po::value<std::string>()->value_name("N|UUID"),
                                    "the GPU, by number or UUID (default 0; see `stencil-tune devices`)");
}

void add_devices_option(CommandLine& line) {
  line.group("where").add_options()("device", po::value<std::string>()->value_name("N|UUID[,...]|all"),
                                    "the GPU, by number or UUID (default 0; see `stencil-tune devices`). Several of "
                                    "one model share the trials of one "
                                    "session; all: every GPU here, different models side by side");
}

void add_prediction_options(CommandLine& line) {
  line.group("without a GPU")
      .add_options()("arch", po::value<std::string>()->value_name("sm_NN"),
                     "predict for an architecture (default sm_90)")(
          "device-model", po::value<std::string>()->value_name("NAME"), "predict for a GPU: h200, h100, a100 ...");
}

std::vector<Target> targets_of(const std::vector<DeviceFacts>& devices) {
  std::vector<Target> targets;
  for (const DeviceFacts& device : devices) {
    const auto same = std::find_if(targets.begin(), targets.end(),
                                   [&](const Target& target) { return is_same_model(*target.device, device); });
    if (same == targets.end()) {
      targets.push_back(measured_target(device));
    } else {
      same->more_devices.push_back(device);
    }
  }
  return targets;
}

std::vector<Target> choose_targets(const po::variables_map& values) {
  reject_contradictions(values);
  if (values.count("arch") > 0 || values.count("device-model") > 0) return {predicted_target(values, "")};
  if (values.count("device") > 0) return targets_of(require_devices(values["device"].as<std::string>()));
  try {
    auto devices = list_devices();
    if (!devices.empty()) return {measured_target(std::move(devices.front()))};
    return {predicted_target(values, "no GPU found on this machine")};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing_library) throw;
    return {predicted_target(values, "no GPU driver on this machine")};
  }
}

Target choose_target(const po::variables_map& values) {
  std::vector<Target> targets = choose_targets(values);
  if (targets.size() == 1) return std::move(targets.front());
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--device {}: a {} and a {} are different models; name GPUs of one model here",
                          values["device"].as<std::string>(), targets[0].gpu(), targets[1].gpu()));
}

DeviceFacts require_device(const po::variables_map& values) {
  return asking_driver(
      [&] { return find_device(values.count("device") > 0 ? values["device"].as<std::string>() : "0"); });
}

}  // namespace stencil_tune
