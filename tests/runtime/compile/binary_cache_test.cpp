#include "runtime/compile/binary_cache.hpp"

#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <vector>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

const BinaryKey kKey{.source = "source",
                     .entry = "kernel",
                     .template_signature = "t",
                     .options = "-O",
                     .arch = "sm_90",
                     .compiler = "13.0"};

CompiledKernel some_kernel(std::size_t bytes = 100) {
  return {.cubin = std::vector<std::byte>(bytes, std::byte{42}),
          .entry = "kernel",
          .resources = {.registers = 40, .spill_bytes = 8, .stack_bytes = 16, .static_shared = 256},
          .seconds = 0.5};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

TEST(BinaryCache, GivesBackWhatWasStored) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "deep" / "cache");
  EXPECT_FALSE(cache.load(kKey));
  cache.store(kKey, some_kernel());
  const auto kernel = cache.load(kKey);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->cubin, some_kernel().cubin);
  EXPECT_EQ(kernel->entry, "kernel");
  EXPECT_EQ(kernel->resources, some_kernel().resources);
  EXPECT_EQ(kernel->seconds, 0) << "nothing was compiled";
  EXPECT_EQ(files_in(cache.folder()).size(), 1U) << "no temporary file stays behind";
}

TEST(BinaryCache, EveryPartOfTheKeyCounts) {
  std::vector<BinaryKey> keys(7, kKey);
  keys[1].source = "source2";
  keys[2].entry = "other";
  keys[3].template_signature = "u";
  keys[4].options = "-G";
  keys[5].arch = "sm_80";
  keys[6].compiler = "12.6";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i].digest(), keys[j].digest()) << i << " " << j;
  }
  BinaryKey shifted = kKey;
  shifted.source = "sourcek";
  shifted.entry = "ernel";
  EXPECT_NE(shifted.digest(), kKey.digest());
}

TEST(BinaryCache, ADamagedEntryIsNotServedAndGoesAway) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "cache");
  for (const std::streamoff position : {0, 20, 60, 90, 130}) {
    cache.store(kKey, some_kernel());
    const fs::path file = files_in(cache.folder()).at(0);
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(position).put('\xff');
    stream.close();
    EXPECT_FALSE(cache.load(kKey)) << "byte " << position;
    EXPECT_TRUE(files_in(cache.folder()).empty());
  }
  cache.store(kKey, some_kernel());
  fs::resize_file(files_in(cache.folder()).at(0), 110);
  EXPECT_FALSE(cache.load(kKey)) << "cut short";
}

TEST(BinaryCache, AnEntryUnderAnotherKeysNameIsNotServed) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "cache");
  cache.store(kKey, some_kernel());
  BinaryKey other = kKey;
  other.arch = "sm_80";
  fs::rename(files_in(cache.folder()).at(0), cache.folder() / (other.digest() + ".kernel"));
  EXPECT_FALSE(cache.load(other));
}

TEST(BinaryCache, FolderIsTheUsersOwn) {
  const TemporaryFolder folder;
  const fs::path own = folder.path() / "cache";
  const BinaryCache cache(own);
  EXPECT_EQ(fs::status(own).permissions(), fs::perms::owner_all);

  fs::permissions(own, fs::perms::others_write, fs::perm_options::add);
  EXPECT_ERROR(BinaryCache{own}, ErrorCode::file_io, "others may write");
  const fs::path file = folder.touch("file");
  EXPECT_ERROR(BinaryCache{file}, ErrorCode::file_io, "not a folder");
  EXPECT_ERROR(BinaryCache{"/proc/no/such/folder"}, ErrorCode::file_io, "STENCIL_TUNE_CACHE");
}

TEST(BinaryCache, DoesNotFollowASymbolicLinkInThePlaceOfAnEntry) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "cache");
  cache.store(kKey, some_kernel());
  const fs::path entry = files_in(cache.folder()).at(0);
  fs::rename(entry, folder.path() / "elsewhere");
  fs::create_symlink(folder.path() / "elsewhere", entry);
  EXPECT_FALSE(cache.load(kKey));
}

TEST(BinaryCache, AnEntryThatCannotBeOpenedNowStays) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "cache");
  cache.store(kKey, some_kernel());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const bool found = cache.load(kKey).has_value();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(found);
  EXPECT_TRUE(cache.load(kKey));
}

TEST(BinaryCache, APipeInThePlaceOfAnEntryIsRemoved) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "cache");
  ASSERT_EQ(mkfifo((cache.folder() / (kKey.digest() + ".kernel")).c_str(), 0600), 0);
  EXPECT_FALSE(cache.load(kKey));  // and does not wait for a writer
  EXPECT_TRUE(fs::is_empty(cache.folder()));
}

TEST(BinaryCache, TrimRemovesWhatDeadWritersLeft) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "cache");
  const fs::path dead = cache.folder() / "0.1.0.tmp", alive = cache.folder() / "1.1.0.tmp";
  for (const fs::path& file : {dead, alive}) std::ofstream(file) << "half";
  const int writer = open(alive.c_str(), O_WRONLY);
  ASSERT_EQ(flock(writer, LOCK_EX), 0);
  cache.trim();
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive));
  close(writer);
}

TEST(BinaryCache, TrimsWhatWasNotUsedForLongest) {
  const TemporaryFolder folder;
  const BinaryCache cache(folder.path() / "cache", 2500);
  std::vector<std::string> sources{"a", "b", "c"};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    BinaryKey key = kKey;
    key.source = sources[i];
    cache.store(key, some_kernel(1000));
    fs::last_write_time(cache.folder() / (key.digest() + ".kernel"),
                        fs::file_time_type::clock::now() - std::chrono::hours(i == 1 ? 3 : 1));
  }
  cache.trim();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    BinaryKey key = kKey;
    key.source = sources[i];
    EXPECT_EQ(cache.load(key).has_value(), i != 1) << sources[i];
  }
}

}  // namespace
}  // namespace stencil_tune
