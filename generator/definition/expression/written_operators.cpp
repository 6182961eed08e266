#include "generator/definition/expression/written_operators.hpp"

#include "generator/stencil/indices.hpp"

#include <cmath>
#include <cstdlib>

namespace stencil_tune {
namespace {

/// A cell that an operator reads along its axis, and its weight.
struct WeightedCell {
  int distance;
  double weight;
};

/// Where difference_weights() has the weight of a cell.
std::size_t listed_place(Difference::Kind kind, int distance) {
  switch (kind) {
    case Difference::Kind::second:
    case Difference::Kind::first:
      return at(std::abs(distance));
    case Difference::Kind::forward:
      return at(distance > 0 ? distance - 1 : -distance);
    case Difference::Kind::backward:
      return at(distance < 0 ? -distance - 1 : distance);
  }
  return 0;
}

/// The weight as difference_weights() has rounded it where the two are the same but for rounding, which differs:
/// kernels in f64 are held to their last digits.
double as_listed(double weight, double listed) {
  constexpr double kRounding = 1e-11;
  const double magnitude = std::copysign(std::fabs(listed), weight);
  return std::fabs(weight - magnitude) <= kRounding * std::fabs(weight) ? magnitude : weight;
}

std::vector<WeightedCell> cells_of(Difference::Kind kind, int accuracy) {
  const int p = accuracy / 2;
  // The derivative is taken at the cell, or half a cell ahead of it or behind.
  const double centre = kind == Difference::Kind::forward ? 0.5 : kind == Difference::Kind::backward ? -0.5 : 0;
  const int first = kind == Difference::Kind::forward ? 1 - p : -p;
  const int last = kind == Difference::Kind::backward ? p - 1 : p;
  std::vector<double> positions;
  for (int distance = first; distance <= last; ++distance) positions.push_back(distance - centre);
  const std::vector<double> weights = derivative_weights(positions, kind == Difference::Kind::second ? 2 : 1);
  const std::vector<double> listed = difference_weights(kind, accuracy);
  std::vector<WeightedCell> cells;
  for (int distance = first; distance <= last; ++distance) {
    if (kind == Difference::Kind::first && distance == 0) continue;  // its weight is 0
    const std::size_t place = listed_place(kind, distance);
    cells.push_back({distance, as_listed(weights[at(distance - first)], place < listed.size() ? listed[place] : 0)});
  }
  return cells;
}

NodeId add_weighted(ExpressionBuilder& builder, NodeId sum, double weight, NodeId value) {
  const bool subtracted = weight == -1;
  const bool plain = subtracted || weight == 1;
  const NodeId term = plain ? value : builder.apply(Operation::multiply, builder.number(weight), value);
  if (sum < 0) return subtracted ? builder.apply(Operation::negate, term) : term;
  return builder.apply(subtracted ? Operation::subtract : Operation::add, sum, term);
}

NodeId value_at(ExpressionBuilder& builder, NodeId expression, std::size_t axis, int distance) {
  Offset offset{0, 0, 0};
  offset[axis] = distance;
  return builder.shift(expression, offset);
}

}  // namespace

NodeId written_power(ExpressionBuilder& builder, NodeId base, int exponent) {
  if (exponent == 0) return builder.number(1);
  NodeId product = base;
  for (int i = 1; i < std::abs(exponent); ++i) product = builder.apply(Operation::multiply, product, base);
  return exponent < 0 ? builder.apply(Operation::divide, builder.number(1), product) : product;
}

NodeId written_difference(ExpressionBuilder& builder, NodeId expression, const Difference& difference) {
  NodeId sum = -1;
  for (const auto& [distance, weight] : cells_of(difference.kind, difference.accuracy)) {
    sum = add_weighted(builder, sum, weight, value_at(builder, expression, difference.axis, distance));
  }
  return sum;
}

NodeId written_laplacian(ExpressionBuilder& builder, NodeId expression, int accuracy) {
  NodeId sum = -1;
  for (const auto& [distance, weight] : cells_of(Difference::Kind::second, accuracy)) {
    if (distance == 0) {  // once, for all axes
      sum = add_weighted(builder, sum, builder.rank() * weight, expression);
      continue;
    }
    for (std::size_t axis = 0; axis < at(builder.rank()); ++axis) {
      sum = add_weighted(builder, sum, weight, value_at(builder, expression, axis, distance));
    }
  }
  return sum;
}

std::vector<double> derivative_weights(const std::vector<double>& positions, int order) {
  const std::size_t count = positions.size();
  const std::size_t orders = at(order) + 1;
  std::vector<std::vector<double>> weights(count, std::vector<double>(orders, 0.0));  // [position][order]
  weights[0][0] = 1;
  double product = 1;  // the last position's distances to those before it, multiplied
  for (std::size_t n = 1; n < count; ++n) {
    double next_product = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const double distance = positions[n] - positions[i];
      next_product *= distance;
      for (std::size_t m = orders; m-- > 0;) {
        const double lower = m == 0 ? 0 : static_cast<double>(m) * weights[i][m - 1];
        if (i == n - 1) weights[n][m] = product * (lower - positions[i] * weights[i][m]) / next_product;
        weights[i][m] = (positions[n] * weights[i][m] - lower) / distance;
      }
    }
    product = next_product;
  }
  std::vector<double> result;
  for (const std::vector<double>& of_position : weights) result.push_back(of_position[orders - 1]);
  return result;
}

}  // namespace stencil_tune
