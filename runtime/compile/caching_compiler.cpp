#include "runtime/compile/caching_compiler.hpp"

#include "generator/kernel/signature.hpp"
#include "runtime/compile/nvrtc_compiler.hpp"
#include "stencil_tune/error.hpp"

#include <mutex>
#include <utility>

namespace stencil_tune {

namespace {

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

std::unique_ptr<Compiler> open_cached_nvrtc(std::string* note) {
  const int newest_major = newest_loadable_major();
  const auto open = [newest_major] {
    return open_nvrtc(NvrtcSearch::from_environment(), newest_major, template_files());
  };
  const std::filesystem::path folder = default_cache_folder();
  if (folder.empty()) {
    if (note != nullptr)
      *note = "compiled kernels are not cached: STENCIL_TUNE_CACHE is off, or there is no home folder";
    return std::make_unique<LazyCompiler>(open);
  }
  try {
    return std::make_unique<CachingCompiler>(BinaryCache(folder), open,
                                             version_by_name(NvrtcSearch::from_environment(), newest_major));
  } catch (const Error& error) {
    if (note != nullptr) *note = error.what();
    return std::make_unique<LazyCompiler>(open);
  }
}

}  // namespace stencil_tune
