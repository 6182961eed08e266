// Kernel::advance with fused steps on the host executor, against repeated plain sweeps.
#include "generator/definition/definition.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/library/host_driver.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace stencil_tune {
namespace {

constexpr const char* kFused = "temporal.bx32.by4.rx2.ry2.v2.pf2.t3";

/// Nothing is known but that the candidate won a run of 100 steps.
Library library_on(HostDriver& driver, const Problem& problem, const char* code = kFused) {
  WinnerRecord winner;
  winner.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                          .stencil_name = problem.stencil.name,
                          .type = problem.type,
                          .boundaries = problem.boundaries,
                          .extents = problem.extents,
                          .pitch = problem.pitch,
                          .steps = 100};
  winner.trial.platform.architecture = "sm_90";
  winner.trial.code = code;
  LibraryParts parts;
  parts.driver = [&driver]() -> Driver& { return driver; };
  parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
  parts.winners = [winner](const Problem&, const std::string&) { return std::vector{winner}; };
  return Library(std::make_unique<Library::Impl>(std::move(parts)));
}

/// The kernel of a library that knows that winner.
Kernel prepared(HostDriver& driver, const Problem& problem, const char* code = kFused) {
  Library library = library_on(driver, problem, code);
  Kernel kernel = library.lookup({.stencil = problem.stencil,
                                  .type = problem.type,
                                  .extents = problem.extents,
                                  .boundaries = problem.boundaries,
                                  .alignment = 16,
                                  .steps = 100});
  kernel.prepare();
  return kernel;
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
void expect_right(const Problem& problem, int steps, int launches, const char* code = kFused) {
  Fields now = make_fields(problem);
  const Fields before = now;
  HostDriver driver;
  const Kernel kernel = prepared(driver, problem, code);
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

TEST(MeasuredRuns, WhatStopThrowsIsThrownOnceFieldsAreInTheirPlaces) {
  const Stencil blur = parse_stencil("u_next = 0.5*u + 0.25*(u[x-1] + u[x+1]); measure mass = sum(u)", 3);
  const Boundaries periodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
  const Problem problem = make_problem(blur, ElementType::f64, periodic, {.rank = 3, .n = {66, 13, 9}});
  Fields now = make_fields(problem);
  const Fields before = now;
  HostDriver driver;
  const Kernel kernel = prepared(driver, problem);
  std::vector<void*> fields{now[0].data(), now[1].data()};
  const double mass = std::accumulate(before[0].begin(), before[0].end(), 0.0);
  const auto stop = [&](std::int64_t steps, Span<const double> numbers) -> bool {
    EXPECT_EQ(steps, 4);
    EXPECT_NEAR(numbers[0], mass, 1e-9);
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(kernel.advance_until({4, stop}, nullptr, fields, 100), std::runtime_error);
  const ReferenceField expected = reference_after(problem, before, 8);  // the next four were on their way
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    ASSERT_TRUE(expected.accepts(i, static_cast<const double*>(fields[0])[i])) << "cell " << i;
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

/// One binary makes launches of 40 steps, of those that a run of 100 has left, and of half as many, and so on.
TEST(AdvanceOnHost, LaunchesOfAResidentKernelMakeAsManyStepsAsAreLeft) {
  constexpr const char* kResident = "resident.bx256.ry2.rz2.tx33.ty13.tz5.ex2.t40";
  const Extents grid{.rank = 3, .n = {66, 13, 9}};
  const Boundaries mixed{Boundary::periodic, Boundary::hold, Boundary::clamp};
  expect_right(make_problem(make_builtin(Shape::star, 3, 1), ElementType::f64, mixed, grid), 67, 4, kResident);
  const Stencil hotspot = load_stencil("corpus/hotspot3d.toml");
  expect_right(make_problem(hotspot, ElementType::f64, {}, grid), 48, 3 + 1, kResident);  // 40, 5, 2 and a single one
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

  std::vector<double> flux = before[0];  // where it is not computed it stands for p
  for (std::size_t x = 3; x < kCells; ++x) flux[x] = before[0][x - 3] - before[0][x];
  const auto* p = static_cast<const double*>(fields[0]);
  for (std::size_t x = 0; x + 1 < kCells; ++x) {
    EXPECT_NEAR(p[x], 0.5 * (before[1][x] + flux[x + 1] - flux[x]), 1e-12) << x;
  }
  EXPECT_EQ(p[kCells - 1], before[0][kCells - 1]);
}

// ---- coordinates and the step's number ------------------------------------------------------------------------------

/// What a user gets for whom nothing was tuned.
Kernel untuned_kernel(HostDriver& driver, const Stencil& stencil, const Boundaries& boundaries,
                      const Extents& extents) {
  LibraryParts parts;
  parts.driver = [&driver]() -> Driver& { return driver; };
  parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
  parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
  Library library(std::make_unique<Library::Impl>(std::move(parts)));
  Kernel kernel = library.lookup(
      {.stencil = stencil, .type = ElementType::f64, .extents = extents, .boundaries = boundaries, .alignment = 16});
  kernel.prepare();
  return kernel;
}

Stencil placed_stencil(const std::string& update) {
  return parse_definition("rank = 3\nfields = [\"u\", \"u_next\"]\n[update]\nu_next = \"" + update + "\"\n", "p.toml");
}

TEST(AdvanceOnHost, EveryStepHasTheNumberAfterTheLastOnes) {
  const Stencil stencil = placed_stencil("0.5*u[x-1] + 0.01*(x + 10*y[y+1] - z) + cos(t)*u[z+1]");
  const Boundaries boundaries{Boundary::periodic, Boundary::hold, Boundary::zero};
  const Problem problem = make_problem(stencil, ElementType::f64, boundaries, {.rank = 3, .n = {35, 6, 5}});
  Fields now = make_fields(problem);
  const Fields before = now;
  HostDriver driver;
  const Kernel kernel = untuned_kernel(driver, stencil, boundaries, problem.extents);
  std::vector<void*> fields{now[0].data(), now[1].data()};
  kernel.advance_at(kCheckPlace, nullptr, fields, 3);
  EXPECT_EQ(driver.launched, 3);
  const ReferenceField expected = reference_after(problem, before, 3);
  const auto* newest = static_cast<const double*>(fields[0]);
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    ASSERT_TRUE(expected.accepts(i, newest[i])) << "cell " << i << ": " << newest[i] << ", not " << expected.value[i];
  }
}

TEST(AdvanceOnHost, StatesStayBehindAndAreReadBackwards) {
  constexpr std::size_t kSteps = 4;
  const Boundaries boundaries{Boundary::periodic, Boundary::hold, Boundary::zero};
  const Extents extents{.rank = 3, .n = {35, 6, 5}};
  const Problem problem =
      make_problem(placed_stencil("0.5*u[x-1] + 0.1*u[y+1] + t*u[z+1]"), ElementType::f64, boundaries, extents);
  const Fields given = make_fields(problem);
  const std::size_t cells = given[0].size();
  const std::int64_t bytes = static_cast<std::int64_t>(cells * sizeof(double));
  std::vector<double> first = given[0], states(kSteps * cells, -1);
  HostDriver driver;
  const Kernel kernel = untuned_kernel(driver, problem.stencil, boundaries, extents);
  std::vector<void*> fields{first.data(), states.data()};
  kernel.advance_with_histories(std::vector<History>{{.field = 1, .bytes = bytes}}, nullptr, {}, nullptr, fields,
                                kSteps, {}, kCheckPlace);
  EXPECT_EQ(fields[0], &states[(kSteps - 1) * cells]);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const ReferenceField expected = reference_after(problem, given, static_cast<int>(step + 1));
    for (std::size_t i = 0; i < cells; ++i) {
      ASSERT_TRUE(expected.accepts(i, states[step * cells + i])) << "step " << step << ", cell " << i;
    }
  }

  // Sums over the states, the last one first: 1 * s3, then 2 * (1 * s3) + s2, and so on.
  const Stencil sums = parse_definition(
      "rank = 3\nfields = [\"s\", \"sum\", \"next\"]\n[update]\nnext = \"2*sum + s\"\n[rotate]\nnext = \"sum\"\n",
      "s.toml");
  const Boundaries whole{Boundary::zero, Boundary::zero, Boundary::zero};
  const Kernel summing = untuned_kernel(driver, sums, whole, extents);
  std::vector<double> sum(cells), next(cells);
  std::vector<void*> back{&states[(kSteps - 1) * cells], sum.data(), next.data()};
  summing.advance_with_histories(std::vector<History>{{.field = 0, .bytes = -bytes}}, nullptr, {}, nullptr, back,
                                 kSteps);
  for (std::size_t i = 0; i < cells; ++i) {
    double expected = 0;
    for (std::size_t step = kSteps; step-- > 0;) expected = 2 * expected + states[step * cells + i];
    ASSERT_DOUBLE_EQ(static_cast<const double*>(back[1])[i], expected);
  }
  EXPECT_ERROR(kernel.advance_with_histories(std::vector<History>{{.field = 2, .bytes = bytes}}, nullptr, {}, nullptr,
                                             fields, kSteps),
               ErrorCode::invalid_argument, "2 fields");
  EXPECT_ERROR(kernel.advance_with_histories(std::vector<History>{{.field = 1, .bytes = 4}}, nullptr, {}, nullptr,
                                             fields, kSteps),
               ErrorCode::invalid_argument, "multiple");
}

TEST(AdvanceOnHost, TakesArraysAlongOneAxisAndWhatTheDefinitionSaysOfItsEdges) {
  const Stencil stencil = parse_definition(R"toml(
rank = 3
fields = ["dz(z)", "u", "u_next"]
[coefficients]
q = 0.25
[update]
u_next = "0.5*u*dz + 0.1*dz[z+1]*u[z+1] + 0.1*(u[x-1] + u[x+1] - u[y-1] + u[y+1])"
[boundary]
x = "odd"
y.low = "neumann(q)"
y.high = "reflect"
)toml",
                                           "walls.toml");
  const Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::periodic};
  const Problem problem = make_problem(stencil, ElementType::f64, boundaries, {.rank = 3, .n = {35, 6, 5}});
  Fields now = make_fields(problem);
  now[0] = {0.5, -0.25, 1, 0.75, -1};
  const Fields before = now;
  HostDriver driver;
  const Kernel kernel = untuned_kernel(driver, stencil, boundaries, problem.extents);
  std::vector<void*> fields{now[0].data(), now[1].data(), now[2].data()};
  kernel.advance(nullptr, fields, 3);
  std::vector<double> profile = before[0];
  profile.resize(before[1].size());  // as the reference takes it
  const ReferenceField expected =
      evaluate_reference(problem, Fields{before[1], profile}, std::vector<double>{0.25}, false, 3).front();
  EXPECT_EQ(fields[0], now[0].data()) << "the profile stays where it is";
  const auto* newest = static_cast<const double*>(fields[1]);
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    ASSERT_TRUE(expected.accepts(i, newest[i])) << "cell " << i << ": " << newest[i] << ", not " << expected.value[i];
  }
  fields[0] = nullptr;
  EXPECT_THROW(kernel.advance(nullptr, fields, 1), Error);
}

TEST(AdvanceOnHost, PartsOfADomainComputeWhatTheWholeDoes) {
  const Stencil stencil = placed_stencil("u + sin(0.3*x) + 10*cos(0.2*y) - 100*z + 1000*t");
  HostDriver driver;
  const Extents part{.rank = 3, .n = {33, 5, 4}};
  const Kernel whole = untuned_kernel(driver, stencil, {}, {.rank = 3, .n = {66, 10, 4}});
  const Kernel half = untuned_kernel(driver, stencil, {}, part);
  std::vector<double> u(66 * 10 * 4, 0.25), next(u.size());
  whole.launch_at({{1000, -20, 3}, 9}, nullptr, std::vector<void*>{u.data(), next.data()});
  std::vector<double> found(static_cast<std::size_t>(part.cells()));
  for (const auto& [ox, oy] : {std::pair{0, 0}, {33, 0}, {0, 5}, {33, 5}}) {
    const Place place{{1000 + ox, -20 + oy, 3}, 9};
    half.launch_stage_at(place, 0, nullptr, std::vector<void*>{u.data(), found.data()});
    for (int i = 0; i < part.cells(); ++i) {
      const int x = i % 33 + ox, y = i / 33 % 5 + oy, z = i / 165;
      ASSERT_NEAR(found[static_cast<std::size_t>(i)], next[static_cast<std::size_t>((z * 10 + y) * 66 + x)], 1e-9);
    }
  }
}

}  // namespace
}  // namespace stencil_tune
