// Kernel::advance with fused steps on the host executor, against repeated plain sweeps.
#include "generator/definition/definition.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/library/host_driver.hpp"
#include "tuner/verify/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace stencil_tune {
namespace {

constexpr const char* kFused = "temporal.bx32.by4.rx2.ry2.v2.pf2.t3";

/// Nothing is known but that the candidate won a run of 100 steps.
Library library_on(HostDriver& driver, const Problem& problem) {
  WinnerRecord winner;
  winner.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                          .stencil_name = problem.stencil.name,
                          .type = problem.type,
                          .boundaries = problem.boundaries,
                          .extents = problem.extents,
                          .pitch = problem.pitch,
                          .steps = 100};
  winner.trial.platform.architecture = "sm_90";
  winner.trial.code = kFused;
  LibraryParts parts;
  parts.driver = [&driver]() -> Driver& { return driver; };
  parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
  parts.winners = [winner](const Problem&, const std::string&) { return std::vector{winner}; };
  return Library(std::make_unique<Library::Impl>(std::move(parts)));
}

using Fields = std::vector<std::vector<double>>;

/// Random cells in the inputs; others hold what nobody may read.
Fields make_fields(const Problem& problem) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const std::vector<double> unread(static_cast<std::size_t>(problem.allocated_cells()), -7);
  Fields fields(problem.stencil.fields.size(), unread);
  for (const int input : problem.facts.inputs) {
    for (double& cell : fields[static_cast<std::size_t>(input)]) cell = uniform(random);
  }
  return fields;
}

/// What the field that the steps advance should hold after them.
ReferenceField reference_after(const Problem& problem, const Fields& fields, int steps) {
  Fields inputs;
  for (const int input : problem.facts.inputs) inputs.push_back(fields[static_cast<std::size_t>(input)]);
  std::vector<double> coefficients;
  for (const Coefficient& c : problem.stencil.coefficients) coefficients.push_back(c.value);
  return evaluate_reference(problem, inputs, coefficients, false, steps).front();
}

/// Advances random cells by the steps and compares every cell: what is held with before, all others with the reference;
/// fields that no step changes with before.
void expect_right(const Problem& problem, int steps, int launches) {
  Fields now = make_fields(problem);
  const Fields before = now;
  HostDriver driver;
  Library library = library_on(driver, problem);
  Kernel kernel = library.lookup({.stencil = problem.stencil,
                                  .type = problem.type,
                                  .extents = problem.extents,
                                  .boundaries = problem.boundaries,
                                  .alignment = 16,
                                  .steps = 100});
  kernel.prepare();
  std::vector<void*> fields;
  for (std::vector<double>& field : now) fields.push_back(field.data());
  kernel.advance(nullptr, fields, steps);
  EXPECT_EQ(driver.launched, launches);

  const ReferenceField expected = reference_after(problem, before, steps);
  const auto advanced = static_cast<std::size_t>(problem.stencil.rotations.front().to);
  const auto* newest = static_cast<const double*>(fields[advanced]);
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const bool held = expected.tolerance[i] < 0;
    const double old = before[advanced][i];
    ASSERT_TRUE(held ? newest[i] == old : expected.accepts(i, newest[i]))
        << "cell " << i << ": " << newest[i] << ", expected " << (held ? old : expected.value[i]);
  }
  for (const int input : problem.facts.inputs) {
    const auto field = static_cast<std::size_t>(input);
    if (field == advanced) continue;
    EXPECT_EQ(fields[field], now[field].data());
    EXPECT_EQ(now[field], before[field]);
  }
}

TEST(AdvanceOnHost, FieldsThatNoStepChangesStayWhereTheyAre) {
  const Stencil hotspot = load_stencil("corpus/hotspot3d.toml");
  expect_right(make_problem(hotspot, ElementType::f64, {}, {.rank = 3, .n = {66, 13, 9}}), 7, 2 + 1);
}

TEST(AdvanceOnHost, FusedStepsAndTheRestAreRepeatedSweeps) {
  const Extents grid{.rank = 3, .n = {66, 13, 9}};
  const Stencil star = make_builtin(Shape::star, 3, 1);
  const Boundaries mixed{Boundary::hold, Boundary::clamp, Boundary::periodic};
  expect_right(make_problem(star, ElementType::f64, {}, grid), 7, 2 + 1);
  expect_right(make_problem(star, ElementType::f64, mixed, grid), 8, 2 + 2);
}

TEST(AdvanceOnHost, AStencilThatReadsToOneSideKeepsTheLayersOfThatSide) {
  const Stencil upwind = parse_stencil("u_next = 0.4 * u + 0.3 * u[x-1,y,z] + 0.2 * u[x,y+1,z] + 0.1 * u[x,y,z-1]", 3);
  expect_right(make_problem(upwind, ElementType::f64, {}, {.rank = 3, .n = {66, 13, 9}}), 7, 2 + 1);
}

/// The first stage keeps three layers at the low end, the second one layer at the high end. Buffers of p and p_prev
/// take turns with those that the second stage writes: their cells at the low end are the user's, and are read.
TEST(AdvanceOnHost, StagesKeepTheirOwnLayersOfTheirOwnFields) {
  const Stencil stencil = parse_definition(R"toml(
name = "two_stages"
rank = 1
fields = ["p", "p_prev", "flux", "p_next"]

[[stage]]
flux = "p[x-3] - p"

[[stage]]
p_next = "0.5 * (p_prev + flux[x+1] - flux)"

[rotate]
p_next = "p"
p = "p_prev"
)toml",
                                           "two stages");
  constexpr std::size_t kCells = 20;
  Fields now(4, std::vector<double>(kCells));
  std::mt19937_64 random(1);
  for (std::vector<double>& field : now) {
    for (double& cell : field) cell = std::uniform_real_distribution<double>(-1, 1)(random);
  }
  const Fields before = now;
  HostDriver driver;
  Library library = library_on(driver, make_problem(stencil, ElementType::f64, {}, {.rank = 1, .n = {kCells, 1, 1}}));
  Kernel kernel = library.lookup({.stencil = stencil, .type = ElementType::f64, .extents = {1, {kCells, 1, 1}}});
  kernel.prepare();
  std::vector<void*> fields;
  for (std::vector<double>& field : now) fields.push_back(field.data());
  kernel.advance(nullptr, fields, 1);

  std::vector<double> flux = before[2];
  for (std::size_t x = 3; x < kCells; ++x) flux[x] = before[0][x - 3] - before[0][x];
  const auto* p = static_cast<const double*>(fields[0]);
  for (std::size_t x = 0; x + 1 < kCells; ++x) {
    EXPECT_NEAR(p[x], 0.5 * (before[1][x] + flux[x + 1] - flux[x]), 1e-12) << x;
  }
  EXPECT_EQ(p[kCells - 1], before[0][kCells - 1]);
}

}  // namespace
}  // namespace stencil_tune
