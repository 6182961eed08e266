#include "db/file/file_header.hpp"

#include "db/file/schema.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stencil_tune {
namespace {

// The layout of the header: https://www.sqlite.org/fileformat2.html#the_database_header
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kSmallestPage = 512;
constexpr std::size_t kWriteFormat = 18;  // 1 rollback journal, 2 WAL
constexpr std::size_t kReadFormat = 19;
constexpr std::size_t kSchemaFormat = 44;  // SQLite's own, up to 4
constexpr std::size_t kUserVersion = 60;
constexpr std::size_t kApplicationIdAt = 68;

/// A file opened through SQLite's own file layer. A plain open() and close() would drop, by the rules of POSIX, the
/// locks that another connection of this process holds on the same file.
class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const std::filesystem::path& path)
      : vfs_(sqlite3_vfs_find(nullptr)),
        name_(sqlite3_create_filename(path.c_str(), "", "", 0, nullptr), sqlite3_free_filename),
        storage_(static_cast<std::size_t>(vfs_->szOsFile)) {
    const int code = vfs_->xOpen(vfs_, name_.get(), file(), SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nullptr);
    if (code != SQLITE_OK) {
      close();
      throw Error(
          ErrorCode::database_io,
          fmt::format("database {}: cannot be read; check the permissions of the file and its folders", path.string()));
    }
  }
  ~ReadOnlyFile() { close(); }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  /// The first bytes, zeros where the file is shorter.
  std::vector<unsigned char> head(std::size_t bytes) {
    std::vector<unsigned char> data(bytes);
    const int code = file()->pMethods->xRead(file(), data.data(), static_cast<int>(bytes), 0);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) {
      throw Error(ErrorCode::database_io, fmt::format("database {}: reading it fails", name_.get()));
    }
    return data;
  }

 private:
  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(storage_.data()); }
  void close() {
    if (file()->pMethods) file()->pMethods->xClose(file());
  }

  sqlite3_vfs* vfs_;
  std::unique_ptr<const char, void (*)(const char*)> name_;
  std::vector<std::max_align_t> storage_;  // more than szOsFile bytes, aligned for it
};

std::uint32_t big_endian(const std::vector<unsigned char>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 |
         std::uint32_t{bytes[at + 3]};
}

FileHeader judge(const std::vector<unsigned char>& bytes, std::uintmax_t size) {
  const bool sqlite = std::string_view(reinterpret_cast<const char*>(bytes.data()), kMagic.size()) == kMagic;
  if (big_endian(bytes, kApplicationIdAt) != kApplicationId) {
    return {FileKind::foreign, 0, sqlite ? "an SQLite database of another program" : "not an SQLite database"};
  }
  if (!sqlite) return {FileKind::damaged, 0, "the first bytes of its header are overwritten"};
  const std::uint32_t version = big_endian(bytes, kUserVersion);
  if (version > static_cast<std::uint32_t>(kSchemaVersion)) {
    return {FileKind::newer, static_cast<int>(version), fmt::format("schema version {}", version)};
  }
  // SQLite takes formats it does not know for a newer SQLite's, and would open the file read-only or not at all.
  const bool known_format = (bytes[kWriteFormat] == 1 || bytes[kWriteFormat] == 2) &&
                            (bytes[kReadFormat] == 1 || bytes[kReadFormat] == 2) &&
                            big_endian(bytes, kSchemaFormat) <= 4;
  if (size < kSmallestPage || !known_format) return {FileKind::damaged, 0, "its header is broken"};
  return {FileKind::ours, static_cast<int>(version), fmt::format("schema version {}", version)};
}

/// SQLite opens what stands beside a database by these names, and would wait for ever for a pipe's writer.
void require_regular_journals(const std::filesystem::path& path) {
  for (const char* ending : {"-journal", "-wal"}) {
    const std::filesystem::path journal = path.string() + ending;
    std::error_code ignored;
    if (!std::filesystem::exists(journal, ignored) || std::filesystem::is_regular_file(journal, ignored)) continue;
    throw Error(ErrorCode::database_io, fmt::format("database {}: its journal {} is not a regular file; take it away",
                                                    path.string(), journal.string()));
  }
}

}  // namespace

FileHeader inspect_file(const std::filesystem::path& path) {
  require_regular_journals(path);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return {FileKind::missing, 0, "no such file"};
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::database_io, fmt::format("database {}: {}; name a file with --db", path.string(),
                                                    error                                   ? error.message()
                                                    : std::filesystem::is_directory(status) ? "is a folder"
                                                                                            : "is not a regular file"));
  }
  // Not asked through SQLite, which takes a file of one byte for an empty one.
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size == 0) return {FileKind::empty, 0, "an empty file"};
  return judge(ReadOnlyFile(path).head(kHeaderBytes), size);
}

}  // namespace stencil_tune
