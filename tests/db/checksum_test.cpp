#include "db/rows/checksum.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(Checksum, TellsWhereOneTextEndsAndTheNextBegins) {
  Checksum one, other;
  one.add(std::string_view("ab"));
  one.add(std::string_view("c"));
  other.add(std::string_view("a"));
  other.add(std::string_view("bc"));
  EXPECT_NE(one.value(), other.value());
}

TEST(Checksum, IsThatOfWhatSqliteGivesBack) {
  Checksum positive, negative;
  positive.add(0.0);
  negative.add(-0.0);
  EXPECT_EQ(positive.value(), negative.value());
}

}  // namespace
}  // namespace stencil_tune
