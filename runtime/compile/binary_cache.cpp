#include "runtime/compile/binary_cache.hpp"

#include "runtime/files/trust.hpp"
#include "stencil_tune/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace stencil_tune {

namespace fs = std::filesystem;

namespace {

// An entry: Header, entry name, cubin. The checksum covers all that follows it.
constexpr std::uint64_t kMagic = 0x314c4e5258545354;  // "TSTXRNL1" in memory
constexpr std::uint32_t kFormat = 1;
constexpr const char* kSuffix = ".kernel";
constexpr const char* kTemporary = ".tmp";
constexpr std::uintmax_t kLargestEntry = std::uintmax_t{256} << 20;
constexpr unsigned kStoresBetweenTrims = 64;

struct Header {
  std::uint64_t magic = kMagic;
  XXH128_hash_t checksum{};
  std::array<char, 32> digest{};
  std::uint32_t format = kFormat;
  std::uint32_t entry_bytes = 0;
  std::uint64_t cubin_bytes = 0;
  std::int32_t registers = 0;
  std::int32_t spill_bytes = 0;
  std::int32_t stack_bytes = 0;
  std::int32_t static_shared = 0;
};
constexpr std::size_t kUnchecked = offsetof(Header, digest);

class File {
 public:
  File(const fs::path& path, int flags, mode_t mode = 0) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  bool close() {
    if (descriptor_ < 0) return true;
    return ::close(std::exchange(descriptor_, -1)) == 0;
  }

 private:
  int descriptor_;
};

std::string hex(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

std::vector<std::byte> encode(const std::string& digest, const CompiledKernel& kernel) {
  Header header;
  std::copy_n(digest.begin(), header.digest.size(), header.digest.begin());
  header.entry_bytes = static_cast<std::uint32_t>(kernel.entry.size());
  header.cubin_bytes = kernel.cubin.size();
  header.registers = kernel.resources.registers;
  header.spill_bytes = kernel.resources.spill_bytes;
  header.stack_bytes = kernel.resources.stack_bytes;
  header.static_shared = kernel.resources.static_shared;

  std::vector<std::byte> bytes(sizeof(Header) + kernel.entry.size() + kernel.cubin.size());
  std::memcpy(bytes.data(), &header, sizeof(Header));
  std::memcpy(bytes.data() + sizeof(Header), kernel.entry.data(), kernel.entry.size());
  std::copy(kernel.cubin.begin(), kernel.cubin.end(), bytes.data() + sizeof(Header) + kernel.entry.size());
  header.checksum = XXH3_128bits(bytes.data() + kUnchecked, bytes.size() - kUnchecked);
  std::memcpy(bytes.data(), &header, sizeof(Header));
  return bytes;
}

std::optional<CompiledKernel> decode(const std::string& digest, const std::vector<std::byte>& bytes) {
  Header header;
  if (bytes.size() < sizeof(Header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(Header));
  const XXH128_hash_t checksum = XXH3_128bits(bytes.data() + kUnchecked, bytes.size() - kUnchecked);
  const bool sound = header.magic == kMagic && header.format == kFormat &&
                     XXH128_isEqual(header.checksum, checksum) != 0 &&
                     std::equal(header.digest.begin(), header.digest.end(), digest.begin(), digest.end()) &&
                     bytes.size() == sizeof(Header) + header.entry_bytes + header.cubin_bytes;
  if (!sound) return std::nullopt;

  CompiledKernel kernel;
  const std::byte* entry = bytes.data() + sizeof(Header);
  kernel.entry.assign(reinterpret_cast<const char*>(entry), header.entry_bytes);
  kernel.cubin.assign(entry + header.entry_bytes, bytes.data() + bytes.size());
  kernel.resources = {.registers = header.registers,
                      .spill_bytes = header.spill_bytes,
                      .stack_bytes = header.stack_bytes,
                      .static_shared = header.static_shared};
  return kernel;
}

/// What was found under an entry's name.
struct Found {
  enum class State { absent, unreadable, foreign, read } state = State::absent;
  std::vector<std::byte> bytes{};  ///< the whole file, when it was read
};

/// Reads a plain file of this user's and of a sane size. Others are foreign. What cannot be opened or read just now (no
/// descriptor is left, a disk fails) may be sound.
Found read_own_file(const fs::path& path) {
  const File file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.is_open()) {
    const bool is_link = errno == ELOOP;
    return {is_link ? Found::State::foreign : errno == ENOENT ? Found::State::absent : Found::State::unreadable};
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return {Found::State::unreadable};
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) return {Found::State::foreign};
  if (static_cast<std::uintmax_t>(status.st_size) > kLargestEntry) return {Found::State::foreign};

  Found found{Found::State::read, std::vector<std::byte>(static_cast<std::size_t>(status.st_size))};
  std::size_t done = 0;
  while (done < found.bytes.size()) {
    const ssize_t got = ::read(file.get(), found.bytes.data() + done, found.bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {Found::State::unreadable};
    done += static_cast<std::size_t>(got);
  }
  futimens(file.get(), nullptr);  // used now: trim() removes by age
  return found;
}

/// Whether whoever writes this temporary file is gone.
bool is_abandoned(const fs::path& temporary) {
  const File file(temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return file.is_open() && flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

bool write_new_file(const fs::path& path, const std::vector<std::byte>& bytes) {
  File file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file.is_open()) return false;
  flock(file.get(), LOCK_EX | LOCK_NB);  // held while it is written: see is_abandoned()
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return file.close();
}

void require_own_folder(const fs::path& folder) {
  struct stat status {};
  constexpr const char* kAdvice = "set STENCIL_TUNE_CACHE to a folder of your own, or to 'off'";
  if (lstat(folder.c_str(), &status) != 0 || (S_ISLNK(status.st_mode) && stat(folder.c_str(), &status) != 0)) {
    throw Error(ErrorCode::file_io, fmt::format("cannot use {} as cache for compiled kernels: {}; {}", folder.string(),
                                                std::strerror(errno), kAdvice));
  }
  const std::string fault =
      S_ISDIR(status.st_mode) ? why_unsafe(folder, Owner::user) : std::string("it is not a folder");
  if (!fault.empty()) {
    throw Error(ErrorCode::file_io,
                fmt::format("{} is refused as cache for compiled kernels: {}; {}", folder.string(), fault, kAdvice));
  }
}

}  // namespace

std::string BinaryKey::digest() const {
  XXH3_state_t* state = XXH3_createState();
  XXH3_128bits_reset(state);
  for (const std::string_view part : {source, entry, template_signature, options, arch, compiler}) {
    const std::uint64_t length = part.size();  // so that no two keys run together to the same bytes
    XXH3_128bits_update(state, &length, sizeof(length));
    XXH3_128bits_update(state, part.data(), part.size());
  }
  if (is_own) XXH3_128bits_update(state, &is_own, sizeof is_own);
  const XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return hex(hash);
}

BinaryCache::BinaryCache(fs::path folder, std::uintmax_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {
  std::error_code failed;
  if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), failed);
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw Error(
        ErrorCode::file_io,
        fmt::format("cannot create {} for compiled kernels: {}; set STENCIL_TUNE_CACHE to a folder of your own, or "
                    "to 'off'",
                    folder_.string(), std::strerror(errno)));
  }
  require_own_folder(folder_);
}

fs::path BinaryCache::path_of(const BinaryKey& key) const { return folder_ / (key.digest() + kSuffix); }

std::optional<CompiledKernel> BinaryCache::load(const BinaryKey& key) const {
  const fs::path path = path_of(key);
  const Found found = read_own_file(path);
  if (found.state == Found::State::absent || found.state == Found::State::unreadable) return std::nullopt;
  auto kernel = found.state == Found::State::read ? decode(key.digest(), found.bytes) : std::nullopt;
  if (kernel && (key.is_own || kernel->entry == key.entry)) return kernel;
  std::error_code ignored;
  fs::remove(path, ignored);
  return std::nullopt;
}

void BinaryCache::store(const BinaryKey& key, const CompiledKernel& kernel) const noexcept try {
  static std::atomic<unsigned> stores{0};
  const unsigned number = stores.fetch_add(1);
  const fs::path temporary = folder_ / fmt::format("{}.{}.{}{}", key.digest(), getpid(), number, kTemporary);
  std::error_code failed;
  if (write_new_file(temporary, encode(key.digest(), kernel))) fs::rename(temporary, path_of(key), failed);
  fs::remove(temporary, failed);
  if (number % kStoresBetweenTrims == kStoresBetweenTrims - 1) trim();
} catch (const std::exception&) {
  // Out of memory, or a path that cannot be formed: the kernel is compiled again next time.
}

void BinaryCache::trim() const noexcept try {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::uintmax_t bytes;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  std::error_code failed;
  for (const fs::directory_entry& file : fs::directory_iterator(folder_)) {
    if (file.path().extension() == kTemporary && is_abandoned(file.path())) fs::remove(file.path(), failed);
    if (file.path().extension() != kSuffix) continue;
    Entry entry{file.path(), file.last_write_time(failed), file.file_size(failed)};
    if (failed) continue;  // another process removed it
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_) break;
    fs::remove(entry.path, failed);
    total -= entry.bytes;
  }
} catch (const std::exception&) {
  // The folder went away or cannot be listed; there is nothing to trim then.
}

fs::path default_cache_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (const std::string own = variable("STENCIL_TUNE_CACHE"); !own.empty())
    return own == "off" ? fs::path() : fs::path(own);
  // The XDG base directory specification: relative paths are to be ignored.
  if (const fs::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "stencil-tune";
  if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "stencil-tune";
  return {};
}

}  // namespace stencil_tune
