// From the points of a whole grid to those of one rank's array. No GPU.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/decomposition.hpp"
#include "stencil_tune/points.hpp"

namespace stencil_tune {

/// Sources where the rank computes their cells, in its halo too, which a periodic axis may bring twice; of receivers
/// the cells that it owns. Numbers and order of points stay, so that series and records have the whole's columns, and
/// the records of all ranks add up to the whole's. local: of the rank's array. The points were checked.
PointList points_of_part(const PointList& whole, const Decomposition& grid, int rank, const Problem& local);

}  // namespace stencil_tune
