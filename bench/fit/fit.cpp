#include "bench/fit/fit.hpp"

#include "bench/fit/least_squares.hpp"
#include "bench/fit/ranking.hpp"
#include "runtime/model/family_model.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace stencil_tune {
namespace {

using nlohmann::json;

constexpr double kTimeDeviation = 0.15;      // deviation of log(predicted / measured)
constexpr double kRegisterDeviation = 12;    // deviation of guessed registers
constexpr double kCandidatesThatCount = 30;  // as many of a problem count at most: errors of similar ones are alike
constexpr double kLargestShare = 0.98;

/// Constants that are parts of a whole.
constexpr std::array<std::string_view, 6> kShares{"/memory/cache_from", "/memory/dram_efficiency",
                                                  "/sweep/near_share",  "/sweep/near_share_of_short",
                                                  "/sweep/ready_share", "/fused/ready_share"};

/// Some of a calibration's constants as the unknowns of a fit, all 0 at the start: powers of e by which a constant
/// grows, or, of registers, which can be negative, what is added to it, in units of its size.
class Unknowns {
 public:
  Unknowns(const Calibration& start, std::initializer_list<std::string_view> groups) : start_(start) {
    const json constants = start_.flatten();
    for (const auto& constant : constants.items()) {
      const auto in_group = [&](std::string_view group) { return constant.key().starts_with(group); };
      if (std::any_of(groups.begin(), groups.end(), in_group)) names_.push_back(constant.key());
    }
  }

  Eigen::VectorXd start() const { return Eigen::VectorXd::Zero(static_cast<Eigen::Index>(names_.size())); }

  Calibration calibration(const Eigen::VectorXd& unknowns) const {
    json changed = start_;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      json& constant = changed.at(json::json_pointer(names_[i]));
      constant = moved(names_[i], constant, unknowns[static_cast<Eigen::Index>(i)]);
    }
    return changed.get<Calibration>();
  }

 private:
  static double moved(const std::string& name, double was, double x) {
    if (name.starts_with("/registers/")) return was + x * std::max(1.0, std::abs(was));
    const bool is_share = std::find(kShares.begin(), kShares.end(), name) != kShares.end();
    return is_share ? std::min(kLargestShare, was * std::exp(x)) : was * std::exp(x);
  }

  json start_;
  std::vector<std::string> names_;
};

/// Candidates of a problem that take part, and their weights.
struct Sample {
  const MeasuredProblem* measured;
  std::vector<const MeasuredCandidate*> parts;
  Eigen::VectorXd weights;
};

Sample sample(const MeasuredProblem& measured, const FitOptions& options) {
  std::vector<const MeasuredCandidate*> sorted;
  for (const MeasuredCandidate& candidate : measured.candidates) sorted.push_back(&candidate);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->gstencils > b->gstencils; });

  Sample result{&measured, {}, {}};
  const std::size_t rest = sorted.size() - std::min(sorted.size(), options.fastest);
  const std::size_t stride = 1 + rest / (options.others + 1);
  for (std::size_t i = 0; i < sorted.size(); i += i < options.fastest ? 1 : stride) result.parts.push_back(sorted[i]);
  result.weights.resize(static_cast<Eigen::Index>(result.parts.size()));
  std::transform(result.parts.begin(), result.parts.end(), result.weights.begin(),
                 [&](auto* candidate) { return weight(candidate->gstencils, sorted.front()->gstencils); });
  result.weights *= std::min(kCandidatesThatCount, static_cast<double>(sorted.size())) / result.weights.sum();
  return result;
}

class Fit {
 public:
  Fit(std::span<const MeasuredProblem> problems, const DeviceModel& device, const FitOptions& options)
      : device_(device), limits_(limits_of_architecture(device.architecture)) {
    for (const MeasuredProblem& measured : problems) {
      samples_.push_back(sample(measured, options));
      parts_ += samples_.back().weights.size();
    }
  }

  /// Errors of guessed registers. Candidates that met their limit say nothing.
  Eigen::VectorXd register_errors(const Calibration& calibration) const {
    return errors(calibration, kCandidatesThatCount, [&](const PerformanceModel& model, const auto& candidate) {
      constexpr int kNearLimit = 16;
      const Problem& problem = model.problem();
      const Work work = family_model(candidate.tuning.family->name).count({problem, candidate.tuning}, calibration);
      const int limit = register_limit(limits_, candidate.tuning, work.threads);
      if (candidate.spill_bytes > 0 || candidate.registers + kNearLimit >= limit) return 0.0;
      return (needed_registers(problem, work, calibration.registers) - candidate.registers) / kRegisterDeviation;
    });
  }

  Eigen::VectorXd time_errors(const Calibration& calibration) const {
    return errors(calibration, 1, [](const PerformanceModel& model, const auto& candidate) {
      const double predicted = model.predict(candidate.tuning).gstencils;
      return predicted > 0 ? std::log(candidate.gstencils / predicted) / kTimeDeviation : 0;
    });
  }

  /// The errors, and the unknowns themselves, which stay near 0 unless the trials say otherwise.
  Calibration run(const Unknowns& unknowns, Eigen::VectorXd (Fit::*errors_of)(const Calibration&) const, int rounds,
                  const FitProgress& progress) const {
    const Residuals residuals = [&](const Eigen::VectorXd& x) {
      const Eigen::VectorXd of_trials = (this->*errors_of)(unknowns.calibration(x));
      Eigen::VectorXd all(of_trials.size() + x.size());
      all << of_trials, x / std::log(2.0);
      return all;
    };
    constexpr double kStep = 1e-3;
    return unknowns.calibration(minimize_squares(residuals, unknowns.start(), kStep, rounds, progress).unknowns);
  }

 private:
  /// Each by the root of its weight. What all candidates of a problem share counts as much as so many of them.
  template <typename Error>
  Eigen::VectorXd errors(const Calibration& calibration, double shared_counts, const Error& error) const {
    Eigen::VectorXd all(parts_);
    Eigen::Index first = 0;
    for (const Sample& sample : samples_) {
      const PerformanceModel model(sample.measured->problem, limits_, device_, calibration);
      auto own = all.segment(first, sample.weights.size());
      std::transform(sample.parts.begin(), sample.parts.end(), own.begin(),
                     [&](const MeasuredCandidate* candidate) { return error(model, *candidate); });
      const double count = sample.weights.sum(), shared = own.dot(sample.weights) / count;
      own.array() -= (1 - std::sqrt(std::min(1.0, shared_counts / count))) * shared;
      own.array() *= sample.weights.array().sqrt();
      first += own.size();
    }
    return all;
  }

  const DeviceModel& device_;
  Limits limits_;
  std::vector<Sample> samples_;
  Eigen::Index parts_ = 0;  // candidates of all samples
};

}  // namespace

Calibration fit_constants(const Calibration& start, std::span<const MeasuredProblem> problems,
                          const DeviceModel& device, const FitOptions& options, const FitProgress& progress) {
  const Fit fit(problems, device, options);
  const Calibration with_registers =
      fit.run(Unknowns(start, {"/registers/"}), &Fit::register_errors, options.rounds, progress);
  return fit.run(Unknowns(with_registers, {"/memory/", "/sweep/", "/fused/"}), &Fit::time_errors, options.rounds,
                 progress);
}

}  // namespace stencil_tune
