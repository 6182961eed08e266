#include "generator/definition/expression/operators.hpp"

#include "generator/definition/expression/written_operators.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/carry_out.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace stencil_tune {
namespace {

/// (p!)^2 / ((p-k)! (p+k)!)
double central_factor(int p, int k) {
  double factor = 1;
  for (int i = 0; i < k; ++i) factor *= static_cast<double>(p - i) / (p + k - i);
  return factor;
}

double alternating(int k) { return k % 2 == 1 ? 1 : -1; }

std::vector<double> central_weights(int p, bool second) {
  std::vector<double> weights{0};
  for (int k = 1; k <= p; ++k) {
    const double weight = alternating(k) * central_factor(p, k) / k;
    weights.push_back(second ? 2 * weight / k : weight);
    if (second) weights[0] -= 2.0 / (static_cast<double>(k) * k);
  }
  return weights;
}

/// (-1)^(k+1) ((2p-1)!!)^2 / (4^(p-1) (2k-1)^2 (p-k)! (p+k-1)!)
std::vector<double> staggered_weights(int p) {
  std::vector<double> weights;
  for (int k = 1; k <= p; ++k) {
    double weight = alternating(k) / ((2.0 * k - 1) * (2.0 * k - 1));
    // ((2p-1)!!)^2 / 4^(p-1) over (p-k)! (p+k-1)!, factor by factor so that nothing overflows.
    for (int i = 1; i < p; ++i) weight *= (i + 0.5) * (i + 0.5);
    for (int i = 2; i <= p - k; ++i) weight /= i;
    for (int i = 2; i <= p + k - 1; ++i) weight /= i;
    weights.push_back(weight);
  }
  return weights;
}

Offset along(std::size_t axis, int distance) {
  Offset offset{0, 0, 0};
  offset[axis] = distance;
  return offset;
}

NodeId add(ExpressionBuilder& builder, NodeId sum, NodeId term) {
  return sum < 0 ? term : builder.apply(Operation::add, sum, term);
}

NodeId weighted(ExpressionBuilder& builder, double weight, NodeId term) {
  return builder.apply(Operation::multiply, builder.number(weight), term);
}

}  // namespace

NodeId ExpressionBuilder::checked(NodeId id) const {
  const std::vector<Node>& nodes = builder_.stencil().nodes;
  if (nodes.size() > allowed(kDefinitionLimits.nodes)) {
    throw ExpressionError(fmt::format("the expression has more than {} operations and reads", kDefinitionLimits.nodes));
  }
  if (as_written()) return id;  // its values are those of the simplified form, which comes first
  const Node& node = nodes[at(id)];
  if (node.op == Operation::number) {
    if (std::fabs(node.value) <= std::numeric_limits<float>::max()) return id;
    throw ExpressionError("the value of this constant expression does not fit in f32");
  }
  const int count = operand_count(node.op);
  bool constant = count > 0;
  for (int i = 0; i < count; ++i) constant = constant && nodes[at(node.operands[at(i)])].op == Operation::number;
  if (constant) throw ExpressionError("this constant expression has no finite value");  // else it would be a number
  return id;
}

NodeId ExpressionBuilder::number(double value) { return checked(builder_.number(value)); }

NodeId ExpressionBuilder::read(int field, const Offset& offset) {
  read_array(field, offset);
  const NodeId value = checked(builder_.value(field, offset));
  const int axis = layer_axis(builder_.stencil(), field);
  return axis < 0 ? value : within_layer(axis, offset[at(axis)], value);
}

NodeId ExpressionBuilder::within_layer(int axis, int offset, NodeId value) {
  return apply(Operation::select, beyond(Operation::in_layer, axis, offset), value, number(0));
}

NodeId ExpressionBuilder::read_array(int field, const Offset& offset) {
  for (const int distance : offset) {
    if (std::abs(distance) > kDefinitionLimits.offset) {
      throw ExpressionError(fmt::format("field '{}' is read {} cells away; {} is the most",
                                        builder_.stencil().fields[at(field)], std::abs(distance),
                                        kDefinitionLimits.offset));
    }
  }
  return checked(builder_.read(field, offset));
}

NodeId ExpressionBuilder::coordinate(int axis, int offset) {
  if (std::abs(offset) > kDefinitionLimits.offset) {
    throw ExpressionError(
        fmt::format("a coordinate is taken {} cells away; {} is the most", std::abs(offset), kDefinitionLimits.offset));
  }
  return checked(builder_.coordinate(axis, offset));
}

NodeId ExpressionBuilder::beyond(Operation op, int axis, int offset) {
  if (std::abs(offset) > kDefinitionLimits.offset) {
    throw ExpressionError(fmt::format("the edge is asked about {} cells away; {} is the most", std::abs(offset),
                                      kDefinitionLimits.offset));
  }
  if (op == Operation::in_layer) return checked(builder_.in_layer(axis, offset));
  if (op == Operation::outside) return checked(builder_.outside(axis, offset));
  return checked(op == Operation::before ? builder_.before(axis, offset) : builder_.after(axis, offset));
}

NodeId ExpressionBuilder::step() { return checked(builder_.step()); }

NodeId ExpressionBuilder::random(double key, int seed_coefficient, const Offset& offset) {
  return checked(builder_.random(key, seed_coefficient, offset));
}

NodeId ExpressionBuilder::apply(Operation op, NodeId a, NodeId b, NodeId c) {
  if (op == Operation::divide || op == Operation::modulo) {
    const Node& divisor = builder_.stencil().nodes[at(b)];
    if (divisor.op == Operation::number && divisor.value == 0) throw ExpressionError("division by zero");
  }
  return checked(builder_.apply(op, a, b, c));
}

NodeId ExpressionBuilder::power(NodeId base, int exponent) {
  if (as_written()) return written_power(*this, base, exponent);
  if (exponent < 0) return apply(Operation::divide, number(1), power(base, -exponent));
  if (exponent == 0) return number(1);
  if (exponent == 1) return base;
  const NodeId half = power(base, exponent / 2);
  const NodeId square = apply(Operation::multiply, half, half);
  return exponent % 2 == 0 ? square : apply(Operation::multiply, square, base);
}

std::optional<double> ExpressionBuilder::constant(NodeId expression) const {
  const std::vector<Node>& nodes = builder_.stencil().nodes;
  if (nodes[at(expression)].op == Operation::number) return nodes[at(expression)].value;
  std::vector<std::optional<double>> values(at(expression) + 1);
  for (std::size_t id = 0; id < values.size(); ++id) {
    const Node& node = nodes[id];
    if (node.op == Operation::number) values[id] = node.value;
    std::array<double, 3> operands{};
    bool constant = operand_count(node.op) > 0;
    for (std::size_t i = 0; constant && i < at(operand_count(node.op)); ++i) {
      constant = values[at(node.operands[i])].has_value();
      operands[i] = values[at(node.operands[i])].value_or(0);
    }
    if (node.op == Operation::select && values[at(node.operands[0])]) {  // the simplified form has none of the other
      values[id] = values[at(node.operands[*values[at(node.operands[0])] != 0 ? 1 : 2])];
      continue;
    }
    if (constant) values[id] = carry_out(node.op, operands[0], operands[1], operands[2]);
  }
  return values.back();
}

NodeId ExpressionBuilder::shift(NodeId expression, const Offset& by) {
  if (by == Offset{0, 0, 0} || !builder_.reads_field(expression)) return expression;
  const std::vector<bool> marked = reachable(builder_.stencil(), {expression});
  std::vector<NodeId> moved(at(expression) + 1, -1);
  for (NodeId id = 0; id <= expression; ++id) {
    if (++shifted_ > allowed(kDefinitionLimits.shifted)) {
      throw ExpressionError("operators are nested too deeply to be written out");
    }
    if (!marked[at(id)]) continue;
    if (!builder_.reads_field(id)) {
      moved[at(id)] = id;
      continue;
    }
    const Node node = builder_.stencil().nodes[at(id)];  // a copy: the arena grows
    if (node.op == Operation::read || node.op == Operation::profile) {
      moved[at(id)] = read_array(node.index, {node.offset[0] + by[0], node.offset[1] + by[1], node.offset[2] + by[2]});
      continue;
    }
    if (asks_edge(node.op) || node.op == Operation::in_layer) {
      moved[at(id)] = beyond(node.op, node.index, node.offset[at(node.index)] + by[at(node.index)]);
      continue;
    }
    if (node.op == Operation::coordinate) {
      moved[at(id)] = coordinate(node.index, node.offset[at(node.index)] + by[at(node.index)]);
      continue;
    }
    if (node.op == Operation::step) {
      moved[at(id)] = id;
      continue;
    }
    if (node.op == Operation::random) {
      moved[at(id)] =
          random(node.value, node.index, {node.offset[0] + by[0], node.offset[1] + by[1], node.offset[2] + by[2]});
      continue;
    }
    std::array<NodeId, 3> operands{-1, -1, -1};
    for (int i = 0; i < operand_count(node.op); ++i) operands[at(i)] = moved[at(node.operands[at(i)])];
    moved[at(id)] = apply(node.op, operands[0], operands[1], operands[2]);
  }
  return moved[at(expression)];
}

std::vector<double> difference_weights(Difference::Kind kind, int accuracy) {
  const int p = accuracy / 2;
  switch (kind) {
    case Difference::Kind::second:
      return central_weights(p, true);
    case Difference::Kind::first:
      return central_weights(p, false);
    case Difference::Kind::forward:
    case Difference::Kind::backward:
      return staggered_weights(p);
  }
  return {};
}

NodeId differentiate(ExpressionBuilder& builder, NodeId expression, const Difference& difference) {
  if (builder.as_written()) return written_difference(builder, expression, difference);
  const auto value = [&](int distance) { return builder.shift(expression, along(difference.axis, distance)); };
  const std::vector<double> weights = difference_weights(difference.kind, difference.accuracy);
  const int last = static_cast<int>(weights.size()) - 1;
  NodeId sum = -1;
  switch (difference.kind) {
    case Difference::Kind::second:
      sum = weighted(builder, weights[0], expression);
      for (int k = 1; k <= last; ++k) {
        sum = add(builder, sum, weighted(builder, weights[at(k)], builder.apply(Operation::add, value(-k), value(k))));
      }
      return sum;
    case Difference::Kind::first:
      for (int k = 1; k <= last; ++k) {
        const NodeId pair = builder.apply(Operation::subtract, value(k), value(-k));
        sum = add(builder, sum, weighted(builder, weights[at(k)], pair));
      }
      return sum;
    case Difference::Kind::forward:
    case Difference::Kind::backward: {
      const int ahead = difference.kind == Difference::Kind::forward ? 1 : 0;
      for (int k = 0; k <= last; ++k) {
        const NodeId pair = builder.apply(Operation::subtract, value(k + ahead), value(ahead - 1 - k));
        sum = add(builder, sum, weighted(builder, weights[at(k)], pair));
      }
      return sum;
    }
  }
  return sum;
}

NodeId laplacian(ExpressionBuilder& builder, NodeId expression, int accuracy) {
  if (builder.as_written()) return written_laplacian(builder, expression, accuracy);
  const std::vector<double> weights = difference_weights(Difference::Kind::second, accuracy);
  NodeId sum = weighted(builder, builder.rank() * weights[0], expression);
  for (int k = 1; k < static_cast<int>(weights.size()); ++k) {
    NodeId ring = -1;
    for (std::size_t axis = 0; axis < at(builder.rank()); ++axis) {
      for (const int distance : {-k, k}) ring = add(builder, ring, builder.shift(expression, along(axis, distance)));
    }
    sum = add(builder, sum, weighted(builder, weights[at(k)], ring));
  }
  return sum;
}

}  // namespace stencil_tune
