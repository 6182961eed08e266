// stencil-tune devices
#include "runtime/cuda/device.hpp"
#include "runtime/model/calibration.hpp"
#include "runtime/model/device_model.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/program/command_line.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/terminal/print_fitted.hpp"
#include "tuner/terminal/text_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<TableColumn> kModelColumns{{"model", false}, {"GPU", false}, {"arch", false},        {"SMs"},
                                             {"GB/s"},         {"L2"},         {"figures from", false}};

struct Present {
  std::vector<DeviceFacts> devices;
  std::string note;  ///< why there are none
};

Present present_devices() {
  try {
    Present present{list_devices(), ""};
    if (present.devices.empty()) present.note = "no GPU found on this machine";
    return present;
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

void print_devices(const Present& present) {
  print_fitted("GPUs of this machine:\n");
  if (!present.note.empty()) print_fitted("  none: {}\n", present.note);
  for (const DeviceFacts& device : present.devices) {
    print_fitted("  {}  {} ({}), {} SMs, {} memory, {} L2, {} shared memory a block, driver {}\n     {}\n",
                 device.ordinal, device.name, device.architecture, device.multiprocessors,
                 bytes_text(static_cast<double>(device.memory_bytes)), bytes_text(static_cast<double>(device.l2_bytes)),
                 bytes_text(static_cast<double>(device.limits.shared_per_block)), device.driver, device.uuid);
  }
  print_fitted("\nmodels to predict for (--device-model):\n");
  std::vector<std::vector<std::string>> models;
  for (const DeviceModel& model : device_models()) {
    models.push_back({std::string(model.name), std::string(model.gpu), std::string(model.architecture),
                      std::to_string(model.multiprocessors), fmt::format("{:.0f}", model.dram_gbs),
                      fmt::format("{:.0f} MB", model.l2_mb), std::string(model.source)});
  }
  fmt::print("{}", text_table(kModelColumns, models, {"  ", terminal_of(stdout)}));
  print_fitted("the model's constants were fitted on:\n");
  for (const Calibration& calibration : calibrations()) print_fitted("  {}, {}\n", calibration.gpu, calibration.date);
  print_fitted("for other GPUs it takes the first, scaled to their figures\n");
}

Json devices_json(const Present& present) {
  Json json{{"devices", Json::array()}, {"models", Json::array()}};
  for (const DeviceFacts& device : present.devices) {
    json["devices"].push_back({{"ordinal", device.ordinal},
                               {"name", device.name},
                               {"uuid", device.uuid},
                               {"architecture", device.architecture},
                               {"multiprocessors", device.multiprocessors},
                               {"memory_bytes", device.memory_bytes},
                               {"l2_bytes", device.l2_bytes},
                               {"shared_per_block", device.limits.shared_per_block},
                               {"driver", device.driver}});
  }
  if (!present.note.empty()) json["note"] = present.note;
  for (const DeviceModel& model : device_models()) {
    json["models"].push_back({{"name", model.name},
                              {"gpu", model.gpu},
                              {"architecture", model.architecture},
                              {"multiprocessors", model.multiprocessors},
                              {"dram_gbs", model.dram_gbs},
                              {"l2_gbs", model.l2_gbs},
                              {"source", model.source},
                              {"calibration", describe_calibration(model, calibration_of(model))}});
  }
  return json;
}

}  // namespace

int run_devices(const Arguments& arguments) {
  CommandLine line("stencil-tune devices [--json]",
                   "GPUs of this machine, and models that predictions can be made for.\n",
                   "  stencil-tune devices\n  stencil-tune devices --json\n");
  line.group("output").add_options()("json", "as JSON");
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const Present present = present_devices();
  if (values->count("json") > 0) {
    fmt::print("{}", json_text(devices_json(present)));
  } else {
    print_devices(present);
  }
  return 0;
}

}  // namespace stencil_tune
