#include "generator/printable.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(Printable, TextForPeopleStaysAsItIs) {
  for (const char* text : {"", "NVIDIA H200", "heat \"2d\" \\ $(x) 'y'", "d\xc3\xa9j\xc3\xa0 vu",
                           "\xe6\xb8\xa9\xe5\xba\xa6", "\xf0\x9f\x94\xa5", "\xd8\xb3\xd9\x84\xd8\xa7\xd9\x85"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("one\ntwo\r\tthree\x7f"), "one\\x0atwo\\x0d\\x09three\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m")
      << "the other way to begin an escape sequence";
  EXPECT_EQ(printable("\xc2\x80\xc2\x9f"), "\\u{80}\\u{9f}");
}

TEST(Printable, WhatTurnsOrHidesTextIsEscaped) {
  EXPECT_EQ(printable("abc\xe2\x80\xae"
                      "cba"),
            "abc\\u{202e}cba");
  EXPECT_EQ(printable("\xe2\x81\xa6\xe2\x81\xa9"), "\\u{2066}\\u{2069}");
  EXPECT_EQ(printable("\xd8\x9c"), "\\u{61c}");
  EXPECT_EQ(printable("\xe2\x80\x8b\xef\xbb\xbf"), "\\u{200b}\\u{feff}");
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\u{2028}");
  EXPECT_EQ(printable("\xf3\xa0\x81\x81"), "\\u{e0041}");
}

TEST(Printable, BytesThatAreNoUtf8AreEscapedOneByOne) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xc2"), "\\xc2");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "overlong";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(printable("\xc3(\xff"), "\\xc3(\\xff");
}

TEST(Printable, LinesKeepTheirBreaksAlone) { EXPECT_EQ(printable_lines("one\ntwo\x1b[A\n"), "one\ntwo\\x1b[A\n"); }

}  // namespace
}  // namespace stencil_tune
