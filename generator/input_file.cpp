#include "generator/input_file.hpp"

#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_read(const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::file_io, fmt::format("cannot read '{}': {}", printable(path.string()), why));
}

}  // namespace

void require_regular_file(const fs::path& path) {
  if (path.native().find('\0') != std::string::npos) cannot_read(path, "its name has a null character");
  std::error_code ignored;
  switch (fs::status(path, ignored).type()) {
    case fs::file_type::regular:
    case fs::file_type::not_found:
    case fs::file_type::none:
      return;  // or whoever opens it is told why not
    case fs::file_type::directory:
      cannot_read(path, "it is a folder; name a file");
    default:
      cannot_read(path, "it is a pipe, a device or a socket; name a regular file");
  }
}

std::string read_input_file(const fs::path& path, std::size_t most) {
  require_regular_file(path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (file && text.size() <= most) {
    file.read(piece.data(), static_cast<std::streamsize>(std::min(piece.size(), most + 1 - text.size())));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file && !file.eof()) cannot_read(path, std::generic_category().message(errno));
  return text;
}

}  // namespace stencil_tune
