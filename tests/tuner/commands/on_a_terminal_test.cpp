// What stencil-tune prints on terminals of 60, 80 and 120 columns.
#include "tests/tuner/commands/program_run.hpp"
#include "tests/tuner/commands/pseudo_terminal.hpp"

#include "tuner/terminal/wrap.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

namespace stencil_tune {
namespace {

class OnATerminal : public CommandLineTest {
 protected:
  /// Skips the test where there are no terminals.
  testing::TerminalRun on_terminal(int columns, std::vector<std::string> words,
                                   std::vector<std::string> variables = {}) {
    words.insert(words.begin(), STENCIL_TUNE_PROGRAM);
    variables.push_back("STENCIL_TUNE_DB=" + database);
    auto result = testing::run_on_terminal(words, columns, variables);
    if (!result) missing_ = "no pseudo-terminals here";
    return result.value_or(testing::TerminalRun());
  }

  void import_shipped_winners() { ASSERT_EQ(run("db import " STENCIL_TUNE_SHIPPED_WINNERS).status, 0); }

  static std::string without_colour(const std::string& text) {
    return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
  }

  std::string missing_;
};

TEST_F(OnATerminal, NoLineIsWiderThanTheTerminal) {
  import_shipped_winners();
  std::vector<std::vector<std::string>> commands{{"help"},
                                                 {"list"},
                                                 {"devices"},
                                                 {"stencils"},
                                                 {"show", "1"},
                                                 {"explain", "direct.bx32.by8", "--dims", "512", "--arch", "sm_90"},
                                                 {"--dims", "512", "--stencil", "no such stencil anywhere"}};
  for (const char* verb :
       {"tune", "list", "show", "report", "export", "bench", "explain", "stencils", "devices", "replay", "db"}) {
    commands.push_back({"help", verb});
  }
  for (const int columns : {60, 80, 120}) {
    for (const auto& command : commands) {
      const std::string output = without_colour(on_terminal(columns, command).output);
      if (!missing_.empty()) GTEST_SKIP() << missing_;
      EXPECT_NE(output, "") << command[0];
      std::istringstream lines(output);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(columns_of(line), static_cast<std::size_t>(columns)) << command[0] << ": " << line;
      }
    }
  }
}

TEST_F(OnATerminal, ARowOfTheListTakesOneLineAndWhatLeavesItIsSaid) {
  import_shipped_winners();
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const std::string narrow = without_colour(on_terminal(80, {"list"}).output);
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const std::string note = "left out in 80 columns: stage, pitch, boundary, GPU, of copy, sustained, code;";
  ASSERT_NE(narrow.find("\n" + note), std::string::npos) << narrow.substr(0, 400);
  EXPECT_EQ(lines(narrow.substr(0, narrow.find(note))), lines(run("list --csv").out)) << "titles, and a line a winner";
}

TEST_F(OnATerminal, ColumnsHasTheLastWord) {
  const auto asked = on_terminal(120, {"help", "tune"}, {"COLUMNS=60"});
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  EXPECT_EQ(asked.output, on_terminal(60, {"help", "tune"}).output);
}

TEST_F(OnATerminal, ColourIsForTerminalsThatWantIt) {
  const auto coloured = [&](const std::vector<std::string>& variables) {
    return on_terminal(80, {"help"}, variables).output.find('\x1b') != std::string::npos;
  };
  EXPECT_TRUE(coloured({}) || !missing_.empty());
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  EXPECT_FALSE(coloured({"NO_COLOR=1"}));
  EXPECT_FALSE(coloured({"TERM=dumb"}));
  EXPECT_TRUE(coloured({"TERM=dumb", "CLICOLOR_FORCE=1"}));
  EXPECT_EQ(run("help").out.find('\x1b'), std::string::npos);
}

TEST_F(CommandLineTest, OutputThatGoesToNoTerminalIsTheSameWhateverColumnsSays) {
  ASSERT_EQ(run("db import " STENCIL_TUNE_SHIPPED_WINNERS).status, 0);
  for (const char* command : {"list", "help tune", "devices"}) {
    setenv("COLUMNS", "60", 1);
    const std::string narrow = run(command).out;
    unsetenv("COLUMNS");
    EXPECT_EQ(narrow, run(command).out) << command;
  }
}

}  // namespace
}  // namespace stencil_tune
