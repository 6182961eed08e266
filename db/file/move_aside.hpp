// Getting a damaged database out of the way without losing it.
#pragma once

#include <filesystem>
#include <string_view>

namespace stencil_tune {

/// Keeps other processes from recovering a database in the same folder; released by the destructor.
/// On file systems that cannot lock a folder it does nothing: recovery is then only as safe as rename is.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// NAME.WHAT-<UTC time>[-n], which does not exist yet.
std::filesystem::path unused_name_beside(const std::filesystem::path& path, std::string_view what);

/// Renames the file to NAME.corrupt-<UTC time>[-n], its journal with it, never over an existing file.
/// Returns the new path. Throws Error(database_io).
std::filesystem::path move_aside(const std::filesystem::path& path);

}  // namespace stencil_tune
