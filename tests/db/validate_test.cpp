#include "db/rows/validate.hpp"

#include "tests/db/testing.hpp"

#include <limits>

namespace stencil_tune {
namespace {

void expect_invalid(const char* what, const std::function<void(TrialRecord&)>& spoil) {
  TrialRecord trial = a_trial(kCode, 400);
  spoil(trial);
  EXPECT_EQ(error_of([&] { validate(trial); }).code(), ErrorCode::invalid_argument) << what;
}

TEST(Validate, AcceptsTrialsAndFailures) {
  EXPECT_NO_THROW(validate(a_trial(kCode, 400)));
  EXPECT_NO_THROW(validate(a_failure(kCode, Outcome::timeout)));
}

TEST(Validate, RejectsFieldsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  expect_invalid("no key", [](TrialRecord& t) { t.problem.stencil_key.clear(); });
  expect_invalid("no gpu", [](TrialRecord& t) { t.platform.gpu.clear(); });
  expect_invalid("no code", [](TrialRecord& t) { t.code.clear(); });
  expect_invalid("steps 0", [](TrialRecord& t) { t.problem.steps = 0; });
  expect_invalid("stage -2", [](TrialRecord& t) { t.problem.stage = -2; });
  expect_invalid("rank 0", [](TrialRecord& t) { t.problem.extents.rank = 0; });
  expect_invalid("rank 4", [](TrialRecord& t) { t.problem.extents.rank = 4; });
  expect_invalid("extent 0", [](TrialRecord& t) { t.problem.extents.n[1] = 0; });
  expect_invalid("extent beyond rank", [](TrialRecord& t) { t.problem.extents.rank = 2; });
  expect_invalid("cells overflow", [](TrialRecord& t) { t.problem.extents.n = {512, std::int64_t{1} << 40, 1 << 30}; });
  expect_invalid("pitch below nx", [](TrialRecord& t) { t.problem.pitch = 511; });
  expect_invalid("nan rate", [&](TrialRecord& t) { t.rate = nan; });
  expect_invalid("infinite rate", [&](TrialRecord& t) { t.rate = infinity; });
  expect_invalid("rate 0", [](TrialRecord& t) { t.rate = 0; });
  expect_invalid("negative share", [](TrialRecord& t) { t.share = -0.1; });
  expect_invalid("nan time", [&](TrialRecord& t) { t.timing.median_ms = nan; });
  expect_invalid("median outside its interval", [](TrialRecord& t) { t.timing.low_ms = t.timing.high_ms; });
  expect_invalid("occupancy above 1", [](TrialRecord& t) { t.occupancy = 1.01; });
  expect_invalid("negative registers", [](TrialRecord& t) { t.registers = -1; });
  expect_invalid("endless name", [](TrialRecord& t) { t.problem.stencil_name.assign(5000, 'a'); });
}

TEST(Validate, ForeignTrialsMustAlsoHaveAKeyATimeAndPrintableTexts) {
  const auto code_of = [](const std::function<void(TrialRecord&)>& spoil) {
    TrialRecord trial = a_trial(kCode, 400);
    spoil(trial);
    return error_of([&] { validate_foreign(trial); }).code();
  };
  EXPECT_NO_THROW(validate_foreign(a_trial(kCode, 400)));
  TrialRecord retired = a_trial(kCode, 400);
  retired.code = "no.such.code";
  EXPECT_NO_THROW(validate_foreign(retired)) << "what cannot run is judged elsewhere";
  EXPECT_EQ(code_of([](TrialRecord& t) { t.code = "direct\x1b[2J"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](TrialRecord& t) { t.problem.stencil_key = "short"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([](TrialRecord& t) { t.problem.stencil_key.back() = 'g'; }), ErrorCode::invalid_argument);
  for (const char* time : {"yesterday", "", "Z", "2026-01-31T12:00:00", "2026-01-31T12:00:00.Z", "2026-01-31 12:00:00Z",
                           "2026-01-31T12:00:00.0123456789Z", "2026-01-31T12:00:00.1x3Z"}) {
    EXPECT_EQ(code_of([&](TrialRecord& t) { t.created_at = time; }), ErrorCode::invalid_argument) << time;
  }
  for (const char* time : {"2026-01-31T12:00:00Z", "2026-01-31T12:00:00.012345678Z"}) {
    TrialRecord timed = a_trial(kCode, 400);
    timed.created_at = time;
    EXPECT_NO_THROW(validate_foreign(timed)) << time;
  }
  EXPECT_EQ(code_of([](TrialRecord& t) { t.platform.gpu = "GPU\x1b[2J"; }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stencil_tune
