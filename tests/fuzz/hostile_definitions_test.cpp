#include "tests/fuzz/hostile_definitions.hpp"

#include "tests/fuzz/reception.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

bool accepts_harmlessly(const std::string& definition) {
  const Reception reception = receive_definition(definition);
  EXPECT_EQ(reception.harm, "") << definition.substr(0, 300);
  return reception.accepted;
}

TEST(HostileDefinitions, AreRejectedOrHarmless) {
  const std::vector<std::string> definitions = hostile_definitions();
  ASSERT_GE(definitions.size(), 200u);
  std::size_t rejected = 0;
  for (const std::string& definition : definitions) rejected += accepts_harmlessly(definition) ? 0 : 1;
  // Some pieces are legal in some places: "9999.." in a name, say. Most are legal nowhere.
  EXPECT_GT(rejected, definitions.size() * 9 / 10);
}

TEST(HostileDefinitions, AreRejectedOrHarmlessAsOneLiners) {
  for (const std::string& piece : hostile_pieces()) {
    for (int rank = 1; rank <= 3; ++rank) {
      for (const std::string& text : {piece, "v = u + " + piece + "; a = 1"}) {
        EXPECT_EQ(receive_expression(text, rank).harm, "") << text.substr(0, 300);
      }
    }
  }
}

TEST(HostileDefinitions, NothingButExpressionsIsTaken) {
  for (const std::string piece : {"u // comment", "u /* c */", "u; } int f() {", "#include <x>", "__asm(\"x\")",
                                  "threadIdx.x", "u ?: u", "u++", "nan*u", "1e999*u", "u\n#define u v", "u ?\?/\n"}) {
    EXPECT_FALSE(accepts_harmlessly("rank = 1\nfields = [\"u\", \"v\"]\n[update]\nv = '''" + piece + "'''\n")) << piece;
  }
}

}  // namespace
}  // namespace stencil_tune
