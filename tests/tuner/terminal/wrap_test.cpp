#include "tuner/terminal/wrap.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

using Lines = std::vector<std::string>;

TEST(Wrap, LinesAreBrokenAtBlanksAndFullWhereTheyCanBe) {
  EXPECT_EQ(wrap("one two three", 13), Lines{"one two three"});
  EXPECT_EQ(wrap("one two three", 12), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("one  two", 5), (Lines{"one", "two"}));
}

TEST(Wrap, WithoutALimitNothingIsBroken) { EXPECT_EQ(wrap("one two three", 0), Lines{"one two three"}); }

TEST(Wrap, LongWordsAreBrokenWhereCodesAndPathsHaveParts) {
  EXPECT_EQ(wrap("direct.bx32.by8", 12), (Lines{"direct.bx32", ".by8"}));
  EXPECT_EQ(wrap("/home/me/trials.db", 10), (Lines{"/home/me/", "trials.db"}));
  EXPECT_EQ(wrap("abcdefgh", 3), (Lines{"abc", "def", "gh"}));
}

TEST(Wrap, BlanksInFrontStay) { EXPECT_EQ(wrap("    direct.bx32", 11), (Lines{"    direct", ".bx32"})); }

TEST(Wrap, CharactersCountNotBytes) {
  EXPECT_EQ(columns_of("\xc3\xa4\xc3\xb6"), 2u);
  EXPECT_EQ(wrap("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4", 2), (Lines{"\xc3\xa4\xc3\xb6", "\xc3\xbc\xc3\xa4"}));
}

TEST(WrapLines, EachLineIsWrappedAndGoesOnIndented) {
  EXPECT_EQ(wrap_lines("one two three four\nfive\n", 9, "  "), "one two\n  three\n  four\nfive\n");
  EXPECT_EQ(wrap_lines("one two\n\n", 9), "one two\n\n");
  EXPECT_EQ(wrap_lines("", 9), "");
}

}  // namespace
}  // namespace stencil_tune
