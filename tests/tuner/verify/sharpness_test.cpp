#include "tuner/verify/sharpness.hpp"

#include "generator/definition/definition.hpp"
#include "tests/tuner/verify/sharpness_cases.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace stencil_tune {
namespace {

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

// ---- every check is sharp, or says why not --------------------------------------------------------------------------

void expect_sharp(const std::vector<SharpnessCase>& cases, Boundary boundary) {
  for (const SharpnessCase& one : cases) {
    const Sharpness sharpness = sharpness_of(one, boundary);
    EXPECT_FALSE(is_blunt(one, boundary, sharpness))
        << name(boundary) << " " << title(one) << ": " << to_text(sharpness);
  }
}

TEST(Sharpness, OfTheCorpusAndOfSmallBuiltInsIsEnoughForEveryTypeAndNumberOfSweeps) {
  auto cases = sharpness_cases(/*highest_order=*/2, {1, 2, 4, 8, 12, 16, 32});
  std::erase_if(cases, [](const auto& one) { return one.stage == kWholeStep && one.sweeps > 1; });  // they take long
  EXPECT_GT(cases.size(), 700);
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const auto& one) { return one.stage == kWholeStep; }));
  expect_sharp(cases, Boundary::hold);
}

TEST(Sharpness, IsEnoughUnderEveryBoundary) {
  const auto cases = sharpness_cases(1, {1, 8});
  EXPECT_GT(cases.size(), 100);
  for (const Boundary boundary : {Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    expect_sharp(cases, boundary);
  }
}

/// Periodic grids are measured with zeros beyond the edges of a few cells: many periodic ones are as sharp.
TEST(Sharpness, OfASmallGridHoldsOnALargePeriodicOne) {
  for (const auto& [name, sweeps] : {std::pair{"box2d2r", 16}, std::pair{"box2d12r", 4}}) {
    const Problem problem = make_problem(find_builtin(name), ElementType::f32, everywhere(Boundary::periodic),
                                         {2, {100, 100, 1}}, 0, sweeps);
    const auto [numbers, sharpness] = sharp_numbers(problem, sweeps);
    EXPECT_GE(sharpness.share, kSharp) << name;
    EXPECT_GE(compare_wrong_kernels(problem, numbers, sweeps).sharpness().share, kSharp) << name;
  }
}

// ---- wrong kernels are rejected -------------------------------------------------------------------------------------

struct WrongKernelCase {
  std::string stencil;
  ElementType type;
  int sweeps;
};

std::string title(const WrongKernelCase& c) {
  return c.stencil + "_" + std::string(name(c.type)) + "_" + std::to_string(c.sweeps);
}

class WrongKernels : public testing::TestWithParam<WrongKernelCase> {
 protected:
  void SetUp() override {
    const Stencil stencil = load_definition("corpus/" + GetParam().stencil + ".toml");
    const Extents extents = stencil.rank == 2 ? Extents{2, {67, 59, 1}} : Extents{3, {29, 25, 23}};
    problem_ = make_problem(stencil, GetParam().type, everywhere(Boundary::periodic), extents, 0, GetParam().sweeps);
    const CheckNumbers numbers = sharp_numbers(*problem_, GetParam().sweeps).numbers;
    const auto inputs = host_inputs(*problem_, 7, numbers.input);
    sweeps_.clear();
    for (auto& step : evaluate_steps(*problem_, inputs, numbers.coefficients, numbers.exact, GetParam().sweeps)) {
      sweeps_.push_back(std::move(step.front()));
    }
  }

  const ReferenceField& right() const { return sweeps_.back(); }
  double stored(double value) const { return round_to_storage(value, problem_->type); }

  /// Cells whose results, as they are stored, differ from the right ones, and how many of those a check accepts.
  void expect_rejected(const std::function<double(std::size_t)>& wrong, double least_differ) const {
    int differ = 0, accepted = 0;
    for (std::size_t i = 0; i < right().value.size(); ++i) {
      const double result = stored(wrong(i));
      if (result == stored(right().value[i])) continue;
      ++differ;
      if (right().accepts(i, result)) ++accepted;
    }
    EXPECT_GT(differ, least_differ * static_cast<double>(right().value.size()));
    EXPECT_LT(accepted, 0.05 * differ);
  }

  std::optional<Problem> problem_;
  std::vector<ReferenceField> sweeps_;
};

TEST_P(WrongKernels, AreRejectedThatMakeOneSweepTooFewStoreZerosOrStandOneCellOff) {
  const bool life = GetParam().stencil == "life";
  const double least = life ? 0.1 : 0.9;
  expect_rejected([&](std::size_t i) { return sweeps_[sweeps_.size() - 2].value[i]; }, least);
  expect_rejected([](std::size_t) { return 0.0; }, least);
  const std::size_t row = static_cast<std::size_t>(problem_->pitch);
  const std::size_t cells = right().value.size();
  for (const std::size_t off : {std::size_t{1}, row, row * static_cast<std::size_t>(problem_->extents.n[1])}) {
    if (off < cells) expect_rejected([&](std::size_t i) { return right().value[(i + off) % cells]; }, least);
  }
}

TEST_P(WrongKernels, RightResultsAreAccepted) {
  for (std::size_t i = 0; i < right().value.size(); ++i) EXPECT_TRUE(right().accepts(i, stored(right().value[i])));
}

INSTANTIATE_TEST_SUITE_P(
    , WrongKernels,
    testing::Values(WrongKernelCase{"heat2d", ElementType::f32, 16}, WrongKernelCase{"heat3d", ElementType::f32, 16},
                    WrongKernelCase{"advection2d", ElementType::f32, 16},
                    WrongKernelCase{"heat2d", ElementType::f16, 8}, WrongKernelCase{"heat3d", ElementType::f16, 8},
                    WrongKernelCase{"advection2d", ElementType::f16, 8},
                    WrongKernelCase{"heat2d", ElementType::bf16, 8}, WrongKernelCase{"heat3d", ElementType::bf16, 8},
                    WrongKernelCase{"life", ElementType::f32, 8}, WrongKernelCase{"life", ElementType::bf16, 4}),
    [](const auto& c) { return title(c.param); });

// ---- what is measured and chosen ------------------------------------------------------------------------------------

Problem of_expression(const std::string& text, ElementType type = ElementType::f32) {
  return make_problem(parse_stencil(text, 1), type, everywhere(Boundary::zero), {1, {64, 1, 1}}, 0, 8);
}

TEST(Sharpness, OfLooseBoundsIsLow) {
  // Each sweep multiplies errors by 5, but leaves values as they are: u + 2 (u - u) written so that no one sees it.
  const Problem problem = of_expression("u_next = sqrt((u + 2 * abs(u[x+1]) - 2 * abs(u[x+1])) ^ 2)");
  const Sharpness blunt = compare_wrong_kernels(problem, random_numbers(problem), 16).sharpness();
  EXPECT_LT(blunt.share, kSharp);
  EXPECT_TRUE(why_not_sharp(blunt, 16)->starts_with("cannot be verified")) << *why_not_sharp(blunt, 16);
  const Problem plain = of_expression("u_next = 0.5 * u + 0.25 * u[x+1]");
  EXPECT_FALSE(why_not_sharp(compare_wrong_kernels(plain, random_numbers(plain), 16).sharpness(), 16));
}

TEST(Sharpness, NotesWhatMathematicsMakesEqual) {
  // Settled after a sweep: from then on each cell is the least that it has been.
  const Problem problem = of_expression("u_next = min(u, 0.25)");
  const SharpNumbers chosen = sharp_numbers(problem, 4);
  EXPECT_GE(chosen.sharpness.share, kSharp);
  EXPECT_NE(chosen.sharpness.note.find("3 and 4 sweeps are equal in 100 % of the cells"), std::string::npos)
      << chosen.sharpness.note;
}

TEST(Sharpness, IsThatOfTheLeastSharpComparison) {
  Comparisons comparisons;
  comparisons.cells = 100;
  comparisons.all = {{"3 and 4 sweeps", 100, 80, 60}, {"results and zeros", 100, 100, 100}};
  EXPECT_EQ(comparisons.sharpness().share, 0.75) << "of the cells that differ";
  EXPECT_EQ(comparisons.strength(), 0.6) << "of all cells";
}

TEST(Sharpness, CountsCellsThatMayHoldAnything) {
  const Problem problem = of_expression("u_next = 0.5 * u / (u[x+1] - u[x+1])");
  const Comparisons comparisons = compare_wrong_kernels(problem, random_numbers(problem), 4);
  EXPECT_GT(comparisons.unbounded, comparisons.cells / 2);
  EXPECT_EQ(comparisons.sharpness().share, 0);
  EXPECT_NE(comparisons.sharpness().note.find("may hold anything"), std::string::npos);
}

TEST(SharpNumbers, StandOnBothSidesOfAThreshold) {
  const Problem problem = of_expression("u_next = min(u[x+1], limit); limit = 20");
  const auto [input, exact, coefficients] = sharp_numbers(problem, 1).numbers;
  int below = 0;
  const std::vector<double> cells = host_input(problem, 1, 0, input);
  for (const double cell : cells) below += cell < coefficients[0] ? 1 : 0;
  EXPECT_GT(below, 0);
  EXPECT_LT(below, static_cast<int>(cells.size()));
}

TEST(SharpNumbers, SayWhichDecisionsTheyNeverMake) {
  const Problem problem = of_expression("u_next = select(u * u < -1, 7, 0.5 * u[x+1])");
  EXPECT_NE(sharp_numbers(problem, 1).sharpness.note.find("decisions fall one way"), std::string::npos);
}

}  // namespace
}  // namespace stencil_tune
