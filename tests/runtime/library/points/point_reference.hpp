// Runs with points, made plainly: stage by stage by the reference, sources and receivers by loops.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/points.hpp"

#include <vector>

namespace stencil_tune {

using Fields = std::vector<std::vector<double>>;

struct PointResult {
  Fields fields;                ///< each under its name after the steps
  std::vector<double> records;  ///< [record][receiver]
};

/// problem: of any stage, in f64, with dense rows. series: [step][source].
PointResult run_with_points(const Problem& problem, Fields fields, const PointList& points,
                            const std::vector<double>& series, int steps);

/// Random cells.
Fields random_fields(const Problem& problem, std::uint64_t seed);

/// Points at corners and edges of what is updated, at random cells, and several at one cell. Fields: every one that may
/// have any.
PointList random_points(const Problem& problem, std::uint64_t seed, int every = 1);

/// Random values for so many steps.
std::vector<double> random_series(const PointList& points, int steps, std::uint64_t seed);

}  // namespace stencil_tune
