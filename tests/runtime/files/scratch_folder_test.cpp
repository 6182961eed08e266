#include "runtime/files/scratch_folder.hpp"

#include "runtime/process/subprocess.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include <sys/wait.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

class ScratchFolderTest : public ::testing::Test {
 protected:
  ScratchFolderTest() {
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    ::setenv("TMPDIR", root_.path().c_str(), 1);
  }
  ~ScratchFolderTest() override { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }

  /// A folder of a process that was killed.
  static void abandon_one() {
    const pid_t child = ::fork();
    if (child == 0) {
      const ScratchFolder folder;
      std::ofstream(folder.path() / "left") << "behind";
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }

  auto entries() const { return std::distance(fs::directory_iterator(root_.path()), fs::directory_iterator()); }

  TemporaryFolder root_;
  std::optional<std::string> before_;
};

TEST_F(ScratchFolderTest, GoesWithAllItHolds) {
  {
    const ScratchFolder folder;
    std::ofstream(folder.path() / "file") << "text";
    EXPECT_EQ(folder.path().parent_path(), root_.path());
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(ScratchFolderTest, ThoseOfDeadProcessesAreRemovedAndNoOthers) {
  const ScratchFolder alive;
  const fs::path unrelated = root_.path() / "stencil-tune-of-somebody";
  fs::create_directory(unrelated);
  abandon_one();
  ASSERT_EQ(entries(), 3);
  ScratchFolder::remove_abandoned();
  EXPECT_EQ(entries(), 2);
  EXPECT_TRUE(fs::exists(alive.path()));
  EXPECT_TRUE(fs::exists(unrelated));
}

TEST_F(ScratchFolderTest, AProgramThatOutlivesItsOwnerDoesNotKeepTheLock) {
  const pid_t child = ::fork();
  if (child == 0) {
    const ScratchFolder folder;
    const Subprocess sleeper({"sleep", "5"});
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ScratchFolder::remove_abandoned();
  EXPECT_EQ(entries(), 0);
}

TEST_F(ScratchFolderTest, AMissingTmpdirIsNoObstacle) {
  ::setenv("TMPDIR", (root_.path() / "missing").c_str(), 1);
  EXPECT_EQ(temporary_root(), "/tmp");
  EXPECT_NO_THROW(ScratchFolder());
}

}  // namespace
}  // namespace stencil_tune
