// Folders for files that are needed for a moment.
#pragma once

#include "runtime/process/descriptor.hpp"

#include <filesystem>

namespace stencil_tune {

/// Where temporary files go: TMPDIR, or /tmp where that is not set or no folder.
std::filesystem::path temporary_root();

/// A folder of its own in temporary_root(), removed with all it holds. One whose process was killed stays, and goes
/// with the next remove_abandoned().
class ScratchFolder {
 public:
  /// Throws Error(file_io).
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  /// Removes this user's folders in temporary_root() whose processes are gone. One that cannot be removed stays.
  static void remove_abandoned() noexcept;

 private:
  std::filesystem::path path_;
  Descriptor lock_;  ///< on the folder itself: whoever could take it would know that this object is gone
};

}  // namespace stencil_tune
