// Runs the built stencil-tune as a user would. STENCIL_TUNE_PROGRAM is its path.
#pragma once

#include "tests/db/testing.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stencil_tune {

struct ProgramRun {
  int status = -1;
  std::string out;
  std::string err;
};

class CommandLineTest : public ::testing::Test {
 protected:
  ProgramRun run(const std::string& arguments) const {
    const auto out = folder.path() / "out", err = folder.path() / "err";
    const std::string command = "STENCIL_TUNE_DB='" + database + "' '" STENCIL_TUNE_PROGRAM "' " + arguments + " >'" +
                                out.string() + "' 2>'" + err.string() + "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Exits with `status`, says nothing on standard output and `message` on standard error.
  void expect_error(const std::string& arguments, int status, const std::string& message) const {
    const ProgramRun result = run(arguments);
    EXPECT_EQ(result.status, status) << arguments << "\n" << result.err;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_NE(result.err.find(message), std::string::npos) << arguments << "\n" << result.err;
  }

  TemporaryFolder folder;
  std::string database = (folder.path() / "trials.db").string();
};

}  // namespace stencil_tune
