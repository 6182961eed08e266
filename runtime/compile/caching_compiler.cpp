#include "runtime/compile/caching_compiler.hpp"

#include "generator/kernel_source/signature.hpp"
#include "runtime/compile/lazy_compiler.hpp"
#include "runtime/compile/nvrtc_compiler.hpp"

#include <utility>

namespace stencil_tune {
namespace {

std::string joined_options(std::string_view arch) {
  std::string text;
  for (const std::string& option : nvrtc_options(arch)) text += option + ' ';
  return text;
}

}  // namespace

CachingCompiler::CachingCompiler(BinaryCache cache, Opener open, std::string version)
    : cache_(std::move(cache)),
      compiler_(std::make_unique<LazyCompiler>(std::move(open))),
      version_(std::move(version)) {}

template <class Use>
auto CachingCompiler::with_key(const KernelSource& source, std::string_view arch, Use use) const {
  const std::string signature = template_signature(source);
  const std::string options = joined_options(arch);
  const std::string compiler_version = version();
  return use(BinaryKey{.source = source.text,
                       .entry = source.entry,
                       .is_own = source.is_own,
                       .template_signature = signature,
                       .options = options,
                       .arch = arch,
                       .compiler = compiler_version});
}

std::optional<CompiledKernel> CachingCompiler::find_compiled(const KernelSource& source, std::string_view arch) const {
  return with_key(source, arch, [&](const BinaryKey& key) { return cache_.load(key); });
}

CompiledKernel CachingCompiler::compile(const KernelSource& source, std::string_view arch) {
  return with_key(source, arch, [&](const BinaryKey& key) {
    if (auto cached = cache_.load(key)) return std::move(*cached);
    CompiledKernel kernel = compiler_->compile(source, arch);
    cache_.store(key, kernel);
    return kernel;
  });
}

std::string CachingCompiler::version() const { return version_.empty() ? compiler_->version() : version_; }

}  // namespace stencil_tune
