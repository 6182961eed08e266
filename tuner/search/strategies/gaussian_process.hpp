// A Gaussian process over configurations: what to expect of those that were not tried, after some were.
#pragma once

#include "tuner/search/strategies/configuration_table.hpp"

#include <Eigen/Core>

#include <span>
#include <vector>

namespace stencil_tune {

/// Correlations are products over the parameters: of ordered ones Matérn 5/2 of the distance in places, of the others a
/// constant for different values. Lengths and noise are fitted by maximum likelihood on a grid.
class GaussianProcess {
 public:
  explicit GaussianProcess(const ConfigurationTable& table);

  /// Begins anew: chooses lengths and noise by these observations, whose values should have mean 0 and variance 1, and
  /// says what to expect of these candidates.
  void fit(std::span<const Configuration> observed, std::span<const double> values,
           std::vector<Configuration> candidates);

  /// One observation more. Takes as long as observations times candidates.
  void observe(Configuration configuration, double value);

  std::size_t observations() const { return observed_.size(); }
  const std::vector<Configuration>& candidates() const { return candidates_; }
  double mean(std::size_t candidate) const { return mean_[static_cast<Eigen::Index>(candidate)]; }
  double deviation(std::size_t candidate) const;

 private:
  using Row = Eigen::ArrayXf;

  double correlation(Configuration a, Configuration b) const;
  Row correlations_of_candidates(Configuration configuration) const;
  void set_length(std::size_t parameter, int length);
  void choose_lengths(std::span<const Configuration> observed, std::span<const double> values);
  double badness(std::span<const Configuration> observed, std::span<const double> values, double noise);

  const ConfigurationTable& table_;
  std::vector<int> lengths_;                     // for each parameter, as a place on the grid
  std::vector<std::vector<float>> correlation_;  // for each parameter and each distance in places
  double noise_;                                 // variance, as a share of the process's
  double scale_ = 1;                             // variance of the process

  std::vector<Configuration> candidates_;
  std::vector<Configuration> observed_;
  std::vector<std::vector<double>> factor_;  // rows of the Cholesky factor of the observed correlations
  std::vector<double> residuals_;            // its inverse times the values
  std::vector<Row> rows_;                    // its inverse times the correlations with the candidates
  Row mean_;
  Row variance_;  // in units of the scale
};

}  // namespace stencil_tune
