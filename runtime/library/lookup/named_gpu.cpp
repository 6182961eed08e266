#include "generator/printable.hpp"
#include "generator/suggest.hpp"
#include "runtime/cuda/gpu_names.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

namespace stencil_tune {

namespace {

constexpr int kNotHere = -1;

DeviceFacts facts(std::string model, std::string architecture) {
  DeviceFacts facts;
  facts.ordinal = kNotHere;
  facts.name = std::move(model);
  facts.limits = limits_of_architecture(architecture);
  facts.architecture = std::move(architecture);
  return facts;
}

}  // namespace

DeviceFacts facts_of_named(const std::string& gpu, const LibraryParts& parts) {
  if (const GpuName* known = find_gpu_name(gpu))
    return facts(std::string(known->model), std::string(known->architecture));
  if (const auto architecture = parts.architecture_of(gpu)) return facts(gpu, *architecture);
  if (gpu.starts_with("sm_")) return facts("", gpu);
  std::vector<std::string> names;
  for (const GpuName& each : gpu_names()) names.insert(names.end(), {std::string(each.name), std::string(each.model)});
  throw Error(ErrorCode::unknown_name,
              fmt::format("gpu '{}' is none that is known or has won{}; `stencil-tune devices` lists names, "
                          "an architecture such as sm_90 will do too",
                          printable(gpu), did_you_mean(gpu, names)));
}

}  // namespace stencil_tune
