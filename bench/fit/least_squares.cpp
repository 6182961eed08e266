#include "bench/fit/least_squares.hpp"

namespace stencil_tune {
namespace {

Eigen::MatrixXd derivatives(const Residuals& residuals, const Eigen::VectorXd& at, const Eigen::VectorXd& value,
                            double step) {
  Eigen::MatrixXd result(value.size(), at.size());
  for (Eigen::Index column = 0; column < at.size(); ++column) {
    Eigen::VectorXd moved = at;
    moved[column] += step;
    result.col(column) = (residuals(moved) - value) / step;
  }
  return result;
}

}  // namespace

LeastSquares minimize_squares(const Residuals& residuals, const Eigen::VectorXd& start, double step, int rounds,
                              const std::function<void(int, double)>& progress) {
  constexpr double kEnough = 1e-3, kLeastDamping = 1e-6, kMostDamping = 1e6;
  LeastSquares best{start, 0};
  Eigen::VectorXd value = residuals(start);
  best.squares = value.squaredNorm();
  double damping = 1e-2;
  for (int round = 1; round <= rounds; ++round) {
    const Eigen::MatrixXd jacobian = derivatives(residuals, best.unknowns, value, step);
    const Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
    const Eigen::VectorXd slope = jacobian.transpose() * value;
    const double before = best.squares;
    for (; best.squares == before && damping < kMostDamping; damping *= 4) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      const Eigen::VectorXd next = best.unknowns - damped.ldlt().solve(slope);
      const Eigen::VectorXd next_value = residuals(next);
      if (!(next_value.squaredNorm() < best.squares)) continue;
      best = {next, next_value.squaredNorm()};
      value = next_value;
      damping = std::max(kLeastDamping, damping / 40);
    }
    if (progress) progress(round, best.squares);
    if (best.squares > (1 - kEnough) * before) break;
  }
  return best;
}

}  // namespace stencil_tune
