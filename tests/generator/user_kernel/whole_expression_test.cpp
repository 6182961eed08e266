#include "generator/user_kernel/whole_expression.hpp"

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stencil_tune {
namespace {

const std::vector<std::string> kNames{"n", "TILE", "RX"};
const WholeValues kValues{{"n", 1000}, {"TILE", 32}, {"RX", 4}};

WholeExpression parse(const std::string& text) {
  const DefinitionText definition("t.cu", text);
  return {{&definition, 0, text.size()}, kNames};
}

std::int64_t value_of(const std::string& text) { return parse(text).evaluate(kValues); }

std::string error_of(const std::string& text) {
  try {
    value_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << text << " was accepted";
  return "";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(WholeExpression, OperatorsBindAsInC) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("7 / 2 * 2"), 6);
  EXPECT_EQ(value_of("17 % 5 * 2"), 4);
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("-7 % 2"), -1);
  EXPECT_EQ(value_of("2 ^ 10 - 1"), 1023);
  EXPECT_EQ(value_of("TILE % RX == 0 && n > TILE"), 1);
  EXPECT_EQ(value_of("TILE < RX || n != 1000"), 0);
  EXPECT_EQ(value_of("!(n >= 1000) + (n <= 1000)"), 1);
}

TEST(WholeExpression, FunctionsRoundAndChoose) {
  EXPECT_EQ(value_of("ceil_div(n, TILE)"), 32);
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value_of("ceil_div(-7, -2)"), 4);
  EXPECT_EQ(value_of("max(1, n / 4, RX)"), 250);
  EXPECT_EQ(value_of("min(n, TILE)"), 32);
  EXPECT_EQ(value_of("select(n > 5, 2, 3)"), 2);
  EXPECT_EQ(value_of("n < 5 ? 2 : 3 < n <= 1000 ? 4 : 5"), 4);
}

TEST(WholeExpression, IsWrittenAsC) {
  EXPECT_EQ(parse("ceil_div(n, TILE * RX)").c_text(), "whole_numbers::ceil_div(n, (TILE * RX))");
  EXPECT_EQ(parse("-n % 3 + n ^ 2 / 4").c_text(), "(((-n) % 3) + ((n * n) / 4))");
  EXPECT_EQ(parse("select(n > 5 && !(n == 7) || n <= RX, min(n, 2), max(n, 3))").c_text(),
            "((((5 < n) && (!(n == 7))) || (n <= RX)) ? whole_numbers::minimum(n, 2) : whole_numbers::maximum(n, 3))");
}

TEST(WholeExpression, WhatIsNotNeededMayHaveNoValue) {
  EXPECT_EQ(value_of("RX == 0 || TILE % RX == 0"), 1);
  EXPECT_EQ(value_of("n < 0 && 1 / 0 == 1"), 0);
  EXPECT_EQ(value_of("n > 0 || 1 / 0 == 1"), 1);
  EXPECT_EQ(value_of("select(n > 0, 1, 1 / 0)"), 1);
}

TEST(WholeExpression, HoldsSixtyFourBitsAndSaysWhenThatIsNotEnough) {
  EXPECT_EQ(value_of("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(value_of("n * n * n * n * n * n"), 1000000000000000000);
  EXPECT_TRUE(contains(error_of("n * n * n * n * n * n * n"), "with n = 1000: it does not fit 64 bits"));
  EXPECT_TRUE(contains(error_of("9223372036854775807 + 1"), "64 bits"));
  EXPECT_TRUE(contains(error_of("-9223372036854775807 - 2"), "64 bits"));
  EXPECT_TRUE(contains(error_of("(-9223372036854775807 - 1) / -1"), "64 bits"));
  EXPECT_TRUE(contains(error_of("9223372036854775808"), "64 bits"));
  EXPECT_TRUE(contains(error_of("n / (RX - 4)"), "\"n / (RX - 4)\" has no value with RX = 4, n = 1000: it divides"));
}

TEST(WholeExpression, SaysWhereSomethingIsWrong) {
  EXPECT_TRUE(contains(error_of("n + TILES"), "line 1, column 5: 'TILES' is no size or parameter here; did you mean"));
  EXPECT_TRUE(contains(error_of("0.5 * n"), "'0.5' is no whole number"));
  EXPECT_TRUE(contains(error_of("ceildiv(n, 2)"), "unknown function 'ceildiv'; did you mean 'ceil_div'?"));
  EXPECT_TRUE(contains(error_of("ceil_div(n)"), "takes 2 arguments, found 1"));
  EXPECT_TRUE(contains(error_of("n ^ RX"), "an exponent is a number from 1 to 63"));
  EXPECT_TRUE(contains(error_of("n TILE"), "an operator is missing before 'TILE'"));
  EXPECT_TRUE(contains(error_of(""), "an expression is missing"));
  EXPECT_TRUE(contains(error_of(std::string(100, '(').append("n")), "nested more than"));
}

TEST(WholeExpression, LongChainsTakeNoStack) {
  std::string sum = "0";
  for (int i = 0; i < 30000; ++i) sum += "+1";
  EXPECT_EQ(value_of(sum), 30000);
}

}  // namespace
}  // namespace stencil_tune
