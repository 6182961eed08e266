// One rank's file of a checkpoint.
//
//     stencil-tune checkpoint 1            what it is, and the version of this layout
//     stencil 1f0c...                      a line for each fact that must be the same to go on
//     ...
//     steps 1200
//     (an empty line)
//     cells of each field, in order, as raw bytes
//     8 bytes                              XXH3 of all before
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {

/// What a checkpoint is of, as names and values; all but the steps must be equal to go on from it.
struct CheckpointFacts {
  std::vector<std::pair<std::string, std::string>> facts;
  std::int64_t steps = 0;  ///< made so far
};

/// An open file and the hash of what passed through it.
class HashedFile {
 public:
  HashedFile(const std::filesystem::path& path, const char* mode);
  ~HashedFile();
  HashedFile(const HashedFile&) = delete;
  HashedFile& operator=(const HashedFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void read(std::span<std::byte> bytes);  ///< throws Error(file_io) where the file ends before
  std::uint64_t hash() const;             ///< hash of all bytes so far
  void sync();                            ///< what was written is on the disk when it returns

 private:
  [[noreturn]] void fail(const char* verb) const;
  struct State;

  std::filesystem::path path_;
  std::FILE* file_;
  std::unique_ptr<State> hash_;
};

/// Written under another name until commit().
class CheckpointWriter {
 public:
  /// Throws Error(file_io), as all functions do.
  CheckpointWriter(const std::filesystem::path& path, const CheckpointFacts& facts);
  ~CheckpointWriter();  ///< removes what was not committed

  void add(std::span<const std::byte> cells) { file_->write(cells); }
  void finish();  ///< the file is whole, and on the disk
  void commit();  ///< it takes its name

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::unique_ptr<HashedFile> file_;
};

/// Reads cells in the order that they were written in.
class CheckpointReader {
 public:
  /// Reads the whole file once. Throws Error(file_io) where it is missing or damaged, Error(invalid_argument) that
  /// names the first fact that differs from `expected`.
  CheckpointReader(const std::filesystem::path& path, const CheckpointFacts& expected);

  std::int64_t steps() const { return steps_; }
  void read(std::span<std::byte> cells) { file_->read(cells); }

 private:
  std::int64_t steps_ = 0;
  std::unique_ptr<HashedFile> file_;
};

}  // namespace stencil_tune
