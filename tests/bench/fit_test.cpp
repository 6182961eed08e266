#include "bench/fit/fit.hpp"

#include "bench/fit/least_squares.hpp"
#include "bench/fit/ranking.hpp"
#include "bench/fit/terms.hpp"
#include "generator/candidates/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace stencil_tune {
namespace {

TEST(LeastSquares, FindTheCurveThatPointsLieOn) {
  // Rosenbrock's function: 10 (y - x^2) and 1 - x are both 0 at (1, 1) alone.
  const Residuals rosenbrock = [](const Eigen::VectorXd& at) {
    return Eigen::VectorXd{{10 * (at[1] - at[0] * at[0]), 1 - at[0]}};
  };
  const LeastSquares found = minimize_squares(rosenbrock, Eigen::VectorXd{{-1.2, 1.0}}, 1e-6, 100, {});
  EXPECT_NEAR(found.unknowns[0], 1, 1e-3);
  EXPECT_NEAR(found.unknowns[1], 1, 1e-3);
}

/// As if the model had been right: a GPU that runs each candidate as long as `truth` says.
MeasuredProblem made_by(const Calibration& truth, const Problem& problem, int candidates, std::uint64_t seed) {
  const DeviceModel& device = find_device_model("h200");
  const Limits limits = limits_of_architecture(device.architecture);
  const PerformanceModel model(problem, limits, device, truth);
  const Space space(problem, limits);
  std::mt19937_64 random(seed);
  MeasuredProblem made{problem, {}, 0};
  while (static_cast<int>(made.candidates.size()) < candidates) {
    const Tuning tuning = *space.sample(random);
    const Prediction p = model.predict(tuning);
    if (p.gstencils > 0) made.candidates.push_back({tuning, p.gstencils, p.registers, 0});
  }
  return made;
}

class FitTest : public ::testing::Test {
 protected:
  static Problem star(int order, int steps) {
    return make_problem(make_builtin(Shape::star, 3, order), ElementType::f32,
                        {Boundary::hold, Boundary::hold, Boundary::hold}, {3, {512, 512, 512}}, 0, steps);
  }

  const Calibration& start = calibrations().front();
  const DeviceModel& device = find_device_model("h200");
};

/// A fit that starts 25 to 50 % away comes within 10: what several constants explain alike is shared among them.
TEST_F(FitTest, FindsTheConstantsThatMadeTheTimes) {
  Calibration truth = start;
  truth.sweep.waiting_clocks *= 1.5;
  truth.sweep.beyond_copy *= 1.25;
  truth.fused.overlap_with_barriers *= 0.7;
  truth.registers.direct_window += 0.4;
  const std::vector<MeasuredProblem> problems{made_by(truth, star(1, 1), 300, 1), made_by(truth, star(2, 1), 300, 2),
                                              made_by(truth, star(4, 1), 300, 3), made_by(truth, star(1, 100), 2000, 4),
                                              made_by(truth, star(2, 100), 2000, 5)};
  const Calibration found = fit_constants(start, problems, device, {});
  const auto expect_near = [](double value, double expected) { EXPECT_NEAR(value / expected, 1, 0.1) << expected; };
  expect_near(found.sweep.waiting_clocks, truth.sweep.waiting_clocks);
  expect_near(found.sweep.beyond_copy, truth.sweep.beyond_copy);
  expect_near(found.fused.overlap_with_barriers, truth.fused.overlap_with_barriers);
  expect_near(found.registers.direct_window, truth.registers.direct_window);
  EXPECT_GT(judge("made", problems, device, start).deviation, 0.05);
  EXPECT_LT(judge("made", problems, device, found).deviation, 0.0125);
}

TEST_F(FitTest, LeavesAloneWhatTheTrialsSayNothingAbout) {
  const std::vector<MeasuredProblem> problems{made_by(start, star(1, 1), 100, 1)};
  const Calibration found = fit_constants(start, problems, device, {});
  EXPECT_DOUBLE_EQ(found.fused.trip_ns, start.fused.trip_ns);
  EXPECT_NEAR(found.sweep.latency_ns, start.sweep.latency_ns, 0.01 * start.sweep.latency_ns);
}

/// As if streaming stores took a tenth longer than the constants say, and four rows a thread a tenth less.
TEST_F(FitTest, LearnsTheTermsThatMadeTheTimes) {
  Calibration constants = start, truth = start;
  constants.terms.clear();
  truth.terms = {{"direct", {{"stcs", 0.1}, {"ry4", -0.1}}}};
  std::vector<MeasuredProblem> problems;
  for (const int order : {1, 2, 3, 4, 5, 6}) problems.push_back(made_by(truth, star(order, 1), 600, order));
  const TermFit fit(problems, device, constants);
  TermTable found = fit.terms();
  const std::map<std::string, double>& of_direct = found["direct"];
  EXPECT_NEAR(of_direct.at("stcs") - of_direct.at("stwb"), 0.1, 0.05) << "few trials leave terms near 0";
  EXPECT_NEAR(of_direct.at("ry4") - of_direct.at("ry2"), -0.1, 0.05);
  EXPECT_NEAR(of_direct.at("v4") - of_direct.at("v2"), 0, 0.02);

  const TermFit::LeftOut left_out = fit.left_out();
  EXPECT_EQ(left_out.with.problems, 6);
  EXPECT_GT(left_out.with.agreement, left_out.without.agreement)
      << "what one stencil's trials say is true of another's";
}

double highest_predicted(const MeasuredProblem& tried, const DeviceModel& device, const Calibration& calibration) {
  const std::vector<double> rates = predicted_rates(model_for(tried.problem, device, calibration), tried);
  return *std::max_element(rates.begin(), rates.end());
}

/// As if all sweeps took twice as long as the constants say, and fused steps half as long again.
TEST_F(FitTest, MovesFamiliesToTheHighestRatesThatWereMeasured) {
  Calibration constants = start;
  constants.terms.clear();
  std::vector<MeasuredProblem> problems{made_by(constants, star(1, 1), 200, 1),
                                        made_by(constants, star(2, 100), 200, 2)};
  std::vector<double> highest;
  for (MeasuredProblem& made : problems) {
    const double times = made.problem.steps == 1 ? 2 : 1.5;
    for (MeasuredCandidate& candidate : made.candidates) candidate.gstencils /= times;
    highest.push_back(highest_predicted(made, device, constants) / times);
  }
  constants.terms = TermFit(problems, device, constants).terms();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    EXPECT_NEAR(highest_predicted(problems[i], device, constants) / highest[i], 1, 0.01);
  }
}

TEST_F(FitTest, LeavesAStencilsOwnTrialsOutWhereItSaysHowMuchTermsHelp) {
  Calibration truth = start;
  truth.terms = {{"direct", {{"stcs", 0.3}}}};
  const std::vector<MeasuredProblem> problems{made_by(truth, star(1, 1), 200, 1)};
  const TermFit::LeftOut left_out = TermFit(problems, device, start).left_out();
  EXPECT_DOUBLE_EQ(left_out.with.agreement, left_out.without.agreement) << "there are no others to learn from";
  EXPECT_DOUBLE_EQ(left_out.with.lost, left_out.without.lost);
}

TEST_F(FitTest, LearnsNoTermsWhereTheConstantsSayAll) {
  Calibration constants = start;
  constants.terms.clear();
  const std::vector<MeasuredProblem> problems{made_by(constants, star(1, 1), 100, 1)};
  for (const auto& [family, terms] : TermFit(problems, device, start).terms()) {
    for (const auto& [part, term] : terms) EXPECT_NEAR(term, 0, 1e-9) << family << " " << part;
  }
}

}  // namespace
}  // namespace stencil_tune
