#include "runtime/compile/lazy_compiler.hpp"
#include "runtime/compile/nvrtc_compiler.hpp"
#include "stencil_tune/error.hpp"

namespace stencil_tune {

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
