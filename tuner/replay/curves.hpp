// Curves through points, as the score's definition uses them.
#pragma once

#include <vector>

namespace stencil_tune {

struct CurvePoint {
  double x = 0;
  double y = 0;
  double weight = 1;
};

/// The curve that never rises and has the least weighted sum of squares to the points (isotonic regression), at each of
/// `at`: linear between the points, level beyond them. Points must be in order of x; those of equal x count as one.
/// There must be one point at least.
std::vector<double> falling_curve(const std::vector<CurvePoint>& points, const std::vector<double>& at);

/// Piecewise cubic through the points that keeps their monotony (PCHIP, Fritsch and Butland 1984). x must ascend, and
/// `at` lie within; there must be two points at least.
std::vector<double> monotone_cubic(const std::vector<double>& x, const std::vector<double>& y,
                                   const std::vector<double>& at);

}  // namespace stencil_tune
