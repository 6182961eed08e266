// The update of a definition as a kernel computes it.
#include "generator/kernel_source/update_text.hpp"

#include "generator/definition/definition.hpp"
#include "generator/stencil/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace stencil_tune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& definition) {
  const Problem problem = make_problem(parse_stencil(definition, 1), ElementType::f32, {}, Extents{1, {64, 1, 1}});
  return update_text(problem.stencil, 0, problem.facts, {0, 1, 2});
}

TEST(UpdateText, TakesARootThatOnlyDividesAsTheInverseRoot) {
  EXPECT_THAT(text_of("v = 1 / sqrt(u)"), HasSubstr("out[0] = inverse_root(u(0, 0, 0, 0));"));
  EXPECT_THAT(text_of("v = u[x-1] / sqrt(u)"), HasSubstr("out[0] = u(0, -1, 0, 0) * inverse_root(u(0, 0, 0, 0));"));
}

TEST(UpdateText, TakesARootAsItIsWhereItIsWanted) {
  EXPECT_THAT(text_of("v = sqrt(u) / u[x-1]"), Not(HasSubstr("inverse_root")));
  EXPECT_THAT(text_of("v = sqrt(u) + 1 / sqrt(u)"), Not(HasSubstr("inverse_root")));
}

TEST(UpdateText, AddsWhatIsDoubledByAMultiplyAdd) {
  EXPECT_THAT(text_of("v = 2*u - u[x-1]"), HasSubstr("out[0] = fma(Value(2.0), u(0, 0, 0, 0), -u(0, -1, 0, 0));"));
  EXPECT_THAT(text_of("v = u[x-1]*u - 2*u"),
              HasSubstr("out[0] = fma(Value(-2.0), u(0, 0, 0, 0), u(0, -1, 0, 0) * u(0, 0, 0, 0));"));
  EXPECT_THAT(text_of("v = 2*sqrt(u) + 2*u[x+1]"),
              HasSubstr("fma(Value(2.0), square_root(u(0, 0, 0, 0)), Value(2.0) * u(0, 1, 0, 0))"));
  EXPECT_THAT(text_of("v = (2*sqrt(u) - 1) * (2*sqrt(u) + u[x+1])"),
              Not(HasSubstr("fma(")));  // named, and computed once
  EXPECT_THAT(text_of("v = 2*u*u"), Not(HasSubstr("fma(")));
}

}  // namespace
}  // namespace stencil_tune
