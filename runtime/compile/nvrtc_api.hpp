// The functions of NVRTC that we call, resolved at run time.
#pragma once

#include "runtime/compile/nvrtc_search.hpp"
#include "runtime/cuda/shared_library.hpp"

#include <nvrtc.h>

#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// NVRTC, opened, with its builtins library where it has one.
struct NvrtcApi {
  std::vector<SharedLibrary> libraries;
  int major = 0;
  int minor = 0;

  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcGetNumSupportedArchs) architecture_count = nullptr;
  decltype(&::nvrtcGetSupportedArchs) architectures = nullptr;
  decltype(&::nvrtcCreateProgram) create_program = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&::nvrtcAddNameExpression) add_name = nullptr;
  decltype(&::nvrtcGetLoweredName) lowered_name = nullptr;
  decltype(&::nvrtcCompileProgram) compile_program = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;

  /// The first of the search's candidates whose CUDA major is at most `newest_major`; where there is none, the first
  /// that opens at all. newest_major 0: any.
  /// Throws Error(missing_library) naming the places searched and what to install.
  static NvrtcApi open(const NvrtcSearch& search, int newest_major = 0);

  /// Throws Error(code) when the call failed.
  void check(nvrtcResult result, std::string_view what) const;
};

/// A driver loads only binaries of its own CUDA major version or an older one. Versions as "13.0".
/// Throws Error(unsupported_driver) saying both.
void require_driver_accepts(std::string_view nvrtc_version, std::string_view driver_version);

}  // namespace stencil_tune
