#include "db/file/move_aside.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

namespace stencil_tune {
namespace {

constexpr int kMaxNames = 10000;

/// 0, or the errno of the failure; EEXIST when `to` exists.
int rename_without_replacing(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // The file system does not know the flag.
  if (std::filesystem::exists(to)) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

std::filesystem::path with_suffix(const std::filesystem::path& path, std::string_view suffix) {
  return {path.string() + std::string(suffix)};
}

/// A journal left beside a new database would be rolled back into it. An empty one is harmless.
void move_journal(const std::filesystem::path& path, const std::filesystem::path& aside, std::string_view suffix) {
  std::error_code error;
  const auto journal = with_suffix(path, suffix);
  const auto bytes = std::filesystem::file_size(journal, error);
  if (error || bytes == 0) return;
  if (const int failure = rename_without_replacing(journal, with_suffix(aside, suffix))) {
    throw Error(ErrorCode::database_io, fmt::format("{}: cannot be moved aside: {}", journal.string(),
                                                    std::generic_category().message(failure)));
  }
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::filesystem::path unused_name_beside(const std::filesystem::path& path, std::string_view what) {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string base = fmt::format("{}.{}-{:%Y%m%dT%H%M%SZ}", path.string(), what, fmt::gmtime(now));
  std::filesystem::path name = base;
  for (int n = 2; std::filesystem::exists(name) && n < kMaxNames; ++n) name = fmt::format("{}-{}", base, n);
  return name;
}

std::filesystem::path move_aside(const std::filesystem::path& path) {
  int failure = EEXIST;
  for (int n = 0; n < kMaxNames && failure == EEXIST; ++n) {
    const std::filesystem::path aside = unused_name_beside(path, "corrupt");
    for (const std::string_view suffix : {"-journal", "-wal", "-shm"}) move_journal(path, aside, suffix);
    failure = rename_without_replacing(path, aside);
    if (failure == 0) return aside;
  }
  throw Error(ErrorCode::database_io,
              fmt::format("database {}: is damaged and cannot be moved aside: {}; move it away by hand or name another "
                          "with --db",
                          path.string(), std::generic_category().message(failure)));
}

}  // namespace stencil_tune
