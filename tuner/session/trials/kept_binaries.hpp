// Binaries of the session's fastest candidates, to be launched otherwise.
#pragma once

#include "runtime/compile/compiled_kernel.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace stencil_tune {

/// Unlike Contenders it keeps what cannot win as it was launched, but may with other launches.
class KeptBinaries {
 public:
  /// In place of the slowest, where there are 100: 10 MB.
  void add(const std::string& code, const CompiledKernel& kernel, double time_ms);

  bool contains(const std::string& code) const { return binaries_.contains(code); }
  const CompiledKernel& at(const std::string& code) const { return binaries_.at(code).kernel; }

 private:
  struct Binary {
    CompiledKernel kernel;
    double time_ms = 0;
  };

  std::map<std::string, Binary> binaries_;
};

}  // namespace stencil_tune
