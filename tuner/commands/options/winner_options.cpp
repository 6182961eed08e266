#include "tuner/commands/options/winner_options.hpp"

#include "runtime/model/device_model.hpp"

#include <boost/algorithm/string/predicate.hpp>

namespace stencil_tune {

void add_gpu_option(po::options_description_easy_init which, const char* meaning) {
  which("gpu", po::value<std::string>()->value_name("NAME"), meaning);
}

void add_winner_options(po::options_description_easy_init which) {
  add_gpu_option(which, "the winner on this GPU model: h200, or its full name");
  which("objective", po::value<std::string>()->value_name("time|burst|energy"),
        "the winner by this objective (default: time, else burst, else energy)");
}

std::optional<std::string> requested_gpu(const po::variables_map& values) {
  if (values.count("gpu") == 0) return std::nullopt;
  const auto asked = values["gpu"].as<std::string>();
  for (const DeviceModel& model : device_models()) {
    if (boost::iequals(asked, model.name) || boost::iequals(asked, model.gpu)) return std::string(model.gpu);
  }
  return asked;
}

Objective requested_objective(const po::variables_map& values) {
  return values.count("objective") > 0 ? parse_objective(values["objective"].as<std::string>()) : Objective::time;
}

}  // namespace stencil_tune
