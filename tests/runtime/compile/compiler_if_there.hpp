// NVRTC for tests, which a machine may lack.
#pragma once

#include "runtime/compile/compiler.hpp"
#include "stencil_tune/error.hpp"

#include <memory>

namespace stencil_tune {

inline std::unique_ptr<Compiler> compiler_if_there() {
  try {
    return open_nvrtc();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::missing_library) return nullptr;
    throw;
  }
}

}  // namespace stencil_tune
