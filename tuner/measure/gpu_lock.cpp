#include "tuner/measure/gpu_lock.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

/// Another user's file in a sticky folder may only be opened without O_CREAT (fs.protected_regular), and a lock needs
/// no more than reading.
int open_file(const std::filesystem::path& path) {
  const int existing = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (existing >= 0 || errno != ENOENT) return existing;
  return ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
}

}  // namespace

std::filesystem::path gpu_lock_path(const std::string& uuid) {
  std::string name = uuid;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-'; }, '_');
  const char* folder = std::getenv("STENCIL_TUNE_LOCK_DIR");
  return std::filesystem::path(folder != nullptr && *folder != '\0' ? folder : "/tmp") /
         fmt::format("stencil-tune-{}.lock", name);
}

GpuLock::GpuLock(const std::filesystem::path& path) : file_(open_file(path)) {
  if (file_ < 0) {
    throw Error(ErrorCode::file_io,
                fmt::format("cannot open the GPU's lock file {}: {}; set STENCIL_TUNE_LOCK_DIR to a folder that all "
                            "users of this GPU can write",
                            path.string(), std::strerror(errno)));
  }
  while (::flock(file_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    ::close(std::exchange(file_, -1));
    throw Error(ErrorCode::file_io, fmt::format("cannot lock {}: {}", path.string(), std::strerror(error)));
  }
}

GpuLock::~GpuLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace stencil_tune
