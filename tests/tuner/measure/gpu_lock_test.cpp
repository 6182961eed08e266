#include "tuner/measure/gpu_lock.hpp"

#include "stencil_tune/error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

bool is_free(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  const bool free = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0;
  ::close(file);
  return free;
}

TEST(GpuLock, IsHeldUntilItGoes) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "gpu.lock";
  {
    const auto lock = GpuLock::acquire(path);
    EXPECT_FALSE(is_free(path));
  }
  EXPECT_TRUE(is_free(path));
}

TEST(GpuLock, WaitsForTheHolder) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "gpu.lock";
  auto first = GpuLock::acquire(path);
  bool released = false;
  std::thread second([&] {
    const auto lock = GpuLock::acquire(path);
    EXPECT_TRUE(released);
  });
  released = true;
  first.reset();
  second.join();
}

TEST(GpuLock, OpensAFileItMayOnlyRead) {
  const TemporaryFolder folder;
  const auto path = folder.touch("gpu.lock");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  EXPECT_TRUE(GpuLock::acquire(path));
}

TEST(GpuLock, SaysWhereItCannotBeMade) { EXPECT_THROW(GpuLock::acquire("/no/such/folder/gpu.lock"), Error); }

TEST(GpuLock, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "gpu.lock";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(GpuLock::acquire(pipe), Error);  // and does not wait for a writer
}

TEST(GpuLock, SaysWhoHoldsItAndGivesUpAtAStop) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "gpu.lock";
  const auto held = GpuLock::acquire(path);
  std::atomic<bool> stop{false};
  std::string said;
  const auto tell = [&](const std::string& what) {
    said += what;
    stop = true;
  };
  EXPECT_FALSE(GpuLock::acquire(path, {Patience::Clock::time_point::max(), &stop}, tell));
  EXPECT_NE(said.find("process"), std::string::npos) << said;
  EXPECT_NE(said.find(path.string()), std::string::npos) << said;
}

TEST(GpuLock, LiesWhereOnlyTheUserWrites) {
  const TemporaryFolder folder;
  ::unsetenv("STENCIL_TUNE_LOCK_DIR");
  ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  EXPECT_EQ(gpu_lock_path("GPU-1").parent_path(), folder.path());
  std::filesystem::permissions(folder.path(), std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_THROW(gpu_lock_path("GPU-1"), Error);
  ::unsetenv("XDG_RUNTIME_DIR");
  const auto own = gpu_lock_path("GPU-1").parent_path();
  EXPECT_EQ(own, "/tmp/stencil-tune-" + std::to_string(::geteuid()));
  EXPECT_EQ(std::filesystem::status(own).permissions(), std::filesystem::perms::owner_all);
}

TEST(GpuLock, AUuidCannotLeaveTheFolder) {
  ::setenv("STENCIL_TUNE_LOCK_DIR", "/somewhere", 1);
  EXPECT_EQ(gpu_lock_path("../GPU-1"), "/somewhere/stencil-tune-___GPU-1.lock");
  ::unsetenv("STENCIL_TUNE_LOCK_DIR");
}

}  // namespace
}  // namespace stencil_tune
