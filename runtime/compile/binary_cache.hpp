// Compiled kernels kept between runs, in a folder of the user's own.
#pragma once

#include "runtime/compile/compiler.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace stencil_tune {

/// What a binary depends on. Two with equal members have the same binary.
struct BinaryKey {
  std::string_view source;
  std::string_view entry;
  bool is_own = false;  ///< as KernelSource has it: the binary has another name for the entry
  std::string_view template_signature;
  std::string_view options;
  std::string_view arch;
  std::string_view compiler;  ///< NVRTC's version

  std::string digest() const;  ///< 32 hex digits (XXH3-128)
};

/// Thread-safe, and safe between processes: entries are written to a temporary file and renamed.
class BinaryCache {
 public:
  /// Creates the folder (0700) where it is not there. Throws Error(file_io) when that is impossible, or when the folder
  /// belongs to someone else or others may write to it: what lies there would be run on the user's GPU.
  explicit BinaryCache(std::filesystem::path folder, std::uintmax_t limit_bytes = std::uintmax_t{1} << 30);

  /// Nothing when there is no entry, it cannot be read now, or it fails its checks; a damaged entry is removed.
  std::optional<CompiledKernel> load(const BinaryKey& key) const;

  /// A full disk or a folder that became read-only is no error: the cache then just does not grow.
  void store(const BinaryKey& key, const CompiledKernel& kernel) const noexcept;

  /// Removes what writers that are gone left half-written, and the entries that were not used for longest until the
  /// folder is within its limit.
  void trim() const noexcept;

  const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  std::filesystem::path path_of(const BinaryKey& key) const;

  std::filesystem::path folder_;
  std::uintmax_t limit_bytes_;
};

/// STENCIL_TUNE_CACHE, else $XDG_CACHE_HOME/stencil-tune, else ~/.cache/stencil-tune; empty when STENCIL_TUNE_CACHE is
/// "off" or there is no home.
std::filesystem::path default_cache_folder();

}  // namespace stencil_tune
