// Whose file is this? Answered from its first bytes, before SQLite is let near it.
#pragma once

#include <filesystem>
#include <string>

namespace stencil_tune {

enum class FileKind {
  missing,
  empty,    ///< no bytes: a database about to be made
  ours,     ///< header as this program, or an older one, writes it
  newer,    ///< ours, from a newer program
  damaged,  ///< carries our application id under a broken header
  foreign,  ///< anything else
};

struct FileHeader {
  FileKind kind = FileKind::missing;
  int version = 0;     ///< schema version of ours, newer
  std::string detail;  ///< what was found, for messages
};

/// Reads at most the first 100 bytes and changes nothing.
/// Throws Error(database_io) when the path is no regular file or cannot be read.
FileHeader inspect_file(const std::filesystem::path& path);

}  // namespace stencil_tune
