#include "db/records.hpp"

#include "tests/db/testing.hpp"

namespace stencil_tune {
namespace {

TEST(Outcome, NamesParseBack) {
  for (const Outcome outcome :
       {Outcome::ok, Outcome::compile_failed, Outcome::exceeds_limits, Outcome::wrong_result, Outcome::launch_failed,
        Outcome::timeout, Outcome::device_lost, Outcome::worker_killed, Outcome::compile_timeout}) {
    EXPECT_EQ(parse_outcome(name(outcome)), outcome) << name(outcome);
  }
}

TEST(Outcome, UnknownNameIsRefusedWithTheKnownOnes) {
  const Error error = error_of([] { parse_outcome("okay"); });
  EXPECT_EQ(error.code(), ErrorCode::unknown_name);
  EXPECT_NE(std::string(error.what()).find("compile_failed"), std::string::npos);
}

TEST(ProblemKey, IsEqualWhereAllThatDecidesTheWinnerIs) {
  const ProblemKey key{.stencil_key = "a", .stencil_name = "heat", .extents = {3, {8, 8, 8}}, .pitch = 8};
  ProblemKey other = key;
  other.stencil_name = "another name of it";
  EXPECT_EQ(key, other);
  const auto changed = [&](auto change) {
    ProblemKey different = key;
    change(different);
    return different;
  };
  EXPECT_NE(key, changed([](ProblemKey& k) { k.stencil_key = "b"; }));
  EXPECT_NE(key, changed([](ProblemKey& k) { k.stage = 1; }));
  EXPECT_NE(key, changed([](ProblemKey& k) { k.type = ElementType::f64; }));
  EXPECT_NE(key, changed([](ProblemKey& k) { k.boundaries[0] = Boundary::zero; }));
  EXPECT_NE(key, changed([](ProblemKey& k) { k.extents.n[2] = 9; }));
  EXPECT_NE(key, changed([](ProblemKey& k) { k.pitch = 16; }));
  EXPECT_NE(key, changed([](ProblemKey& k) { k.steps = 100; }));
}

}  // namespace
}  // namespace stencil_tune
