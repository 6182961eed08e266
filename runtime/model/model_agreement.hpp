// How well the performance model ranks what was measured.
#pragma once

#include "db/records.hpp"
#include "runtime/model/model.hpp"

#include <span>

namespace stencil_tune {

struct Agreement {
  int trials = 0;       ///< compared
  double spearman = 0;  ///< rank correlation of predicted and measured times, -1..1; 0 for fewer than three trials
};

/// Spearman's rank correlation; equal values share their mean rank. Both must have the same length.
double rank_correlation(std::span<const double> a, std::span<const double> b);

/// Over the measured ok trials of the model's problem, one a code, with the registers they really had.
Agreement model_agreement(const PerformanceModel& model, std::span<const TrialRecord> trials);

}  // namespace stencil_tune
