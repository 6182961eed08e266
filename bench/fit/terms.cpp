#include "bench/fit/terms.hpp"

#include "generator/candidates/family.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kMostCandidates = 300;  // that a problem counts as
constexpr double kRidge = 120;           // candidates that say a term is 0
constexpr std::size_t kFewestRanked = 20;

}  // namespace

/// Normal equations of the regression.
struct TermFit::Equations {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd right;

  static Equations none(Eigen::Index unknowns) {
    return {Eigen::MatrixXd::Zero(unknowns, unknowns), Eigen::VectorXd::Zero(unknowns)};
  }

  void add(const Equations& other, double sign) {
    matrix += sign * other.matrix;
    right += sign * other.right;
  }
  Eigen::VectorXd solve() const {
    const Eigen::MatrixXd ridge = kRidge * Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
    return (matrix + ridge).ldlt().solve(right);
  }
};

struct TermFit::OfProblem {
  std::string stencil;
  bool fuses_steps = false;                 // its fastest candidate
  std::vector<double> measured, predicted;  // rates, of the candidates that the model thinks can run
  std::vector<std::vector<Eigen::Index>> unknowns;

  Equations equations(Eigen::Index count) const {
    const double best = highest(measured);
    Eigen::VectorXd weights(static_cast<Eigen::Index>(measured.size())), ratios(weights.size());
    Eigen::MatrixXd has = Eigen::MatrixXd::Zero(weights.size(), count);
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      weights[i] = weight(measured[at], best);
      ratios[i] = std::log(predicted[at] / measured[at]);  // that of rates, which is measured over predicted time
      for (const Eigen::Index unknown : unknowns[at]) has(i, unknown) = 1;
    }
    weights /= weights.sum();
    const Eigen::RowVectorXd shared = weights.transpose() * has;
    has.rowwise() -= shared;
    ratios.array() -= weights.dot(ratios);
    weights *= std::min(kMostCandidates, static_cast<double>(measured.size()));
    const Eigen::MatrixXd weighted = has.transpose() * weights.asDiagonal();
    return {weighted * has, weighted * ratios};
  }

  std::vector<double> corrected(const Eigen::VectorXd& terms) const {
    std::vector<double> rates;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      double sum = 0;
      for (const Eigen::Index unknown : unknowns[i]) sum += terms[unknown];
      rates.push_back(predicted[i] * std::exp(-sum));
    }
    return rates;
  }
};

TermFit::TermFit(std::span<const MeasuredProblem> problems, const DeviceModel& device, const Calibration& calibration) {
  Calibration constants = calibration;
  constants.terms.clear();
  std::map<std::pair<std::string, std::string>, Eigen::Index> unknown_of;
  for (const MeasuredProblem& measured : problems) {
    const std::vector<double> predicted = predicted_rates(model_for(measured.problem, device, constants), measured);
    OfProblem of;
    of.stencil = measured.problem.stencil.name;
    double best = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      if (!(predicted[i] > 0)) continue;
      const MeasuredCandidate& candidate = measured.candidates[i];
      of.measured.push_back(candidate.gstencils);
      if (candidate.gstencils > best) of.fuses_steps = candidate.tuning.family->fuses_steps;
      best = std::max(best, candidate.gstencils);
      of.predicted.push_back(predicted[i]);
      std::vector<Eigen::Index>& unknowns = of.unknowns.emplace_back();
      for (const std::string& part : parts_with_terms(candidate.tuning)) {
        const auto [found, is_new] =
            unknown_of.try_emplace({std::string(candidate.tuning.family->name), part}, unknown_of.size());
        if (is_new) parts_.push_back(found->first);
        unknowns.push_back(found->second);
      }
    }
    if (!of.measured.empty()) problems_.push_back(std::move(of));
  }
}

TermFit::~TermFit() = default;

Eigen::VectorXd TermFit::solve(const Equations& equations, std::string_view left_out) const {
  Eigen::VectorXd terms = equations.solve();
  for (const bool fuses_steps : {false, true}) {
    double level = 0, count = 0;
    for (const OfProblem& of : problems_) {
      if (of.fuses_steps != fuses_steps || of.stencil == left_out) continue;
      level += judge(of.corrected(terms), of.measured).highest;
      ++count;
    }
    if (count == 0) continue;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto& [family, part] = parts_[i];
      if (part == family && family_named(family).fuses_steps == fuses_steps) {
        terms[static_cast<Eigen::Index>(i)] += level / count;
      }
    }
  }
  return terms;
}

TermTable TermFit::terms() const {
  const auto count = static_cast<Eigen::Index>(parts_.size());
  Equations all = Equations::none(count);
  for (const OfProblem& of : problems_) all.add(of.equations(count), 1);
  const Eigen::VectorXd solved = solve(all);
  TermTable table;
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& [family, part] = parts_[static_cast<std::size_t>(i)];
    table[family][part] = solved[i];
  }
  return table;
}

TermFit::LeftOut TermFit::left_out() const {
  const auto count = static_cast<Eigen::Index>(parts_.size());
  Equations all = Equations::none(count);
  std::map<std::string, Equations> of_stencils;
  for (const OfProblem& of : problems_) {
    const Equations equations = of.equations(count);
    all.add(equations, 1);
    of_stencils.try_emplace(of.stencil, Equations::none(count)).first->second.add(equations, 1);
  }
  std::vector<FitRecord> without, with;
  for (const auto& [stencil, own] : of_stencils) {
    Equations others = all;
    others.add(own, -1);
    const Eigen::VectorXd terms = solve(others, stencil);
    for (const OfProblem& of : problems_) {
      if (of.stencil != stencil || of.measured.size() < kFewestRanked) continue;
      without.push_back(judge(of.predicted, of.measured));
      with.push_back(judge(of.corrected(terms), of.measured));
    }
  }
  return {mean(without), mean(with)};
}

}  // namespace stencil_tune
