// A compiler that is opened when it is needed.
#pragma once

#include "runtime/compile/caching_compiler.hpp"

#include <mutex>
#include <utility>

namespace stencil_tune {

/// Opens the compiler behind it at the first use.
class LazyCompiler final : public Compiler {
 public:
  explicit LazyCompiler(CachingCompiler::Opener open) : open_(std::move(open)) {}

  CompiledKernel compile(const KernelSource& source, std::string_view arch) override {
    return compiler().compile(source, arch);
  }
  std::string version() const override { return compiler().version(); }

 private:
  Compiler& compiler() const {
    const std::scoped_lock lock(mutex_);
    if (!compiler_) compiler_ = open_();
    return *compiler_;
  }

  CachingCompiler::Opener open_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Compiler> compiler_;
};

}  // namespace stencil_tune
