#include "tuner/commands/gpu_option.hpp"

#include "tuner/model/device_model.hpp"

#include <boost/algorithm/string/predicate.hpp>

namespace stencil_tune {

void add_gpu_option(po::options_description_easy_init which, const char* meaning) {
  which("gpu", po::value<std::string>()->value_name("NAME"), meaning);
}

std::optional<std::string> requested_gpu(const po::variables_map& values) {
  if (values.count("gpu") == 0) return std::nullopt;
  const auto asked = values["gpu"].as<std::string>();
  for (const DeviceModel& model : device_models()) {
    if (boost::iequals(asked, model.name) || boost::iequals(asked, model.gpu)) return std::string(model.gpu);
  }
  return asked;
}

}  // namespace stencil_tune
