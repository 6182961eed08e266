// The score of searches on recorded spaces, as published in "A Methodology for Comparing Optimization Algorithms for
// Auto-Tuning" (Willemsen, Schoonhoven, Filipovic and others, Future Generation Computer Systems, 2024): how far a
// search is, at a time, between what random search is expected to have found by then (0) and the optimum (1), as the
// mean over equidistant times. docs/search.md has the definition.
#pragma once

#include "tuner/replay/recorded_space.hpp"

#include <cstddef>
#include <vector>

namespace stencil_tune {

struct ScoreSetup {
  double from = 0.5;    ///< times begin when random search has come so far from the median to the optimum
  double until = 0.96;  ///< and end when it has come so far
  std::size_t points = 1000;
};

/// There must be one value at least; an even number has the mean of the two in the middle.
double median_of(std::vector<double> values);

/// What random search is expected to find in a space, and the times at which a search is compared with it.
class RandomBaseline {
 public:
  explicit RandomBaseline(const RecordedSpace& space, const ScoreSetup& setup = {});

  double optimum() const { return ascending_.front(); }
  const std::vector<double>& times() const { return times_; }    ///< ms of compiling and running, equidistant
  const std::vector<double>& best() const { return expected_; }  ///< expected of random search, at each time

  /// Evaluations after which random search is expected to have come that far from the median to the optimum.
  std::size_t evaluations_to(double share) const;

  /// The rank of a time among all that work: 0 for the optimum.
  std::size_t rank(double time_ms) const;
  double time_of_rank(std::size_t rank) const { return ascending_[rank]; }
  std::size_t working() const { return ascending_.size(); }

 private:
  std::vector<double> ascending_;  // times of all configurations that work
  std::vector<double> times_;
  std::vector<double> expected_;
};

/// One evaluation of a run.
struct RunStep {
  double elapsed_ms = 0;  ///< compiling and running, up to and with this one
  double time_ms = 0;     ///< time of this configuration; infinite: it failed
};
using SearchRun = std::vector<RunStep>;

struct Score {
  double mean = 0;            ///< the published score, of all runs together
  double deviation = 0;       ///< deviation of the scores that single runs have, from one run to the next
  std::vector<double> curve;  ///< at each of the baseline's times
  std::vector<double> of_runs;
};

/// How near the best of a space some runs have come after so many evaluations.
struct Nearness {
  std::size_t evaluations = 0;
  double share = 0;  ///< share of the best rate that is reached: the mean of the runs
  double least = 0;  ///< the same of the worst run
  int within = 0;    ///< runs that are within kNear of the best
};
inline constexpr double kNear = 0.02;

/// Runs that ended before count with all that they found.
Nearness nearness_after(std::size_t evaluations, double optimum, const std::vector<SearchRun>& runs);

/// Points where random search is expected to have found the optimum itself are left out: nothing is better there.
/// A run must have found a configuration that works; runs that did not are counted at the median.
Score score_of(const RandomBaseline& baseline, const std::vector<SearchRun>& runs);

}  // namespace stencil_tune
