#include "tests/kernels/random/random_expressions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {

Fields make_fields(StencilBuilder& builder, const char* prefix, int count) {
  Fields fields;
  for (int i = 0; i < count; ++i) fields.push_back(builder.field(fmt::format("{}{}", prefix, i)));
  return fields;
}

RandomExpressions::RandomExpressions(Draw& draw, int rank, ExpressionSize size)
    : draw_(draw), builder_("random", rank), rank_(rank), size_(size) {
  draw_reach(rank == 3 ? 3 : 5);
  if (draw.one_in(2)) std::fill(reach_.begin(), reach_.begin() + rank, Reach{-1, 1});
}

void RandomExpressions::begin_stage(int farthest) {
  builder_.begin_stage();
  known_.clear();  // its values may read fields that this stage writes
  draw_reach(farthest);
}

void RandomExpressions::draw_reach(int farthest) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank_); ++axis) {
    reach_[axis].low = -draw_.between(0, farthest);
    reach_[axis].high = draw_.between(0, farthest);
  }
}

NodeId RandomExpressions::any_update(const Fields& fields, const Fields& at_cell) {
  return draw_.one_in(3) ? nonlinear(fields, at_cell) : linear(fields, at_cell);
}

NodeId RandomExpressions::linear(const Fields& fields, const Fields& at_cell) {
  NodeId sum = weighted(group(fields, draw_.between(1, size_.sums)));
  for (const int field : at_cell) sum = plus(sum, weighted(builder_.read(field, {0, 0, 0})));
  return sum;
}

NodeId RandomExpressions::nonlinear(const Fields& fields, const Fields& at_cell) {
  const NodeId first = weighted(cell(fields));
  NodeId value = plus(first, bounded(any(fields, size_.nesting)));
  for (const int field : at_cell) {
    const NodeId own = builder_.read(field, {0, 0, 0});
    value = builder_.apply(draw_.one_of({Operation::multiply, Operation::add, Operation::maximum}), value, own);
  }
  return value;
}

Offset RandomExpressions::offset() {
  Offset offset{0, 0, 0};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank_); ++axis) {
    offset[axis] = draw_.between(reach_[axis].low, reach_[axis].high);
  }
  // Stars have kernels that others have not.
  if (star_) {
    const auto kept = draw_.between(std::size_t{0}, static_cast<std::size_t>(rank_) - 1);
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) offset[axis] *= axis == kept ? 1 : 0;
  }
  return offset;
}

// Where the order of draws is left to the compiler, cases would differ: operands are drawn one by one.
NodeId RandomExpressions::cell(const Fields& fields) {
  const int field = draw_.one_of(fields);
  const Offset at = offset();
  const NodeId value = builder_.read(field, at);
  return edges_ && draw_.one_in(2) ? beyond_an_edge(value, at) : value;
}

NodeId RandomExpressions::plus(NodeId a, NodeId b) {
  return builder_.apply(draw_.one_of({Operation::add, Operation::subtract}), a, b);
}

NodeId RandomExpressions::coefficient() {
  const int number = draw_.between(0, distinct_ - 1);
  return builder_.coefficient_value(builder_.coefficient(fmt::format("c{}", number), 0.5 / (number + 1)));
}

NodeId RandomExpressions::weight() {
  switch (draw_.between(0, 5)) {
    case 0:
      return builder_.number(draw_.one_of({0.25, -0.5, 2.0, 1.0 / 3, -1.0, 1e-3}));
    case 1: {
      const NodeId other = coefficient();
      return builder_.apply(Operation::multiply, coefficient(), other);
    }
    case 2: {
      const NodeId divisor = builder_.number(draw_.one_of({2.0, 3.0, -7.0}));
      return builder_.apply(Operation::divide, coefficient(), divisor);
    }
    default:
      return coefficient();
  }
}

NodeId RandomExpressions::weighted(NodeId value) {
  if (draw_.one_in(6)) return value;
  if (draw_.one_in(8)) return builder_.apply(Operation::negate, value);
  return builder_.apply(Operation::multiply, weight(), value);
}

/// Nested weighted sums: few cells or many, some of them read twice.
NodeId RandomExpressions::group(const Fields& fields, int levels) {
  NodeId sum = weighted(cell(fields));
  const int terms = draw_.between(1, levels == 1 ? 9 : 4);
  for (int term = 0; term < terms; ++term) {
    const bool nested = levels > 1 && draw_.one_in(2);
    const NodeId value = nested ? group(fields, levels - 1) : cell(fields);
    sum = plus(sum, weighted(value));
  }
  return sum;
}

NodeId RandomExpressions::bounded(NodeId value) {
  const NodeId above = builder_.apply(Operation::maximum, builder_.number(-2), value);
  return builder_.apply(Operation::minimum, above, builder_.number(2));
}

NodeId RandomExpressions::leaf(const Fields& fields) {
  if (draw_.one_in(6)) return draw_.one_in(2) ? coefficient() : builder_.number(draw_.one_of({0.5, -1.5, 3.0}));
  if (placed_ && draw_.one_in(3)) return place();
  return cell(fields);
}

/// A profile, or a coordinate, the step's number, the distance from an edge: small enough that fields count beside it.
NodeId RandomExpressions::place() {
  const int axis = draw_.between(0, rank_ - 1);
  const int offset = draw_.between(-2, 2);
  NodeId number = -1;
  switch (draw_.between(0, 5)) {
    case 5:
      return builder_.random(draw_.between(0, 3), -1, {offset, 0, 0});
    case 0:
      number = builder_.step();
      break;
    case 1:
      number = builder_.before(axis, offset);
      break;
    case 2:
      number = builder_.after(axis, offset);
      break;
    case 3: {
      Offset at{0, 0, 0};
      at[static_cast<std::size_t>(axis)] = offset;
      const int other = (axis + 1) % rank_;
      Along along = along_axis(axis);
      if (rank_ == 3 && draw_.one_in(3)) along |= along_axis(other);
      if (draw_.one_in(4)) along = kAlongTime;
      at[static_cast<std::size_t>(other)] = draw_.between(-1, 1);
      return builder_.read(builder_.profile(fmt::format("along_{}", along), along), at);
    }
    default:
      number = builder_.coordinate(axis, offset);
  }
  return builder_.apply(Operation::multiply, builder_.number(1.0 / 16), number);
}

/// The cell, with its sign changed, 0 or more by a slope where it lies beyond an edge.
NodeId RandomExpressions::beyond_an_edge(NodeId cell, const Offset& offset) {
  const int axis = draw_.between(0, rank_ - 1);
  const int distance = offset[static_cast<std::size_t>(axis)];
  if (distance == 0) return cell;
  const NodeId beyond = distance < 0 ? builder_.before(axis, distance) : builder_.after(axis, distance);
  switch (draw_.between(0, 2)) {
    case 0:
      return builder_.apply(Operation::select, beyond, builder_.apply(Operation::negate, cell), cell);
    case 1:
      return builder_.apply(Operation::select, beyond, builder_.number(0), cell);
    default: {
      const NodeId slope = builder_.number(0.25);
      return builder_.apply(Operation::add, cell, builder_.apply(Operation::multiply, slope, beyond));
    }
  }
}

NodeId RandomExpressions::any(const Fields& fields, int levels) {
  using enum Operation;
  if (levels == 0 || draw_.one_in(8)) return leaf(fields);
  if (!known_.empty() && draw_.one_in(5)) return draw_.one_of(known_);  // what several places share
  const NodeId value = apply(
      draw_.one_of(
          {negate,  absolute, square_root, exponential, add,    add,  subtract, multiply, multiply,           divide,
           minimum, maximum,  less,        select,      select, sine, cosine,   tangent,  hyperbolic_tangent, logarithm,
           power,   floor,    round,       modulo}),
      fields, levels - 1);
  known_.push_back(value);
  return value;
}

NodeId RandomExpressions::apply(Operation op, const Fields& fields, int levels) {
  using enum Operation;
  const auto below = [&] { return any(fields, levels); };
  const NodeId a = below();
  const auto positive = [&](NodeId value) {
    return builder_.apply(add, builder_.number(0.5), builder_.apply(absolute, value));
  };
  switch (op) {
    case negate:
    case absolute:
    case sine:
    case cosine:
    case hyperbolic_tangent:
      return builder_.apply(op, a);
    case square_root:
    case logarithm:
      return builder_.apply(op, positive(a));
    case tangent:  // its operand lies in -1 to 1: poles are far
      return builder_.apply(op, builder_.apply(multiply, builder_.number(0.5), bounded(a)));
    case power: {
      const NodeId base = positive(bounded(a));
      return builder_.apply(op, base, bounded(below()));
    }
    case floor:
    case round:
      return builder_.apply(op, builder_.apply(multiply, builder_.number(3), a));
    case modulo:
      return builder_.apply(op, a, builder_.number(draw_.one_of({0.75, -0.4, 3.0})));
    case exponential:
      return builder_.apply(op, bounded(a));
    case divide:
      return builder_.apply(op, a, positive(below()));
    case select: {
      const Operation compared = draw_.one_of({less, less_equal, equal});
      const NodeId condition = builder_.apply(compared, a, below());
      const NodeId yes = below();
      return builder_.apply(select, condition, yes, below());
    }
    default:
      return builder_.apply(op, a, below());
  }
}

}  // namespace stencil_tune
