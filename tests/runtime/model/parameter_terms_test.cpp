#include "runtime/model/parameter_terms.hpp"

#include "runtime/model/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

TEST(ParameterTerms, AreThoseOfACandidatesValuesAlsoOfOnesThatItsCodeLeavesOut) {
  const ParameterTerms terms(
      {{"direct", {{"bx32", 0.1}, {"ry2", -0.3}, {"ry1", 0.05}, {"v4", 1}}}, {"tiled", {{"bx32", 7}}}});
  EXPECT_DOUBLE_EQ(terms.factor(parse_code("direct.bx32.by4.ry2")), std::exp(0.1 - 0.3));
  EXPECT_DOUBLE_EQ(terms.factor(parse_code("direct.bx32.by4")), std::exp(0.1 + 0.05));
  EXPECT_DOUBLE_EQ(terms.factor(parse_code("streaming.bx32.by4.cz4.regs")), 1);
}

TEST(ParameterTerms, OfParametersThatACandidateDoesNotUseDoNotCount) {
  const auto has = [](const char* code, const char* part) {
    const std::vector<std::string> parts = parts_with_terms(parse_code(code));
    return std::count(parts.begin(), parts.end(), part) == 1;
  };
  constexpr const char* kShared = "streaming.bx32.by4.cz4.shared";
  constexpr const char* kRing = "streaming.bx32.by4.cz4.ring.pf1";
  EXPECT_TRUE(has(kShared, "ldca")) << "threads load by themselves";
  EXPECT_FALSE(has(kRing, "ldca")) << "a ring is filled by copies";
  EXPECT_TRUE(has(kRing, "pf1"));
  const ParameterTerms terms({{"streaming", {{"ldca", 0.5}}}});
  EXPECT_DOUBLE_EQ(terms.factor(parse_code(kShared)), std::exp(0.5));
  EXPECT_DOUBLE_EQ(terms.factor(parse_code(kRing)), 1);
}

TEST(ParameterTerms, OfFamiliesAndValuesThatThereAreNoMoreArePassedOver) {
  const ParameterTerms terms({{"direct", {{"bx32", 0.1}, {"gone3", 5}}}, {"gone", {{"bx32", 5}}}});
  EXPECT_DOUBLE_EQ(terms.factor(parse_code("direct.bx32.by4")), std::exp(0.1));
}

Prediction with_terms(const TermTable& terms, const std::string& code) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32,
                                       {Boundary::hold, Boundary::hold, Boundary::hold}, {3, {256, 256, 256}}, 0, 1);
  const DeviceModel& h200 = find_device_model("h200");
  Calibration calibration = calibration_of(h200);
  calibration.terms = terms;
  return PerformanceModel(problem, limits_of_architecture(h200.architecture), h200, calibration)
      .predict(parse_code(code));
}

TEST(ParameterTerms, MultiplyWhatTheModelPredicts) {
  const Prediction without = with_terms({}, "direct.bx64.by4.rx4.v4");
  const Prediction with = with_terms({{"direct", {{"by4", 0.2}}}}, "direct.bx64.by4.rx4.v4");
  EXPECT_NEAR(with.time_ms / without.time_ms, std::exp(0.2), 1e-6);
  EXPECT_NEAR(with.gstencils / without.gstencils, std::exp(-0.2), 1e-6);
}

TEST(ParameterTerms, MakeNothingFasterThanACopyAndKeepTheOrder) {
  const TermTable terms{{"direct", {{"by4", -0.7}, {"by8", -0.6}}}};
  const Prediction faster = with_terms(terms, "direct.bx64.by4.rx4.v4");
  const Prediction slower = with_terms(terms, "direct.bx64.by8.rx4.v4");
  EXPECT_LT(faster.share, 1);
  EXPECT_LT(slower.share, faster.share);
  EXPECT_GT(slower.share, 0.99);
}

}  // namespace
}  // namespace stencil_tune
