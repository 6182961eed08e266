#include "tuner/terminal/terminal.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace stencil_tune {
namespace {

/// Standard output of a test may be a terminal or not: these streams are none.
class NoTerminal : public ::testing::Test {
 protected:
  NoTerminal() {
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"}) unsetenv(name);
  }
  ~NoTerminal() override {
    std::fclose(file_);
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"}) unsetenv(name);
  }
  Terminal terminal() const { return terminal_of(file_); }

  std::FILE* file_ = std::tmpfile();
};

TEST_F(NoTerminal, AFileTakesWholeLinesWhateverColumnsSays) {
  EXPECT_EQ(terminal().columns, 0);
  setenv("COLUMNS", "60", 1);
  EXPECT_EQ(terminal().columns, 0);
}

TEST_F(NoTerminal, AFileIsColouredOnlyWhereThatIsForced) {
  EXPECT_EQ(styled(terminal(), Style::error, "no"), "no");
  setenv("CLICOLOR_FORCE", "0", 1);
  EXPECT_FALSE(terminal().colour);
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_EQ(styled(terminal(), Style::error, "no"), "\x1b[1;31mno\x1b[0m");
  EXPECT_EQ(styled(terminal(), Style::plain, "no"), "no");
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(styled(terminal(), Style::error, "no"), "no");
}

}  // namespace
}  // namespace stencil_tune
