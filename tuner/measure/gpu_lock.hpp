// One timing at a time on a GPU, over all processes of a user.
#pragma once

#include "runtime/process/descriptor.hpp"
#include "runtime/process/patience.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace stencil_tune {

/// The lock file of a GPU: stencil-tune-UUID.lock in STENCIL_TUNE_LOCK_DIR, which several users may share, else in
/// XDG_RUNTIME_DIR, else in /tmp/stencil-tune-UID, which is made. Throws Error(file_io) where anyone else may write to
/// one of the last two.
std::filesystem::path gpu_lock_path(const std::string& uuid);

/// Holds a GPU while something is timed on it. The system releases it with the process, however that ends.
class GpuLock {
 public:
  /// Waits for other holders; nothing when patience is over first. `tell` hears once whom it waits for, after a second.
  /// Throws Error(file_io) when the file cannot be opened or is no regular file.
  static std::optional<GpuLock> acquire(const std::filesystem::path& path, const Patience& patience = {},
                                        const std::function<void(const std::string&)>& tell = {});

 private:
  explicit GpuLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace stencil_tune
