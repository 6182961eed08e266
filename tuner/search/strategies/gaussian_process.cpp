#include "tuner/search/strategies/gaussian_process.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace stencil_tune {
namespace {

// In units of a parameter's whole range; of unordered ones the distance of two values is 1.
constexpr std::array kLengths{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4};
constexpr int kFirstLength = 3;
constexpr std::array kNoises{1e-4, 1e-3, 1e-2, 1e-1};
constexpr double kFirstNoise = 1e-2;
constexpr double kLeastPivot = 1e-6;     // what rounding leaves of a variance that is used up
constexpr int kSweeps = 1;               // over all parameters, at a fit
constexpr std::size_t kMostToFit = 100;  // observations that lengths are chosen by: it takes their third power

double matern(double distance) {
  const double d = std::sqrt(5.0) * distance;
  return (1 + d + d * d / 3) * std::exp(-d);
}

std::size_t apart(ValueIndex a, ValueIndex b) { return static_cast<std::size_t>(std::abs(a - b)); }

}  // namespace

GaussianProcess::GaussianProcess(const ConfigurationTable& table)
    : table_(table), lengths_(table.parameters().size()), correlation_(lengths_.size()), noise_(kFirstNoise) {
  for (std::size_t i = 0; i < lengths_.size(); ++i) set_length(i, kFirstLength);
}

void GaussianProcess::set_length(std::size_t parameter, int length) {
  const TableParameter& of = table_.parameters()[parameter];
  lengths_[parameter] = length;
  correlation_[parameter].clear();
  for (std::size_t d = 0; d < of.values.size(); ++d) {
    const auto range = static_cast<double>(std::max<std::size_t>(1, of.values.size() - 1));
    const double distance = of.ordered ? static_cast<double>(d) / range : static_cast<double>(d > 0);
    correlation_[parameter].push_back(
        static_cast<float>(matern(distance / kLengths[static_cast<std::size_t>(length)])));
  }
}

double GaussianProcess::correlation(Configuration a, Configuration b) const {
  const auto of_a = table_.places(a), of_b = table_.places(b);
  double product = 1;
  for (std::size_t i = 0; i < of_a.size(); ++i) product *= correlation_[i][apart(of_a[i], of_b[i])];
  return product;
}

GaussianProcess::Row GaussianProcess::correlations_of_candidates(Configuration configuration) const {
  const auto own = table_.places(configuration);
  std::vector<std::vector<float>> of_value(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (std::size_t value = 0; value < correlation_[i].size(); ++value) {
      of_value[i].push_back(correlation_[i][apart(static_cast<ValueIndex>(value), own[i])]);
    }
  }
  Row row(static_cast<Eigen::Index>(candidates_.size()));
  for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
    const auto places = table_.places(candidates_[candidate]);
    float product = 1;
    for (std::size_t i = 0; i < places.size(); ++i) product *= of_value[i][places[i]];
    row[static_cast<Eigen::Index>(candidate)] = product;
  }
  return row;
}

double GaussianProcess::deviation(std::size_t candidate) const {
  const double variance = variance_[static_cast<Eigen::Index>(candidate)];
  return std::sqrt(scale_ * std::max(variance, kLeastPivot));
}

void GaussianProcess::observe(Configuration configuration, double value) {
  Row row = correlations_of_candidates(configuration);
  std::vector<double> factor;
  double pivot = 1 + noise_;
  for (std::size_t i = 0; i < observed_.size(); ++i) {
    double entry = correlation(configuration, observed_[i]);
    for (std::size_t j = 0; j < i; ++j) entry -= factor_[i][j] * factor[j];
    entry /= factor_[i][i];
    factor.push_back(entry);
    pivot -= entry * entry;
    value -= entry * residuals_[i];
    row -= static_cast<float>(entry) * rows_[i];
  }
  pivot = std::sqrt(std::max(pivot, kLeastPivot));
  factor.push_back(pivot);
  row /= static_cast<float>(pivot);
  mean_ += static_cast<float>(value / pivot) * row;
  variance_ -= row.square();
  observed_.push_back(configuration);
  factor_.push_back(std::move(factor));
  residuals_.push_back(value / pivot);
  rows_.push_back(std::move(row));
}

/// Minus the logarithm of the likelihood with the best scale, which it sets; but for a constant.
double GaussianProcess::badness(std::span<const Configuration> observed, std::span<const double> values, double noise) {
  const auto n = static_cast<Eigen::Index>(values.size());
  Eigen::MatrixXd matrix(n, n);
  for (Eigen::Index column = 0; column < n; ++column) {
    matrix(column, column) = 1 + noise;
    for (Eigen::Index row = column + 1; row < n; ++row) {
      matrix(row, column) =
          correlation(observed[static_cast<std::size_t>(row)], observed[static_cast<std::size_t>(column)]);
    }
  }
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(matrix);  // in place
  if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  const Eigen::Map<const Eigen::VectorXd> y(values.data(), n);
  scale_ = std::max(factor.matrixL().solve(y).squaredNorm() / static_cast<double>(n), kLeastPivot);
  return static_cast<double>(n) / 2 * std::log(scale_) + matrix.diagonal().array().log().sum();
}

/// One parameter after the other, then the noise.
void GaussianProcess::choose_lengths(std::span<const Configuration> observed, std::span<const double> values) {
  double least = badness(observed, values, noise_);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      int best = lengths_[i];
      for (int length = 0; length < static_cast<int>(kLengths.size()); ++length) {
        set_length(i, length);
        const double bad = badness(observed, values, noise_);
        if (bad < least) least = bad, best = length;
      }
      set_length(i, best);
    }
    for (const double noise : kNoises) {
      const double bad = badness(observed, values, noise);
      if (bad < least) least = bad, noise_ = noise;
    }
  }
  badness(observed, values, noise_);
}

void GaussianProcess::fit(std::span<const Configuration> observed, std::span<const double> values,
                          std::vector<Configuration> candidates) {
  const std::size_t first = values.size() - std::min(values.size(), kMostToFit);
  choose_lengths(observed.subspan(first), values.subspan(first));
  candidates_ = std::move(candidates);
  observed_.clear();
  factor_.clear();
  residuals_.clear();
  rows_.clear();
  mean_ = Row::Zero(static_cast<Eigen::Index>(candidates_.size()));
  variance_ = Row::Ones(static_cast<Eigen::Index>(candidates_.size()));
  for (std::size_t i = 0; i < values.size(); ++i) observe(observed[i], values[i]);
}

}  // namespace stencil_tune
