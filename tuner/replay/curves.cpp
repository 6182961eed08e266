#include "tuner/replay/curves.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stencil_tune {
namespace {

struct Block {
  CurvePoint mean;      // the mean of its points; x is not used
  std::size_t end = 0;  // number of the point after its last
};

std::vector<CurvePoint> with_distinct_x(const std::vector<CurvePoint>& points) {
  std::vector<CurvePoint> distinct;
  for (const CurvePoint& point : points) {
    if (distinct.empty() || distinct.back().x != point.x) {
      distinct.push_back(point);
    } else {
      CurvePoint& same = distinct.back();
      same.y = (same.y * same.weight + point.y * point.weight) / (same.weight + point.weight);
      same.weight += point.weight;
    }
  }
  return distinct;
}

/// Replaces the y of points by those of the falling curve: neighbouring blocks that rise are pooled.
void pool_rising(std::vector<CurvePoint>& points) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    blocks.push_back({points[i], i + 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean.y <= blocks.back().mean.y) {
      const Block last = blocks.back();
      blocks.pop_back();
      CurvePoint& mean = blocks.back().mean;
      mean.y = (mean.y * mean.weight + last.mean.y * last.mean.weight) / (mean.weight + last.mean.weight);
      mean.weight += last.mean.weight;
      blocks.back().end = last.end;
    }
  }
  std::size_t i = 0;
  for (const Block& block : blocks) {
    for (; i < block.end; ++i) points[i].y = block.mean.y;
  }
}

/// At an end: from the two nearest slopes, kept to the shape of the points.
double end_derivative(double h0, double h1, double slope0, double slope1) {
  const double derivative = ((2 * h0 + h1) * slope0 - h0 * slope1) / (h0 + h1);
  if (derivative * slope0 <= 0) return 0;
  if (slope0 * slope1 <= 0 && std::abs(derivative) > 3 * std::abs(slope0)) return 3 * slope0;
  return derivative;
}

std::vector<double> derivatives(const std::vector<double>& widths, const std::vector<double>& slopes) {
  const std::size_t last = slopes.size();  // number of the last point
  if (last == 1) return {slopes[0], slopes[0]};
  std::vector<double> derivative(last + 1, 0);
  for (std::size_t i = 1; i < last; ++i) {
    if (slopes[i - 1] * slopes[i] <= 0) continue;
    const double before = 2 * widths[i] + widths[i - 1];
    const double after = widths[i] + 2 * widths[i - 1];
    derivative[i] = (before + after) / (before / slopes[i - 1] + after / slopes[i]);
  }
  derivative[0] = end_derivative(widths[0], widths[1], slopes[0], slopes[1]);
  derivative[last] = end_derivative(widths[last - 1], widths[last - 2], slopes[last - 1], slopes[last - 2]);
  return derivative;
}

}  // namespace

std::vector<double> falling_curve(const std::vector<CurvePoint>& points, const std::vector<double>& at) {
  std::vector<CurvePoint> curve = with_distinct_x(points);
  pool_rising(curve);
  std::vector<double> values;
  values.reserve(at.size());
  for (const double x : at) {
    const auto after = std::lower_bound(curve.begin(), curve.end(), x, [](const auto& p, double t) { return p.x < t; });
    if (after == curve.begin()) {
      values.push_back(curve.front().y);
    } else if (after == curve.end()) {
      values.push_back(curve.back().y);
    } else {
      const CurvePoint& before = *(after - 1);
      values.push_back(before.y + (after->y - before.y) * (x - before.x) / (after->x - before.x));
    }
  }
  return values;
}

std::vector<double> monotone_cubic(const std::vector<double>& x, const std::vector<double>& y,
                                   const std::vector<double>& at) {
  std::vector<double> widths, slopes;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    widths.push_back(x[i + 1] - x[i]);
    slopes.push_back((y[i + 1] - y[i]) / widths[i]);
  }
  const std::vector<double> derivative = derivatives(widths, slopes);
  std::vector<double> values;
  values.reserve(at.size());
  for (const double position : at) {
    const auto after = std::upper_bound(x.begin() + 1, x.end() - 1, position);
    const auto i = static_cast<std::size_t>(after - x.begin()) - 1;
    const double t = (position - x[i]) / widths[i];
    const double rise = y[i + 1] - y[i];
    const double from = derivative[i] * widths[i], to = derivative[i + 1] * widths[i];
    values.push_back(y[i] + t * (from + t * (3 * rise - 2 * from - to + t * (from + to - 2 * rise))));
  }
  return values;
}

}  // namespace stencil_tune
