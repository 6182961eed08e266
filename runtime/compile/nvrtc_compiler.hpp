// The compiler behind open_nvrtc(), and the options it is given.
#pragma once

#include "runtime/compile/compiler.hpp"
#include "runtime/compile/nvrtc_search.hpp"

#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// NVRTC's options for an architecture: what a binary depends on besides source, headers and NVRTC's version.
std::vector<std::string> nvrtc_options(std::string_view arch);

/// open_nvrtc() with everything told: where to look, the newest CUDA major to accept (0: any), the headers that sources
/// may include (they must outlive the compiler).
std::unique_ptr<Compiler> open_nvrtc(const NvrtcSearch& search, int newest_major,
                                     std::span<const TemplateFile> headers);

/// The newest CUDA major whose binaries this machine's driver loads; 0 where there is no driver, so nothing to load.
int newest_loadable_major();

}  // namespace stencil_tune
