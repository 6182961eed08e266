#include "db/records.hpp"

#include "tests/db/testing.hpp"

namespace stencil_tune {
namespace {

TEST(Outcome, NamesParseBack) {
  for (const Outcome outcome : {Outcome::ok, Outcome::compile_failed, Outcome::exceeds_limits, Outcome::wrong_result,
                                Outcome::launch_failed, Outcome::timeout, Outcome::device_lost}) {
    EXPECT_EQ(parse_outcome(name(outcome)), outcome) << name(outcome);
  }
}

TEST(Outcome, UnknownNameIsRefusedWithTheKnownOnes) {
  const Error error = error_of([] { parse_outcome("okay"); });
  EXPECT_EQ(error.code(), ErrorCode::unknown_name);
  EXPECT_NE(std::string(error.what()).find("compile_failed"), std::string::npos);
}

}  // namespace
}  // namespace stencil_tune
