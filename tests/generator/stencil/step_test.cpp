#include "generator/stencil/step.hpp"

#include "generator/definition/definition.hpp"
#include "generator/stencil/problem.hpp"
#include "tests/runtime/expect_error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stencil_tune {
namespace {

using Names = std::vector<std::string>;

Stencil defined(const std::string& text) { return parse_definition("name = \"s\"\nrank = 2\n" + text, "s.toml"); }

Names names(const Stencil& stencil, const std::vector<int>& fields) {
  Names result;
  for (const int field : fields) result.push_back(stencil.fields[static_cast<std::size_t>(field)]);
  return result;
}

Stencil yee() {
  return defined(R"toml(
fields = ["e", "h", "c", "e_next", "h_next"]
[[stage]]
h_next = "h - (e[x+1] - e)"
[[stage]]
e_next = "e + c*(h_next - h_next[x-1])"
[rotate]
e_next = "e"
h_next = "h"
)toml");
}

TEST(Step, TheStateBetweenStagesIsWhatLaterOnesRead) {
  const Stencil stencil = yee();
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.state), (Names{"e", "h"}));
  EXPECT_EQ(names(stencil, step.constants), (Names{"c"}));
  ASSERT_EQ(step.stages.size(), 2u);
  EXPECT_EQ(names(stencil, step.stages[0].state_in), (Names{"e", "h"}));
  EXPECT_EQ(names(stencil, step.stages[0].state_out), (Names{"e", "h_next"}));  // the old h ends
  EXPECT_EQ(names(stencil, step.stages[1].state_in), (Names{"e", "h_next"}));
  EXPECT_EQ(names(stencil, step.stages[1].state_out), (Names{"e_next", "h_next"}));
  EXPECT_EQ(names(stencil, step.becomes), (Names{"e_next", "h_next"}));
  EXPECT_EQ(step.obstacle, "");
}

TEST(Step, AnOutputKeepsTheLayersOfTheFieldThatItBecomes) {
  const Stencil stencil = yee();
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.stages[0].layers_of), (Names{"h"}));
  EXPECT_EQ(names(stencil, step.stages[1].layers_of), (Names{"e"}));
  EXPECT_TRUE(step.layers.empty());  // both are in the state
}

TEST(Step, TwoTimeLevelsAreAStateOfTwoFields) {
  const Stencil stencil = defined(R"toml(
fields = ["p", "p_prev", "p_next"]
[update]
p_next = "2*p - p_prev + 0.1*(p[x-1] + p[x+1] - 2*p)"
[rotate]
p_next = "p"
p = "p_prev"
)toml");
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.state), (Names{"p", "p_prev"}));
  EXPECT_EQ(names(stencil, step.becomes), (Names{"p_next", "p"}));
  EXPECT_EQ(names(stencil, step.stages[0].state_out), (Names{"p", "p_next"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 1)), (Names{"p_next"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 2)), (Names{"p_next", "p"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 5)), (Names{"p_next", "p"}));
}

TEST(Step, ThreeTimeLevelsAreLeftEvenWhereNobodyReadsTheOldest) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "old", "older", "u_next"]
[update]
u_next = "u[x+1] - u"
[rotate]
u_next = "u"
u = "old"
old = "older"
)toml");
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.state), (Names{"u", "old"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 2)), (Names{"u_next", "u"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 3)), (Names{"u_next", "u", "old"}));
}

TEST(Step, AnIntermediateIsNotStoredAndHasTheLayersOfTheOnlyFieldThatStepsChange) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "guess", "u_next"]
[[stage]]
guess = "u + u[x-1]"
[[stage]]
u_next = "u + guess[x-1]"
[rotate]
u_next = "u"
)toml");
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.state), (Names{"u"}));
  EXPECT_EQ(names(stencil, step.stages[0].state_out), (Names{"u", "guess"}));
  EXPECT_EQ(names(stencil, step.stages[1].state_out), (Names{"u_next"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 1)), (Names{"u_next"}));
  EXPECT_EQ(names(stencil, step.stages[0].layers_of), (Names{"u"}));
  EXPECT_EQ(names(stencil, step.layers), (Names{}));
}

TEST(Step, AnIntermediateThatIsReadWhereItIsWrittenHasNoLayersToSpeakOf) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "v", "flux", "u_next", "v_next"]
[[stage]]
flux = "u[x+1] - u + v"
[[stage]]
u_next = "u + flux - flux[x-1]"
v_next = "v[x+1] + flux"
)toml");
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.stages[0].layers_of), (Names{"flux"}));
  EXPECT_TRUE(step.unsaid.empty() && step.layers.empty());
}

constexpr const char* kTwoFields = R"toml(
fields = ["u", "v", "u1", "u_next", "v_next"]
[[stage]]
u1 = "u + v[x-1]"
[[stage]]
u_next = "u1 + u1[x-1]"
v_next = "v + u1[x+1]"
[rotate]
u_next = "u"
v_next = "v"
)toml";

TEST(Step, WhoseLayersAnIntermediateHasIsSaidWhereSeveralFieldsChange) {
  const Stencil unsaid = defined(kTwoFields);
  const StepFacts step = analyse_step(unsaid);
  ASSERT_EQ(step.unsaid.size(), 1U);
  EXPECT_EQ(names(unsaid, {step.unsaid[0].field}), (Names{"u1"}));
  EXPECT_EQ(names(unsaid, step.unsaid[0].candidates), (Names{"u", "v"}));
  const Boundaries hold{Boundary::hold, Boundary::hold, Boundary::hold};
  EXPECT_ERROR(make_problem(unsaid, ElementType::f64, hold, {2, {20, 20, 1}}, 0, 1, kWholeStep),
               ErrorCode::invalid_argument, "[hold] u1 = \"u\"");
  EXPECT_NO_THROW(
      make_problem(unsaid, ElementType::f64, {Boundary::periodic, Boundary::hold}, {2, {20, 20, 1}}, 0, 1, kWholeStep));

  const Stencil said = defined(std::string(kTwoFields) + "[hold]\nu1 = \"v\"\n");
  EXPECT_EQ(names(said, analyse_step(said).stages[0].layers_of), (Names{"v"}));
  EXPECT_NE(stencil_key(said), stencil_key(unsaid));
}

TEST(Step, LayersOfAnIntermediateFollowAFieldThatStepsChangeThere) {
  const auto follows = [](const char* flux) {
    const Stencil stencil = defined(fmt::format(R"toml(
fields = ["p", "flux", "p_next"]
[[stage]]
flux = "{}"
[[stage]]
p_next = "p[x-1] + flux[x-1]"
[rotate]
p_next = "p"
)toml",
                                                flux));
    return find_intermediate(analyse_step(stencil), 1)->follows;
  };
  EXPECT_TRUE(follows("p[x-2] - p")) << "p_next is written in the second column, flux is not";
  EXPECT_FALSE(follows("p[x-1] - p"));
}

TEST(Step, OlderTimeLevelsComeToTheLayersOfTheFieldThatTheyWere) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "old", "older", "probe", "u_next"]
[update]
u_next = "2*u - old[x-1] + older"
probe = "u[x-1]"
[rotate]
u_next = "u"
u = "old"
old = "older"
)toml");
  EXPECT_EQ(names(stencil, analyse_step(stencil).layers_at), (Names{"u", "u", "u", "probe", "u"}));
}

TEST(Step, AnOutputThatNobodyReadsIsLeftByTheLastStep) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "slope", "u_next"]
[update]
slope = "u[x+1] - u"
u_next = "u[x-1]"
[rotate]
u_next = "u"
)toml");
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.state), (Names{"u"}));
  EXPECT_EQ(names(stencil, step.stages[0].state_out), (Names{"u_next"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 4)), (Names{"slope", "u_next"}));
}

TEST(Step, AFieldThatIsWrittenInPlaceIsState) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "t"]
[[stage]]
t = "u[x+1]"
[[stage]]
u = "t[x-1]"
)toml");
  const StepFacts step = analyse_step(stencil);
  EXPECT_EQ(names(stencil, step.state), (Names{"u"}));
  EXPECT_EQ(names(stencil, step.becomes), (Names{"u"}));
  EXPECT_EQ(names(stencil, step.stages[0].state_out), (Names{"t"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 2)), (Names{"u"}));
}

TEST(Step, StagesWithoutStateFuseWithinAStep) {
  const Stencil stencil = defined(R"toml(
fields = ["in", "blurred", "out"]
[[stage]]
blurred = "in[x-1] + in[x+1]"
[[stage]]
out = "in - blurred[y+1]"
)toml");
  const StepFacts step = analyse_step(stencil);
  EXPECT_TRUE(step.state.empty());
  EXPECT_EQ(names(stencil, step.constants), (Names{"in"}));
  EXPECT_EQ(names(stencil, step.stages[0].state_out), (Names{"blurred"}));
  EXPECT_EQ(names(stencil, stored_fields(step, 1)), (Names{"out"}));
}

TEST(Step, LevelsOfFusedStepsPassOnWhatLaterOnesNeed) {
  const Stencil stencil = yee();
  const std::vector<FusedLevel> levels = fused_levels(analyse_step(stencil), 2);
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(names(stencil, levels[0].in), (Names{"e", "h"}));
  EXPECT_EQ(names(stencil, levels[0].out), (Names{"e", "h_next"}));
  EXPECT_EQ(names(stencil, levels[1].out), (Names{"e_next", "h_next"}));
  EXPECT_EQ(levels[2].stage, 0);
  EXPECT_EQ(names(stencil, levels[2].in), (Names{"e", "h"}));
  EXPECT_EQ(names(stencil, levels[3].in), (Names{"e", "h_next"}));
  EXPECT_EQ(names(stencil, levels[3].out), (Names{"h_next", "e_next"}));  // in the order in which they are stored
}

TEST(Step, ConstantsThatAreReadBesideTheCellTravelWithTheState) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "k", "d", "u_next"]
[update]
u_next = "u + d*(k[x+1]*u[x+1] - k*u)"
[rotate]
u_next = "u"
)toml");
  const std::vector<FusedLevel> levels = fused_levels(analyse_step(stencil), 2);
  EXPECT_EQ(names(stencil, levels[0].in), (Names{"u", "k"}));
  EXPECT_EQ(names(stencil, levels[0].out), (Names{"u_next", "k"}));
  EXPECT_EQ(names(stencil, levels[1].in), (Names{"u", "k"}));
  EXPECT_EQ(names(stencil, levels[1].out), Names{"u_next"});
}

TEST(Step, SaysWhatCannotBeFused) {
  EXPECT_EQ(analyse_step(defined(R"toml(
fields = ["u", "t", "v"]
[[stage]]
t = "u[x+1]"
[[stage]]
v = "t[x-1]"
[[stage]]
t = "v"
)toml"))
                .obstacle,
            "field 't' is written by two stages of a step");
  EXPECT_EQ(analyse_step(defined(R"toml(
fields = ["u", "t", "u_next"]
[[stage]]
t = "u_next[x+1]"
[[stage]]
u_next = "t + u"
[rotate]
u_next = "u"
)toml"))
                .obstacle,
            "field 'u_next' is read before it is written, and its buffer becomes another field's after a step");
}

}  // namespace
}  // namespace stencil_tune
