// One timing at a time on a GPU, over all processes and users of a machine.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace stencil_tune {

/// The lock file of a GPU: stencil-tune-UUID.lock in STENCIL_TUNE_LOCK_DIR, else in /tmp (not TMPDIR: all users must
/// agree on it).
std::filesystem::path gpu_lock_path(const std::string& uuid);

/// Holds a GPU while something is timed on it. The system releases it with the process, however that ends.
class GpuLock {
 public:
  /// Waits for other holders. Throws Error(file_io) when the file cannot be opened.
  explicit GpuLock(const std::filesystem::path& path);
  GpuLock(GpuLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  GpuLock& operator=(GpuLock&&) = delete;
  ~GpuLock();

 private:
  int file_;
};

}  // namespace stencil_tune
