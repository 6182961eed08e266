// A kernel's machine code.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stencil_tune {

/// What the assembler's log says of a kernel.
struct KernelResources {
  int registers = 0;      ///< per thread
  int spill_bytes = 0;    ///< stores + loads, per thread
  int stack_bytes = 0;    ///< per thread
  int static_shared = 0;  ///< bytes per block
  bool operator==(const KernelResources&) const = default;
};

struct CompiledKernel {
  std::vector<std::byte> cubin;
  std::string entry;
  KernelResources resources;
  double seconds = 0;  ///< spent compiling; 0 when the binary came from a cache
};

}  // namespace stencil_tune
