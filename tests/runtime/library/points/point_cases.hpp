// Kernels of fused steps that points are checked with, on the host executor and on a GPU.
#pragma once

#include "db/records.hpp"
#include "generator/stencil/problem.hpp"
#include "stencil_tune/points.hpp"
#include "tests/runtime/library/points/point_reference.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace stencil_tune {

struct PointCase {
  std::string name;
  Stencil stencil;
  Boundaries boundaries;
  Extents extents;
  std::string code;  ///< code of a kernel that fuses steps, or stages

  Problem problem() const;      ///< whole steps, in f64, with dense rows
  WinnerRecord winner() const;  ///< a winner of long runs, of no GPU
  int fused() const;            ///< steps a launch
};

inline std::ostream& operator<<(std::ostream& out, const PointCase& each) { return out << each.name; }

/// Families temporal and system; one field, several, two time levels, several stages; every boundary; rows copied by
/// lanes and by TMA; one group of warps and two; a tile of two blocks.
std::vector<PointCase> point_cases();

/// random_points(), and sources and receivers on both sides of all edges between tiles, where these meet too.
PointList points_of(const PointCase& each, int every);

/// The largest difference from `expected`, of what the next step reads and of the records, relative to the largest
/// value where that is above 1. fields: under their names after the steps.
double difference(const Problem& problem, const Fields& fields, const std::vector<double>& records,
                  const PointResult& expected);

}  // namespace stencil_tune
