#include "tuner/terminal/text_table.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

const std::vector<TableColumn> kColumns{{"kernel", false}, {"rate"}, {"code", false}};

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(text_table(kColumns, {{"winner", "1234.5", "a"}, {"a-long-name", "~7.0", "b"}}),
            "kernel         rate  code\n"
            "winner       1234.5  a\n"
            "a-long-name    ~7.0  b\n");
}

TEST(TextTable, AShortRowEndsWithFreeText) {
  EXPECT_EQ(text_table(kColumns, {{"winner", "1", "a"}, {"naive", "n/a: a long reason"}}, {"  ", {}, {}}),
            "  kernel  rate  code\n"
            "  winner     1  a\n"
            "  naive   n/a: a long reason\n");
}

TEST(TextTable, LinesHaveNoBlanksAtTheirEnd) {
  EXPECT_EQ(text_table(kColumns, {{"winner", "1", ""}}), "kernel  rate  code\nwinner     1\n");
}

TEST(TextTable, NoCellSpeaksToTheTerminalOrMakesALine) {
  EXPECT_EQ(text_table(kColumns, {{"a\x1b[2J", "1", "b\nwinner"}, {"naive", "n/a: \xc2\x9b"}}),
            "kernel    rate  code\n"
            "a\\x1b[2J     1  b\\x0awinner\n"
            "naive     n/a: \\u{9b}\n");
}

TEST(TextTable, ColumnsThatDoNotFitStandOnFurtherLines) {
  const std::vector<std::vector<std::string>> rows{{"winner", "1234.5", "direct.bx32.by8"}, {"naive", "~7.0", ""}};
  EXPECT_EQ(text_table(kColumns, rows, {"", {.columns = 31, .colour = false}, {}}),
            "kernel    rate  code\n"
            "winner  1234.5  direct.bx32.by8\n"
            "naive     ~7.0\n");
  EXPECT_EQ(text_table(kColumns, rows, {"", {.columns = 30, .colour = false}, {}}),
            "kernel    rate\n"
            "    code\n"
            "winner  1234.5\n"
            "    direct.bx32.by8\n"
            "naive     ~7.0\n");
}

TEST(TextTable, ColumnsLeaveItTheLastOneFirstUntilARowTakesOneLine) {
  const std::vector<TableColumn> columns{
      {"id"}, {"GPU", false, Narrow::leaves}, {"rate"}, {"share", true, Narrow::leaves}};
  const std::vector<std::vector<std::string>> rows{{"17", "H200", "475.0", "90 %"}, {"s1", "n/a"}};
  EXPECT_EQ(text_table(columns, rows, {"", {.columns = 60, .colour = false}, {}}),
            "id  GPU    rate  share\n"
            "17  H200  475.0   90 %\n"
            "s1  n/a\n");
  EXPECT_EQ(text_table(columns, rows, {"", {.columns = 20, .colour = false}, {}}),
            "id  GPU    rate\n"
            "17  H200  475.0\n"
            "s1  n/a\n"
            "left out in 20\n"
            "    columns: share;\n"
            "    a pipe and wider\n"
            "    terminals show\n"
            "    all\n");
}

TEST(TextTable, CellsThatDoNotFitMayStandBelow) {
  const std::vector<TableColumn> columns{{"kernel", false}, {"rate"}, {"x"}, {"code", false, Narrow::below}};
  EXPECT_EQ(text_table(columns, {{"winner", "1234.5", "1", "direct.bx32.by8"}, {"naive", "n/a: why"}},
                       {"", {.columns = 25, .colour = false}, {}}),
            "kernel    rate  x\n"
            "winner  1234.5  1\n"
            "naive   n/a: why\n"
            "\n"
            "kernel  code\n"
            "winner  direct.bx32.by8\n");
}

TEST(TextTable, ACellLongerThanALineGoesOnInTheNext) {
  EXPECT_EQ(text_table(kColumns, {{"winner", "1", "direct.bx32.by8.rx4"}}, {"", {.columns = 20, .colour = false}, {}}),
            "kernel  rate\n"
            "    code\n"
            "winner     1\n"
            "    direct.bx32.by8\n"
            "    .rx4\n");
}

TEST(TextTable, StylesAreOfWholeLinesAndChangeNoWidth) {
  const auto first = [](std::size_t row) { return row == 0 ? Style::winner : Style::plain; };
  EXPECT_EQ(
      text_table(kColumns, {{"winner", "1", "a"}, {"naive", "2", "b"}}, {"", {.columns = 80, .colour = true}, first}),
      "\x1b[1mkernel  rate  code\x1b[0m\n"
      "\x1b[1mwinner     1  a\x1b[0m\n"
      "naive      2  b\n");
}

}  // namespace
}  // namespace stencil_tune
