#include "runtime/files/output_file.hpp"

#include "stencil_tune/error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(OutputFile, ReplacesWhatStoodThere) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "heat.cu";
  write_output_file(path, "first");
  write_output_file(path, "second");
  EXPECT_EQ(content(path), "second");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(OutputFile, LeavesWhatStoodThereWhereThereIsNoRoom) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "winners.json";
  write_output_file(path, "good");
  const auto write_without_room = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &small);
    try {
      write_output_file(path, std::string(100000, 'x'));
    } catch (const Error& error) {
      std::exit(error.code() == ErrorCode::file_io ? 3 : 4);
    }
    std::exit(5);
  };
  EXPECT_EXIT(write_without_room(), testing::ExitedWithCode(3), "");
  EXPECT_EQ(content(path), "good");
  EXPECT_EQ(files_in(folder.path()), 1U) << "no temporary file is left";
}

TEST(OutputFile, WritesThroughALinkAndToWhatIsNoFile) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "target", link = folder.path() / "link";
  write_output_file(target, "old");
  fs::create_symlink(target, link);
  write_output_file(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "new");
  EXPECT_NO_THROW(write_output_file("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, OfALinkToNothingMakesWhatItNames) {
  const TemporaryFolder folder;
  const fs::path far = folder.path() / "far", near = folder.path() / "near";
  fs::create_symlink("far", near);
  fs::create_symlink("near", folder.path() / "link");
  write_output_file(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(near));
  EXPECT_EQ(content(far), "new");
}

TEST(OutputFile, LinksThatGoRoundAreAnError) {
  const TemporaryFolder folder;
  fs::create_symlink("there", folder.path() / "back");
  fs::create_symlink("back", folder.path() / "there");
  EXPECT_THROW(write_output_file(folder.path() / "there", "text"), Error);
}

TEST(OutputFile, NobodyElsesLinkIsFollowed) {
  const TemporaryFolder folder;
  const fs::path diary = folder.path() / "diary", link = folder.path() / "report.html";
  write_output_file(diary, "dear diary");
  fs::create_symlink(diary, link);
  constexpr uid_t kSomebodyElse = 54321;
  if (::lchown(link.c_str(), kSomebodyElse, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "needs root to make one";
  try {
    write_output_file(link, "page");
    ADD_FAILURE() << "it was followed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file_io);
    EXPECT_NE(std::string(error.what()).find("belongs to user 54321"), std::string::npos) << error.what();
  }
  EXPECT_EQ(content(diary), "dear diary");
}

TEST(OutputFile, LinksInThePlaceOfTheTemporaryFileAreNotFollowed) {
  const TemporaryFolder folder;
  const fs::path diary = folder.path() / "diary", path = folder.path() / "heat.cu";
  write_output_file(diary, "dear diary");
  fs::create_symlink(diary, fmt::format("{}.{}.tmp", path.string(), getpid()));
  for (int i = 0; i < 100; ++i) fs::create_symlink(diary, fmt::format("{}.{}.{}.tmp", path.string(), getpid(), i));
  write_output_file(path, "kernel");
  EXPECT_EQ(content(path), "kernel");
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(content(diary), "dear diary");
}

TEST(OutputFile, SaysWhatItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_output_file(folder.path() / "no" / "such" / "folder.cu", "text"), Error);
}

}  // namespace
}  // namespace stencil_tune
