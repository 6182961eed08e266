#include "distributed/checkpoint_file.hpp"

#include "generator/input_file.hpp"
#include "runtime/files/output_file.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace stencil_tune {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kFirstLine = "stencil-tune checkpoint 1\n";
constexpr std::size_t kMostHeader = std::size_t{1} << 20;

[[noreturn]] void damaged(const fs::path& path, std::string_view what) {
  throw Error(ErrorCode::file_io, fmt::format("checkpoint '{}' is damaged: {}", path.string(), what));
}

std::string header_of(const CheckpointFacts& facts) {
  std::string text(kFirstLine);
  for (const auto& [name, value] : facts.facts) text += fmt::format("{} {}\n", name, value);
  return text + fmt::format("steps {}\n\n", facts.steps);
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Up to and with the empty line.
std::string read_header(HashedFile& file, const fs::path& path) {
  std::string header;
  while (!header.ends_with("\n\n")) {
    std::byte next{};
    file.read(std::span(&next, 1));
    header.push_back(static_cast<char>(next));
    const bool ours = kFirstLine.starts_with(header) || header.starts_with(kFirstLine);
    if (!ours) throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is no checkpoint", path.string()));
    if (header.size() > kMostHeader) damaged(path, "its header does not end");
  }
  return header;
}

/// Takes the line's name off; empty where the line has another one.
std::string_view value_in(std::string_view line, std::string_view name) {
  if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') return {};
  return line.substr(name.size() + 1);
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::int64_t steps_in(std::string_view header, const CheckpointFacts& expected, const fs::path& path) {
  header.remove_prefix(kFirstLine.size());
  for (const auto& [name, value] : expected.facts) {
    const std::string_view found = value_in(next_line(header), name);
    if (found == value) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("checkpoint '{}' has {} '{}', this run has '{}'", path.string(), name, found, value));
  }
  const std::string_view steps = value_in(next_line(header), "steps");
  std::int64_t number = -1;
  std::from_chars(steps.data(), steps.data() + steps.size(), number);
  if (number < 0) damaged(path, "it does not say after how many steps it was written");
  return number;
}

void check_hash(const fs::path& path) {
  HashedFile file(path, "rb");
  const std::uintmax_t size = fs::file_size(path);
  std::uint64_t stored = 0;
  if (size < sizeof(stored)) damaged(path, "it is too short");
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uintmax_t left = size - sizeof(stored); left > 0;) {
    const auto now = static_cast<std::size_t>(std::min<std::uintmax_t>(left, piece.size()));
    file.read(std::span(piece).first(now));
    left -= now;
  }
  const std::uint64_t found = file.hash();
  file.read(std::as_writable_bytes(std::span(&stored, 1)));
  if (found != stored) damaged(path, "its checksum is another");
}

}  // namespace

struct HashedFile::State {
  XXH3_state_t* hash = XXH3_createState();
  State() { XXH3_64bits_reset(hash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(hash); }
};

HashedFile::HashedFile(const fs::path& path, const char* mode)
    : path_(path), file_(std::fopen(path.c_str(), mode)), hash_(std::make_unique<State>()) {
  if (file_ == nullptr) fail("open");
}

HashedFile::~HashedFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void HashedFile::write(std::span<const std::byte> bytes) {
  XXH3_64bits_update(hash_->hash, bytes.data(), bytes.size());
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write");
}

void HashedFile::read(std::span<std::byte> bytes) {
  if (std::fread(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    if (std::feof(file_) != 0) damaged(path_, "it ends too early");
    fail("read");
  }
  XXH3_64bits_update(hash_->hash, bytes.data(), bytes.size());
}

std::uint64_t HashedFile::hash() const { return XXH3_64bits_digest(hash_->hash); }

void HashedFile::sync() {
  if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) fail("write");
}

void HashedFile::fail(const char* verb) const {
  throw Error(ErrorCode::file_io, fmt::format("cannot {} '{}': {}", verb, path_.string(), std::strerror(errno)));
}

CheckpointWriter::CheckpointWriter(const fs::path& path, const CheckpointFacts& facts)
    : path_(output_target(path)),
      temporary_(fmt::format("{}.{}.tmp", path_.string(), getpid())),
      file_(std::make_unique<HashedFile>(temporary_, "wb")) {
  file_->write(bytes_of(header_of(facts)));
}

CheckpointWriter::~CheckpointWriter() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void CheckpointWriter::finish() {
  const std::uint64_t hash = file_->hash();
  file_->write(std::as_bytes(std::span(&hash, 1)));
  file_->sync();
  file_.reset();
}

void CheckpointWriter::commit() {
  std::error_code failed;
  fs::rename(temporary_, path_, failed);
  if (failed) {
    throw Error(ErrorCode::file_io, fmt::format("cannot write '{}': {}", path_.string(), failed.message()));
  }
  temporary_.clear();
}

CheckpointReader::CheckpointReader(const fs::path& path, const CheckpointFacts& expected) {
  require_regular_file(path);
  file_ = std::make_unique<HashedFile>(path, "rb");
  steps_ = steps_in(read_header(*file_, path), expected, path);
  check_hash(path);
}

}  // namespace stencil_tune
