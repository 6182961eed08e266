#include "runtime/files/output_file.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <unistd.h>

namespace stencil_tune {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  throw Error(ErrorCode::file_io, fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)));
}

void write_to(const fs::path& file, std::string_view text, const fs::path& named) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) cannot_write(named, errno);
}

/// Removes the file unless it was given its name.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
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
    if (failed) cannot_write(target, failed.value());
    path_.clear();
  }

 private:
  fs::path path_;
};

}  // namespace

void write_output_file(const fs::path& path, std::string_view text) {
  std::error_code ignored;
  // A link stays one: what it points to is replaced.
  const fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored)) return write_to(target, text, path);
  Temporary temporary(fs::path(fmt::format("{}.{}.tmp", target.string(), getpid())));
  write_to(temporary.path(), text, path);
  temporary.rename_to(target);
}

}  // namespace stencil_tune
