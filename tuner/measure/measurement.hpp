// When enough has been measured: pure rules over samples, wherever these come from.
#pragma once

#include "db/records.hpp"
#include "tuner/measure/plan.hpp"

#include <functional>
#include <span>
#include <vector>

namespace stencil_tune {

/// Median and its 95 % confidence interval from order statistics: no assumption on how the samples are spread, only
/// that they are independent (Hahn and Meeker, Statistical Intervals, section 5.2). Fewer than six samples cannot give
/// 95 %; the interval is then their range. Nothing measured gives zeros.
Timing summarise(std::span<const double> samples_ms);

/// The interval's width over the median; infinity while that says nothing (fewer than six samples).
double relative_interval(const Timing& timing);

/// Launches to time together so that a sample lasts long enough for the events' resolution (about 0.5 us): a multiple
/// of `period`, so that every sample sees each of the rotated buffers equally often. One, where launches take long.
int launches_per_sample(double launch_ms, int period);

struct Sample {
  double launch_ms = 0;   ///< mean of the launches timed together
  double elapsed_ms = 0;  ///< all of it, as the budget counts it
};

struct Measurement {
  Timing timing;
  bool dropped = false;  ///< too slow after the first look
};

/// Takes samples until the plan says stop: dropped after the first look when the median is drop_factor slower than the
/// best, else until the median's interval is narrow enough, at least kFewestSamples, at most cap_ms. The interval of a
/// candidate may be wider the further it is behind the best; one that is clearly behind needs six samples alone, the
/// fewest that have an interval. What races is timed by kFewestSamples whatever its trial was.
Measurement measure(const MeasurePlan& plan, const std::function<Sample()>& take_sample);

inline constexpr int kFewestSamples = 11;

}  // namespace stencil_tune
