// From kernel source to machine code for a named architecture. No GPU needed.
#pragma once

#include "generator/kernel_source/source.hpp"
#include "runtime/compile/compiled_kernel.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace stencil_tune {

/// A seam: the real one is NVRTC, tests have their own.
class Compiler {
 public:
  virtual ~Compiler() = default;

  /// arch: "sm_90". Throws Error(compile_failed) with the compiler's log, Error(missing_library) without NVRTC.
  virtual CompiledKernel compile(const KernelSource& source, std::string_view arch) = 0;

  /// What compile() would give where that takes no compiling; nothing otherwise.
  virtual std::optional<CompiledKernel> find_compiled(const KernelSource& /*source*/, std::string_view /*arch*/) const {
    return std::nullopt;
  }

  /// Throws Error(unknown_name), naming those that it does compile for, where arch is none of them.
  virtual void require_architecture(std::string_view /*arch*/) const {}

  /// "13.0"
  virtual std::string version() const = 0;
};

/// NVRTC, opened at run time. Throws Error(missing_library) naming the places searched and what to install.
std::unique_ptr<Compiler> open_nvrtc();

}  // namespace stencil_tune
