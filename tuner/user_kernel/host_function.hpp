// A reference that is a function in a shared object of the user's.
#pragma once

#include "generator/user_kernel/user_kernel.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace stencil_tune {

class HostFunction {
 public:
  /// Loads the library. The kernel must outlive it. Throws Error: file_io where it cannot be loaded, unknown_name where
  /// it has no such function, missing_library without a host compiler, which makes the call of this signature.
  explicit HostFunction(const UserKernel& kernel);

  /// With the arrays' cells on the host, in the kernel's order; values are the definition's.
  void call(std::vector<std::vector<std::byte>>& arrays) const;

 private:
  const UserKernel& kernel_;
  std::shared_ptr<void> library_, caller_;
  void (*call_)(void* function, void* const* arguments) = nullptr;
  void* function_ = nullptr;
};

}  // namespace stencil_tune
