#include "tuner/terminal/csv.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(Csv, CellsAreQuotedWhereTheyHaveTo) {
  EXPECT_EQ(csv_line({"a", "", "b c"}), "a,,b c\n");
  EXPECT_EQ(csv_line({"x=zero,y=hold", "say \"no\"", "two\nlines"}),
            "\"x=zero,y=hold\",\"say \"\"no\"\"\",\"two\nlines\"\n");
}

TEST(Csv, NoCellSpeaksToATerminal) { EXPECT_EQ(csv_line({"a\x1b[2J"}), "a\\x1b[2J\n"); }

TEST(Csv, NoCellIsAFormula) {
  EXPECT_EQ(csv_line({"=1+2", "+1", "-u", "@SUM(A1)", "\t=1", "\r=1"}), "'=1+2,'+1,'-u,'@SUM(A1),'\\x09=1,'\\x0d=1\n");
  EXPECT_EQ(csv_line({"=cmd|' /C calc'!A0", "=f(\"x\", 1)", "\n=1"}),
            "'=cmd|' /C calc'!A0,\"'=f(\"\"x\"\", 1)\",\"'\n=1\"\n");
  EXPECT_EQ(csv_line({"a;=1"}), "\"a;=1\"\n") << "where semicolons separate cells";
}

TEST(Csv, NumbersStayNumbers) {
  EXPECT_EQ(csv_line({"-1.5", "-1e-300", "-7", "2", "-1.5x", "-inf"}), "-1.5,-1e-300,-7,2,'-1.5x,'-inf\n");
}

}  // namespace
}  // namespace stencil_tune
