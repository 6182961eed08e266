#include "tuner/session/text_table.hpp"

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
  EXPECT_EQ(text_table(kColumns, {{"winner", "1", "a"}, {"naive", "n/a: a long reason"}}, "  "),
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

}  // namespace
}  // namespace stencil_tune
