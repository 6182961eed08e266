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

}  // namespace
}  // namespace stencil_tune
