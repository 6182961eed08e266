#include "runtime/files/output_file.hpp"

#include "runtime/files/trust.hpp"
#include "runtime/process/descriptor.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace stencil_tune {
namespace fs = std::filesystem;
namespace {

constexpr int kMostLinks = 40;  // as Linux follows

[[noreturn]] void cannot_write(const fs::path& path, std::string_view why) {
  throw Error(ErrorCode::file_io, fmt::format("cannot write '{}': {}", path.string(), why));
}

void write_to(const fs::path& file, std::string_view text, const fs::path& named) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) cannot_write(named, std::strerror(errno));
}

/// A new file, and none that a link leads to. Removed unless it was given its name.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) {
    Descriptor made;
    do {
      path_ = fmt::format("{}.{}.{}.tmp", target.string(), getpid(), number_of_this());
      made = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (made.get() < 0 && errno == EEXIST);
    if (made.get() < 0) cannot_write(target, std::strerror(errno));
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }

  const fs::path& path() const noexcept { return path_; }

  void rename_to(const fs::path& target) {
    std::error_code failed;
    fs::rename(path_, target, failed);
    if (failed) cannot_write(target, failed.message());
    path_.clear();
  }

 private:
  static unsigned number_of_this() {
    static std::atomic<unsigned> made{0};
    return made.fetch_add(1);
  }

  fs::path path_;
};

}  // namespace

fs::path output_target(const fs::path& path) {
  fs::path target = path;
  std::error_code failed;
  for (int links = 0; fs::is_symlink(target, failed); ++links) {
    if (links == kMostLinks) cannot_write(path, "its links lead to no end");
    if (const std::string why = why_unsafe_link(target); !why.empty()) {
      cannot_write(path, fmt::format("'{}' is a link, and {}; name the file itself", target.string(), why));
    }
    const fs::path next = fs::read_symlink(target, failed);
    if (failed) cannot_write(path, failed.message());
    target = target.parent_path() / next;
  }
  return target;
}

void write_output_file(const fs::path& path, std::string_view text) {
  std::error_code ignored;
  // Asked of the name: links of /proc lead to pipes that have no path.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return write_to(path, text, path);
  const fs::path target = output_target(path);
  Temporary temporary(target);
  write_to(temporary.path(), text, path);
  temporary.rename_to(target);
}

}  // namespace stencil_tune
