// Kernels come from a stencil's simplified form and are checked against its written one: a mistake in simplifying
// shows.
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "stencil_tune/error.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/measure/device_bench.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace stencil_tune {
namespace {

constexpr Boundaries kClamp{Boundary::clamp, Boundary::clamp, Boundary::clamp};

/// Kernels of the one are checked against the other.
Stencil simplified_wrongly(const std::string& written, const std::string& simplified_as, int rank) {
  return with_written_form(parse_stencil(simplified_as, rank), [&] {
    Stencil stencil = parse_stencil(written, rank);
    stencil.nodes = stencil.written.nodes;
    stencil.stages = stencil.written.stages;
    return stencil;
  }());
}

DeviceResult verified(Stencil stencil, const std::string& candidate, const Extents& extents) {
  const Problem problem = make_problem(std::move(stencil), ElementType::f32, kClamp, extents);
  const Tuning tuning = parse_code(candidate);
  testing::HostDevice device;
  StencilSubject subject{problem};
  DeviceBench bench(device, read_device(device, 0), subject, 1);
  return bench.run(code(tuning), device.load({problem, tuning}, generate({problem, tuning})), MeasurePlan{});
}

/// A rule of simplifying: where it matters, and what a wrong one would make of that.
struct Rule {
  const char* name;
  const char* written;
  const char* simplified_wrongly;
};

void PrintTo(const Rule& rule, std::ostream* os) { *os << rule.name; }

class RulesOfSimplifying : public ::testing::TestWithParam<Rule> {
 protected:
  static DeviceResult check(Stencil stencil) {
    return verified(std::move(stencil), "direct.bx32.by4", {2, {40, 20, 1}});
  }
};

TEST_P(RulesOfSimplifying, ARightKernelIsRight) {
  const DeviceResult result = check(parse_stencil(GetParam().written, 2));
  EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
}

TEST_P(RulesOfSimplifying, AKernelOfAWrongRuleIsWrong) {
  const DeviceResult result = check(simplified_wrongly(GetParam().written, GetParam().simplified_wrongly, 2));
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
}

INSTANTIATE_TEST_SUITE_P(
    All, RulesOfSimplifying,
    ::testing::Values(
        Rule{"ZeroMinus", "0 - u[x-1]", "u[x-1]"},         //
        Rule{"Negations", "-(-u[x-1])", "-u[x-1]"},        //
        Rule{"Less", "u[x-1] + (1 < 1)*u", "u[x-1] + u"},  //
        Rule{"LessEqual", "u[x-1] + (1 <= 1)*u", "u[x-1] + 0*u"},
        Rule{"Minimum", "min(0.25, 0.5)*u[x-1]", "0.5*u[x-1]"}, Rule{"Maximum", "max(0.25, 0.5)*u[x-1]", "0.25*u[x-1]"},
        Rule{"Division", "u[x-1]/0.3", "0.3*u[x-1]"},
        Rule{"DivisionByAPowerOfTwo", "(u[x-1] + u[x+1])/4", "(u[x-1] + u[x+1])/2"},
        Rule{"FactorsMeet", "a*(b*u[x-1]); a = 0.5; b = 0.75", "a*(a*u[x-1]) + 0*b*u[x-1]; a = 0.5; b = 0.75"},
        Rule{"Power", "(u[x-1]*u[x-1] + 1)^-4", "(u[x-1]*u[x-1] + 1)^-3"},
        Rule{"PowerOfAConstantExpression", "u[x-1]^(3 - 1)", "u[x-1]^3"},
        Rule{"EvenPower", "(0.5*u[x-1])^6", "(0.5*u[x-1])^7"},
        Rule{"WideDerivative", "d_x(u, accuracy=10)",
             "5/6*(u[x+1] - u[x-1]) - 5/21*(u[x+2] - u[x-2]) + 5/84*(u[x+3] - u[x-3]) - 5/504*(u[x+4] - u[x-4]) + "
             "1/1200*(u[x+5] - u[x-5])"},
        Rule{"SecondDerivative", "d_yy(u)", "u[y-1] - u + u[y+1]"},
        Rule{"StaggeredDerivative", "d_x_forward(u)", "u - u[x+1]"},
        Rule{"Laplacian", "laplacian(u)", "u[x-1] + u[x+1] + u[y-1] + u[y+1] - 3*u"}),
    [](const auto& test) { return test.param.name; });

TEST(WrittenForm, WeightsThatMeetInASumOfPlanesAreCheckedToo) {
  const char* const written = "u - 0.25*u[z-1] - 0.125*u[z-1] + 0.5*u[x+1]";
  constexpr const char* kSums = "streaming.bx32.by4.cz8.ring.sums";
  const DeviceResult right = verified(parse_stencil(written, 3), kSums, {3, {36, 9, 8}});
  EXPECT_EQ(right.outcome, Outcome::ok) << right.message;
  const Stencil wrong = simplified_wrongly(written, "u + 0.375*u[z-1] + 0.5*u[x+1]", 3);
  EXPECT_EQ(verified(wrong, kSums, {3, {36, 9, 8}}).outcome, Outcome::wrong_result);
}

TEST(WrittenForm, WithoutAReadThatSimplifyingLostNothingIsChecked) {
  const Stencil lost = simplified_wrongly("select(1, u[x-1], u[x+1])", "u[x+1]", 2);
  try {
    verified(lost, "direct.bx32.by4", {2, {40, 20, 1}});
    FAIL() << "checked against cells that no kernel reads";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_NE(std::string(error.what()).find("is written to read u[-1,0,0], and does not"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace stencil_tune
