#include "generator/input_file.hpp"

#include "generator/definition/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include <sys/stat.h>

namespace stencil_tune {
namespace {

std::string refusal_of(const std::filesystem::path& path) {
  try {
    read_input_file(path, 100);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file_io);
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

TEST(InputFile, IsReadUpToOneByteMoreThanIsLegal) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "text";
  std::ofstream(path) << "0123456789";
  EXPECT_EQ(read_input_file(path, 100), "0123456789");
  EXPECT_EQ(read_input_file(path, 10), "0123456789");
  EXPECT_EQ(read_input_file(path, 4), "01234");
  EXPECT_EQ(read_input_file(folder.touch("empty"), 4), "");
  std::filesystem::create_symlink(path, folder.path() / "link");
  EXPECT_EQ(read_input_file(folder.path() / "link", 100), "0123456789");
}

TEST(InputFile, WhatIsNoRegularFileIsRefusedAndNotWaitedFor) {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe.toml";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refusal_of(pipe).find("pipe"), std::string::npos);
  EXPECT_NE(refusal_of("/dev/zero").find("device"), std::string::npos);
  EXPECT_NE(refusal_of(folder.path()).find("folder"), std::string::npos);
  EXPECT_NE(refusal_of(folder.path() / "none").find("No such file"), std::string::npos);
  EXPECT_THROW(load_definition(pipe.string()), Error);
}

}  // namespace
}  // namespace stencil_tune
