#include "tuner/measure/gpu_lock.hpp"

#include "runtime/files/trust.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stencil_tune {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kPause{5};  // trials take longer, and the next holder must get its turn
constexpr std::chrono::seconds kSilence{1};

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::file_io,
              fmt::format("cannot use {} to lock the GPU: {}; set STENCIL_TUNE_LOCK_DIR to a folder "
                          "that all users of this GPU can write",
                          path.string(), why));
}

/// Another user's file in a sticky folder may only be opened without O_CREAT (fs.protected_regular), and a lock needs
/// no more than reading. A pipe would wait for whoever writes to it.
Descriptor open_file(const fs::path& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor file(::open(path.c_str(), kFlags));
  if (file.get() < 0 && errno == ENOENT) file = Descriptor(::open(path.c_str(), kFlags | O_CREAT, 0644));
  if (file.get() < 0) refuse(path, std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) refuse(path, "it is no regular file");
  return file;
}

/// "process 1234", as the kernel's list of locks has it.
std::string holder_of(const Descriptor& file) {
  struct stat status {};
  ::fstat(file.get(), &status);
  const std::string inode = ":" + std::to_string(status.st_ino) + " ";
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
    const std::size_t kind = line.find("FLOCK"), mode = line.find("WRITE ");
    if (kind == std::string::npos || mode == std::string::npos || line.find(inode) == std::string::npos) continue;
    return "process " + line.substr(mode + 6, line.find(' ', mode + 6) - mode - 6);
  }
  return "another process";
}

fs::path own_lock_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return runtime;
  const std::string folder = fmt::format("/tmp/stencil-tune-{}", ::geteuid());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) refuse(folder, std::strerror(errno));
  if (fs::is_symlink(folder)) refuse(folder, "it is a link");
  return folder;
}

fs::path lock_folder() {
  const char* shared = std::getenv("STENCIL_TUNE_LOCK_DIR");
  if (shared != nullptr && *shared != '\0') return shared;
  fs::path folder = own_lock_folder();
  if (const std::string why = why_unsafe(folder, Owner::user); !why.empty()) refuse(folder, why);
  return folder;
}

}  // namespace

fs::path gpu_lock_path(const std::string& uuid) {
  std::string name = uuid;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-'; }, '_');
  return lock_folder() / fmt::format("stencil-tune-{}.lock", name);
}

std::optional<GpuLock> GpuLock::acquire(const fs::path& path, const Patience& patience,
                                        const std::function<void(const std::string&)>& tell) {
  GpuLock lock(open_file(path));
  const auto tell_at = Patience::Clock::now() + kSilence;
  bool told = !tell;
  while (::flock(lock.file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) refuse(path, std::strerror(errno));
    if (patience.is_over()) return std::nullopt;
    if (!told && Patience::Clock::now() >= tell_at) {
      tell(fmt::format("waiting for the GPU, which {} holds ({})", holder_of(lock.file_), path.string()));
      told = true;
    }
    std::this_thread::sleep_for(kPause);
  }
  return lock;
}

}  // namespace stencil_tune
