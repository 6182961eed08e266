// A compiler that asks the binary cache first.
#pragma once

#include "runtime/compile/binary_cache.hpp"
#include "runtime/compile/compiler.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace stencil_tune {

/// Opens the compiler behind it only when a binary is missing: with everything cached, NVRTC is never loaded.
/// Thread-safe where the compiler behind it is.
class CachingCompiler final : public Compiler {
 public:
  using Opener = std::function<std::unique_ptr<Compiler>()>;

  /// version: the compiler's, where it is known without opening it; empty: open it to ask.
  CachingCompiler(BinaryCache cache, Opener open, std::string version = "");

  CompiledKernel compile(const KernelSource& source, std::string_view arch) override;
  std::optional<CompiledKernel> find_compiled(const KernelSource& source, std::string_view arch) const override;
  std::string version() const override;

 private:
  template <class Use>
  auto with_key(const KernelSource& source, std::string_view arch, Use use) const;

  BinaryCache cache_;
  std::unique_ptr<Compiler> compiler_;
  std::string version_;
};

/// NVRTC behind the user's binary cache. Where the cache cannot be used, `note` says why and compiling goes on without.
std::unique_ptr<Compiler> open_cached_nvrtc(std::string* note = nullptr);

}  // namespace stencil_tune
