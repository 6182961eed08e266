#include "runtime/compile/nvrtc_api.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <utility>

namespace stencil_tune {

namespace {

NvrtcApi resolve(SharedLibrary library) {
  NvrtcApi api;
  library.require(api.version, "nvrtcVersion");
  library.require(api.error_string, "nvrtcGetErrorString");
  library.require(api.architecture_count, "nvrtcGetNumSupportedArchs");
  library.require(api.architectures, "nvrtcGetSupportedArchs");
  library.require(api.create_program, "nvrtcCreateProgram");
  library.require(api.destroy_program, "nvrtcDestroyProgram");
  library.require(api.add_name, "nvrtcAddNameExpression");
  library.require(api.lowered_name, "nvrtcGetLoweredName");
  library.require(api.compile_program, "nvrtcCompileProgram");
  library.require(api.log_size, "nvrtcGetProgramLogSize");
  library.require(api.log, "nvrtcGetProgramLog");
  library.require(api.cubin_size, "nvrtcGetCUBINSize");
  library.require(api.cubin, "nvrtcGetCUBIN");
  api.check(api.version(&api.major, &api.minor), "ask NVRTC's version");
  api.libraries.push_back(std::move(library));
  return api;
}

void load_builtins(NvrtcApi& api) {
  const std::string version = fmt::format("{}.{}", api.major, api.minor);
  for (const auto& path : builtins_beside(api.libraries.front().path(), version)) {
    auto builtins = SharedLibrary::open(path.string(), nullptr, SharedLibrary::Visibility::global);
    if (builtins) api.libraries.push_back(std::move(*builtins));
  }
}

}  // namespace

NvrtcApi NvrtcApi::open(const NvrtcSearch& search, int newest_major) {
  std::optional<NvrtcApi> too_new;
  std::string why;
  for (const std::string& candidate : nvrtc_candidates(search)) {
    std::string reason;
    auto library = SharedLibrary::open(candidate, &reason);
    if (!library) {
      why += "\n  " + reason;
      continue;
    }
    NvrtcApi api = resolve(std::move(*library));
    if (newest_major == 0 || api.major <= newest_major) {
      load_builtins(api);
      return api;
    }
    if (!too_new) too_new = std::move(api);
  }
  if (!too_new) {
    throw Error(
        ErrorCode::missing_library,
        fmt::format("NVRTC, NVIDIA's run-time compiler, was not found. Searched:\n{}\nInstall the CUDA toolkit (or "
                    "run scripts/setup), or set STENCIL_TUNE_NVRTC to libnvrtc.so.{}{}",
                    describe(search), "N", why.empty() ? "" : "\nThe dynamic linker said:" + why));
  }
  load_builtins(*too_new);
  return std::move(*too_new);
}

void NvrtcApi::check(nvrtcResult result, std::string_view what) const {
  if (result == NVRTC_SUCCESS) return;
  throw Error(ErrorCode::compile_failed, fmt::format("cannot {}: {}", what, error_string(result)));
}

void require_driver_accepts(std::string_view nvrtc_version, std::string_view driver_version) {
  const int nvrtc_major = std::atoi(std::string(nvrtc_version).c_str());
  const int driver_major = std::atoi(std::string(driver_version).c_str());
  if (nvrtc_major <= driver_major) return;
  throw Error(
      ErrorCode::unsupported_driver,
      fmt::format("NVRTC {} makes binaries that this driver, for CUDA {}, cannot load. Update the driver, or install "
                  "NVRTC {}.x and set STENCIL_TUNE_NVRTC to it",
                  nvrtc_version, driver_version, driver_major));
}

}  // namespace stencil_tune
