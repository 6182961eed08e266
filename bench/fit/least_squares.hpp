// Nonlinear least squares with few unknowns.
#pragma once

#include <Eigen/Dense>

#include <functional>

namespace stencil_tune {

/// What is to become small, by the unknowns. Its length must not change.
using Residuals = std::function<Eigen::VectorXd(const Eigen::VectorXd& unknowns)>;

struct LeastSquares {
  Eigen::VectorXd unknowns;
  double squares = 0;
};

/// Levenberg-Marquardt from `start`, with derivatives by forward differences of `step`. Ends after so many rounds, or
/// when one gains less than a thousandth.
LeastSquares minimize_squares(const Residuals& residuals, const Eigen::VectorXd& start, double step, int rounds,
                              const std::function<void(int round, double squares)>& progress);

}  // namespace stencil_tune
