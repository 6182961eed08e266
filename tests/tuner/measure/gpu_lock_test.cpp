#include "tuner/measure/gpu_lock.hpp"

#include "stencil_tune/error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
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
    const GpuLock lock(path);
    EXPECT_FALSE(is_free(path));
  }
  EXPECT_TRUE(is_free(path));
}

TEST(GpuLock, WaitsForTheHolder) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "gpu.lock";
  std::optional<GpuLock> first(std::in_place, path);
  bool released = false;
  std::thread second([&] {
    const GpuLock lock(path);
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
  EXPECT_NO_THROW(GpuLock lock(path));
}

TEST(GpuLock, SaysWhereItCannotBeMade) { EXPECT_THROW(GpuLock("/no/such/folder/gpu.lock"), Error); }

TEST(GpuLock, AUuidCannotLeaveTheFolder) {
  ::setenv("STENCIL_TUNE_LOCK_DIR", "/somewhere", 1);
  EXPECT_EQ(gpu_lock_path("../GPU-1"), "/somewhere/stencil-tune-___GPU-1.lock");
  ::unsetenv("STENCIL_TUNE_LOCK_DIR");
}

}  // namespace
}  // namespace stencil_tune
