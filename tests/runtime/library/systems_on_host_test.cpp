// Kernel::advance of whole systems with fused steps and stages on the host executor, against the reference.
#include "tests/runtime/library/systems_on_host.hpp"
#include "generator/definition/definition.hpp"
#include "generator/stencil/passes.hpp"
#include "runtime/library/launch/layer_copier.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "tests/generator/systems.hpp"
#include "tests/kernels/random/random_run.hpp"
#include "tests/kernels/random/random_systems.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace stencil_tune {
namespace {

using testing::kHold;
using testing::kMixed;
using testing::kReaction;
using testing::kThreeStages;
using testing::kWave;
using testing::kYee;

/// There and back, without a rotation.
constexpr const char* kInPlace = R"toml(
name = "in_place"
rank = 2
fields = ["a", "b"]
[[stage]]
b = "0.5*a + 0.25*(a[x-1] + a[y+1])"
[[stage]]
a = "0.5*b + 0.25*(b[x+1] + b[y-1])"
)toml";

/// Outputs in another order than the fields that they become, each the other's.
constexpr const char* kCrossed = R"toml(
name = "crossed"
rank = 2
fields = ["u_next", "v_next", "u", "v"]
[update]
u_next = "0.5*v[x-1] + 0.5*u"
v_next = "0.5*u[x+1] + 0.25*v[y-1]"
[rotate]
v_next = "u"
u_next = "v"
)toml";

/// An older time level is read at neighbours: its held layers count in the first step.
constexpr const char* kOlder = R"toml(
name = "older"
rank = 2
fields = ["p", "q", "r", "p_next"]
[update]
p_next = "0.5*p[x+1] - 0.25*q[x-1] + 0.125*r[y+1]"
[rotate]
p_next = "p"
p = "q"
q = "r"
)toml";

/// Two estimates, each with the layers of its own field, and a probe.
constexpr const char* kEstimates = R"toml(
name = "estimates"
rank = 2
fields = ["v1", "u", "v", "u1", "probe", "u_next", "v_next"]
[[stage]]
u1 = "u + 0.5*v[x+1]"
v1 = "v - 0.5*u[y-1]"
[[stage]]
u_next = "0.5*(u + u1 + 0.5*v1[x+1])"
v_next = "0.5*(v + v1[y-1] - 0.5*u1[x-1])"
probe = "u1[x+1] - u1"
[hold]
u1 = "u"
v1 = "v"
)toml";

using Fields = std::vector<std::vector<double>>;

Problem on_a_grid(const char* definition, const Boundaries& boundaries, int steps) {
  return make_problem(parse_definition(definition, "system.toml"), ElementType::f64, boundaries, {2, {150, 41, 1}}, 0,
                      steps, kWholeStep);
}

Fields random_fields(const Problem& problem) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Fields fields(problem.stencil.fields.size(),
                std::vector<double>(static_cast<std::size_t>(problem.allocated_cells())));
  for (auto& field : fields) std::generate(field.begin(), field.end(), [&] { return uniform(random); });
  return fields;
}

void expect_right(const Problem& problem, Kernel& kernel, int steps) {
  Fields before = random_fields(problem);
  Fields now = before;
  std::vector<void*> fields;
  for (auto& field : now) fields.push_back(field.data());
  const std::vector<void*> own = fields;
  kernel.advance(nullptr, fields, steps);
  EXPECT_TRUE(std::is_permutation(fields.begin(), fields.end(), own.begin())) << "the caller's buffers only";

  std::vector<double> coefficients;
  for (const Coefficient& coefficient : problem.stencil.coefficients) coefficients.push_back(coefficient.value);
  Fields inputs;
  for (const int field : kernel_inputs(problem, steps)) inputs.push_back(before[static_cast<std::size_t>(field)]);
  for (const ReferenceField& expected : evaluate_reference(problem, inputs, coefficients, false, steps)) {
    int field = expected.field;
    for (const Rotation& rotation : problem.stencil.rotations) {
      if (rotation.from == expected.field) field = rotation.to;
    }
    const auto* found = static_cast<const double*>(fields[static_cast<std::size_t>(field)]);
    for (std::size_t i = 0; i < expected.value.size(); ++i) {
      const double layer = before[static_cast<std::size_t>(problem.step.layers_at[static_cast<std::size_t>(field)])][i];
      ASSERT_TRUE(expected.tolerance[i] < 0 ? found[i] == layer : expected.accepts(i, found[i]))
          << problem.stencil.name << ", field " << field << ", cell " << i << " after " << steps
          << " steps: " << found[i];
    }
  }
}

/// Field b is written in every step, and nothing of it is left after it.
constexpr const char* kBufferWithoutAValue = R"toml(
name = "buffer_without_a_value"
rank = 1
fields = ["b", "u", "u_old", "u_next"]
[[stage]]
b = "0.5*u + 0.25*u_old[x-1]"
[[stage]]
u_next = "0.5*b[x+1] + 0.25*u"
[rotate]
u_next = "u"
u = "u_old"
)toml";

TEST_F(SystemsOnHost, NoFieldIsLeftInASpareBuffer) {
  const Boundaries zero{Boundary::zero, Boundary::zero, Boundary::zero};
  const Problem problem = make_problem(parse_definition(kBufferWithoutAValue, "system.toml"), ElementType::f64, zero,
                                       {1, {150, 1, 1}}, 0, 1, kWholeStep);
  Kernel kernel = lookup(problem, {winner(problem, 100, 2)});
  EXPECT_GT(kernel.workspace_bytes(), 0U);
  kernel.prepare();
  for (const int steps : {1, 2, 3, 4, 5}) expect_right(problem, kernel, steps);
}

TEST_F(SystemsOnHost, EveryNumberOfStepsIsThatOfTheReferenceInTheCallersBuffers) {
  for (const auto& [definition, boundaries] : {std::pair{kWave, kHold},
                                               {kReaction, kMixed},
                                               {kYee, kHold},
                                               {kInPlace, kMixed},
                                               {kCrossed, kHold},
                                               {kOlder, kHold},
                                               {kEstimates, kHold}}) {
    const Problem problem = on_a_grid(definition, boundaries, 1);
    Kernel kernel = lookup(problem, {winner(problem, 100, 3)});
    EXPECT_EQ(kernel.fused_steps(), 3) << problem.stencil.name;
    kernel.prepare();
    for (const int steps : {1, 2, 3, 4, 6, 9, 11}) expect_right(problem, kernel, steps);
  }
}

TEST_F(SystemsOnHost, ASingleLaunchLeavesTheLayersOfItsOutputsAloneAndFillsThoseOfIntermediates) {
  const Problem problem = on_a_grid(kEstimates, kHold, 1);
  Kernel kernel = lookup(problem, {});
  kernel.prepare();
  const Fields before = random_fields(problem);
  Fields now = before;
  std::vector<void*> fields;
  for (auto& field : now) fields.push_back(field.data());
  kernel.launch(nullptr, fields);
  const auto field_of = [&](const char* name) {
    const auto& names = problem.stencil.fields;
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const auto row = static_cast<std::size_t>(problem.pitch), last = row - 1;  // where the second row begins
  EXPECT_EQ(now[field_of("u1")][row + last], before[field_of("u")][row + last]) << "u1 reads v[x+1]";
  EXPECT_EQ(now[field_of("v1")][1], before[field_of("v")][1]) << "v1 reads u[y-1]";
  EXPECT_EQ(now[field_of("u_next")][row + last], before[field_of("u_next")][row + last]);
}

TEST_F(SystemsOnHost, GridsSmallerThanATileAreAdvancedStageByStage) {
  for (const auto& [definition, boundaries] : {std::pair{kYee, kHold}, {kWave, kMixed}}) {
    const Problem large = on_a_grid(definition, boundaries, 1);
    const Problem problem = make_problem(large.stencil, large.type, boundaries, {2, {13, 9, 1}}, 0, 1, kWholeStep);
    Kernel kernel = lookup(problem, {winner(large, 100, 3)});
    EXPECT_EQ(kernel.fused_steps(), 1) << problem.stencil.name;
    EXPECT_FALSE(kernel.fuses_stages());
    kernel.prepare();
    for (const int steps : {1, 2, 5}) expect_right(problem, kernel, steps);
  }
}

/// The first legal one of so many fused steps or fewer, on a grid that its tiles do not divide.
std::optional<Problem> random_problem(std::uint64_t seed, int fused) {
  Draw draw(seed);
  const Stencil system = random_system(draw);
  using enum Boundary;
  const Boundaries boundaries{draw.one_of({hold, zero, clamp, periodic, reflect}),
                              draw.one_of({hold, zero, clamp, periodic, reflect}),
                              draw.one_of({hold, zero, clamp, periodic, reflect})};
  const Extents extents{system.rank, {150, system.rank > 1 ? 41 : 1, system.rank > 2 ? 23 : 1}};
  Problem problem = make_problem(system, ElementType::f64, boundaries, extents, 0, fused, kWholeStep);
  const bool served = family_named("system").serves(problem) && default_candidate(family_named("system"), problem, {});
  const bool starts_again = !system.rotations.empty();
  if (!served || !starts_again || updated_box(problem).cells() == 0) return std::nullopt;
  problem.steps = 1;
  return problem;
}

/// Some in every run of the tests; one for ten random kernels where a number of these is asked for.
RandomRun random_systems() {
  if (std::getenv("STENCIL_TUNE_CASES") == nullptr) return {.seed = 1, .cases = 2};
  RandomRun run = random_run(0, nullptr, 0);
  run.cases = std::max<std::uint64_t>(2, run.cases / 10);
  return run;
}

TEST_F(SystemsOnHost, RandomSystemsAdvanceLikeTheReference) {
  constexpr int kFused = 2;
  const RandomRun run = random_systems();
  std::uint64_t seed = run.seed;
  for (std::uint64_t tried = 0; tried < run.cases; ++seed) {
    const std::optional<Problem> problem = random_problem(seed, kFused);
    if (!problem) continue;
    ++tried;
    SCOPED_TRACE(seed);
    Kernel kernel = lookup(*problem, {winner(*problem, 100, kFused)});
    kernel.prepare();
    for (const int steps : {1, 2, 5}) expect_right(*problem, kernel, steps);
  }
}

TEST_F(SystemsOnHost, AllStagesOfAStepAreOneLaunch) {
  const Problem problem = on_a_grid(kYee, kHold, 1);
  Kernel kernel = lookup(problem, {winner(problem, 1, 1)});
  EXPECT_EQ(kernel.fused_steps(), 1);
  EXPECT_TRUE(kernel.fuses_stages());
  EXPECT_EQ(kernel.run_evidence().tuned_code, winner(problem, 1, 1).trial.code);
  EXPECT_EQ(kernel.evidence(1).match, Match::default_candidate);
  const std::string exported = kernel.export_cuda({.name = "yee"}, kWholeStep).source;
  EXPECT_NE(exported.find(winner(problem, 1, 1).trial.code), std::string::npos);
  EXPECT_NE(exported.find("cudaError_t yee_advance("), std::string::npos);
  kernel.prepare();
  driver_.launched = 0;
  expect_right(problem, kernel, 5);
  EXPECT_EQ(driver_.launched, 5);
}

TEST_F(SystemsOnHost, StagesAloneMakeStepsWhereTheyAreKnownToBeFaster) {
  const Problem problem = on_a_grid(kYee, kHold, 1);
  std::vector<WinnerRecord> winners{winner(problem, 100, 2)};
  for (const int stage : {0, 1}) {
    winners.push_back(winners.front());
    winners.back().trial.problem.stage = stage;
    winners.back().trial.problem.steps = 1;
    winners.back().trial.code = "direct.bx32.by4";
    winners.back().trial.rate = 4;  // half of that together
  }
  Kernel kernel = lookup(problem, winners);
  EXPECT_EQ(kernel.fused_steps(), 1);
  EXPECT_FALSE(kernel.fuses_stages());
  EXPECT_NE(kernel.evidence(0).sentence().find("stage by stage (2.0"), std::string::npos);
  EXPECT_EQ(kernel.evidence(0).gstencils, 4);
  EXPECT_EQ(kernel.run_evidence().gstencils, 2);
  EXPECT_DOUBLE_EQ(kernel.run_evidence().share, kernel.evidence(0).share);
  EXPECT_THROW(kernel.export_cuda({}, kWholeStep), Error) << "there is no kernel for a whole step";
  kernel.prepare();
  expect_right(problem, kernel, 4);
}

/// Stages that share the pass know a faster kernel than they have alone.
std::vector<WinnerRecord> winners_with_pass(const Problem& step, const StageRange& shared) {
  std::vector<WinnerRecord> winners;
  for (int stage = 0; stage < static_cast<int>(step.stencil.stages.size()); ++stage) {
    winners.push_back(winner(step, 1, 1));
    winners.back().trial.problem.stage = stage;
    winners.back().trial.code = "direct.bx32.by4";
    winners.back().trial.rate = 4;
  }
  winners.push_back(winner(pass_problem(step, shared), 1, 1));
  winners.back().trial.rate = 3;  // more than two passes of 4
  return winners;
}

TEST_F(SystemsOnHost, StagesShareAPassWhereThatIsKnownToBeFaster) {
  for (const Boundaries& boundaries : {kHold, kMixed}) {
    for (const StageRange shared : {StageRange{0, 2}, StageRange{1, 2}}) {
      SCOPED_TRACE(to_string(shared));
      const Problem problem = on_a_grid(kThreeStages, boundaries, 1);
      Kernel kernel = lookup(problem, winners_with_pass(problem, shared));
      EXPECT_EQ(kernel.fused_steps(), 1);
      EXPECT_FALSE(kernel.fuses_stages());
      kernel.prepare();
      driver_.launched = 0;
      expect_right(problem, kernel, 5);
      EXPECT_EQ(driver_.launched, 10) << "two passes a step";
    }
  }
}

TEST_F(SystemsOnHost, WhatFusedStepsLeaveOverIsMadeInSharedPasses) {
  const Problem problem = on_a_grid(kThreeStages, kHold, 1);
  std::vector<WinnerRecord> winners = winners_with_pass(problem, {0, 2});
  winners.push_back(winner(problem, 100, 2));
  winners.back().trial.rate = 5;
  Kernel kernel = lookup(problem, winners);
  EXPECT_EQ(kernel.fused_steps(), 2);
  kernel.prepare();
  driver_.launched = 0;
  expect_right(problem, kernel, 5);
  EXPECT_EQ(driver_.launched, 4) << "two of two steps, and two passes";
}

TEST_F(SystemsOnHost, SpareBuffersAreTheWorkspaceOfTheStreamThatWasPrepared) {
  const Problem problem = on_a_grid(kWave, kHold, 1);
  Kernel kernel = lookup(problem, {winner(problem, 100, 2)});
  EXPECT_GE(kernel.workspace_bytes(), problem.field_bytes());
  kernel.prepare();
  Fields cells = random_fields(problem);
  std::vector<void*> fields;
  for (auto& field : cells) fields.push_back(field.data());
  kernel.advance(nullptr, fields, 2);
  auto* const other = reinterpret_cast<CUstream_st*>(std::uintptr_t{7});
  EXPECT_THROW(kernel.advance(other, fields, 2), Error);
  kernel.prepare(other);
  EXPECT_NO_THROW(kernel.advance(other, fields, 2));
}

}  // namespace
}  // namespace stencil_tune
