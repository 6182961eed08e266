#include "runtime/files/scratch_folder.hpp"

#include "stencil_tune/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stencil_tune {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "stencil-tune-scratch-";

Descriptor open_own(const fs::path& folder) {
  Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool is_ours = file.get() >= 0 && ::fstat(file.get(), &status) == 0 && status.st_uid == ::geteuid();
  return is_ours ? std::move(file) : Descriptor();
}

bool try_lock(const Descriptor& folder) { return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0; }

/// Between its making and its lock a folder looks abandoned, and may have been removed as such.
bool is_still_there(const fs::path& folder, const Descriptor& lock) {
  struct stat named {
  }, locked{};
  return ::stat(folder.c_str(), &named) == 0 && ::fstat(lock.get(), &locked) == 0 && named.st_ino == locked.st_ino;
}

}  // namespace

fs::path temporary_root() {
  const char* named = std::getenv("TMPDIR");
  std::error_code ignored;
  return named != nullptr && fs::is_directory(named, ignored) ? named : "/tmp";
}

ScratchFolder::ScratchFolder() {
  do {
    path_ = (temporary_root() / kPrefix).string() + "XXXXXX";
    std::string pattern = path_.string();
    const bool made = ::mkdtemp(pattern.data()) != nullptr;
    path_ = pattern;
    lock_ = made ? open_own(path_) : Descriptor();
    if (lock_.get() < 0 && !(made && errno == ENOENT)) {  // no longer there: removed as abandoned
      throw Error(ErrorCode::file_io, "cannot make a temporary folder " + pattern + ": " + std::strerror(errno) +
                                          "; TMPDIR says where to make it");
    }
    // Where the file system knows no locks, nobody can take this one either.
  } while (lock_.get() < 0 || (!try_lock(lock_) && errno == EWOULDBLOCK) || !is_still_there(path_, lock_));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ScratchFolder::remove_abandoned() noexcept try {
  std::error_code failed;
  for (fs::directory_iterator it(temporary_root(), failed), end; !failed && it != end; it.increment(failed)) {
    if (!it->path().filename().string().starts_with(kPrefix)) continue;
    const Descriptor folder = open_own(it->path());
    std::error_code ignored;
    if (folder.get() >= 0 && try_lock(folder)) fs::remove_all(it->path(), ignored);
  }
} catch (const std::exception&) {
  // Out of memory: they stay until the next time.
}

}  // namespace stencil_tune
