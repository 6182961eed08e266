#include "tests/kernels/random_stencils.hpp"

#include "generator/definition/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kMostNesting = 4;

Stencil random_builtin(Draw& draw) {
  const int rank = draw.between(1, kMaxRank);
  const Shape shape = draw.one_of({Shape::star, Shape::box});
  // Boxes of rank 3 grow with the cube of the order; no candidate of the largest is small enough to compile.
  const int most = shape == Shape::box && rank == 3 ? 4 : 8;
  const int order = draw.one_in(2) ? draw.between(1, 2) : draw.between(1, most);
  return make_builtin(shape, rank, order, draw.one_of({Sharing::distinct, Sharing::symmetric}));
}

Stencil random_of_corpus(Draw& draw) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("corpus")) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return load_definition(draw.one_of(files));
}

/// Writes expressions of a stencil that is being built.
class RandomExpressions {
 public:
  RandomExpressions(Draw& draw, int rank) : draw_(draw), builder_("random", rank), rank_(rank) {
    const int widest = rank == 3 ? 3 : 5;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
      reach_[axis] = {-draw.between(0, widest), draw.between(0, widest)};
    }
    if (draw.one_in(2)) std::fill(reach_.begin(), reach_.begin() + rank, Reach{-1, 1});
  }

  StencilBuilder& builder() { return builder_; }
  Draw& draw() { return draw_; }

  /// A weighted sum of cells of the fields; `at_cell` are read at the cell alone.
  NodeId linear(const std::vector<int>& fields, const std::vector<int>& at_cell) {
    NodeId sum = weighted(group(fields, draw_.between(1, 3)));
    for (const int field : at_cell) sum = plus(sum, weighted(builder_.read(field, {0, 0, 0})));
    return sum;
  }

  /// Any operations, kept away from what no bound follows: division by what may be 0, powers that grow.
  NodeId nonlinear(const std::vector<int>& fields, const std::vector<int>& at_cell) {
    const NodeId first = weighted(cell(fields));
    NodeId value = plus(first, bounded(any(fields, kMostNesting)));
    for (const int field : at_cell) {
      const NodeId own = builder_.read(field, {0, 0, 0});
      value = builder_.apply(draw_.one_of({Operation::multiply, Operation::add, Operation::maximum}), value, own);
    }
    return value;
  }

 private:
  Offset offset() {
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
  NodeId cell(const std::vector<int>& fields) {
    const int field = draw_.one_of(fields);
    return builder_.read(field, offset());
  }

  NodeId plus(NodeId a, NodeId b) { return builder_.apply(draw_.one_of({Operation::add, Operation::subtract}), a, b); }

  NodeId coefficient() {
    const int number = draw_.between(0, distinct_ - 1);
    return builder_.coefficient_value(builder_.coefficient(fmt::format("c{}", number), 0.5 / (number + 1)));
  }

  NodeId weight() {
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

  NodeId weighted(NodeId value) {
    if (draw_.one_in(6)) return value;
    if (draw_.one_in(8)) return builder_.apply(Operation::negate, value);
    return builder_.apply(Operation::multiply, weight(), value);
  }

  /// Nested weighted sums: few cells or many, some of them read twice.
  NodeId group(const std::vector<int>& fields, int levels) {
    NodeId sum = weighted(cell(fields));
    const int terms = draw_.between(1, levels == 1 ? 9 : 4);
    for (int term = 0; term < terms; ++term) {
      const bool nested = levels > 1 && draw_.one_in(2);
      const NodeId value = nested ? group(fields, levels - 1) : cell(fields);
      sum = plus(sum, weighted(value));
    }
    return sum;
  }

  NodeId bounded(NodeId value) {
    const NodeId above = builder_.apply(Operation::maximum, builder_.number(-2), value);
    return builder_.apply(Operation::minimum, above, builder_.number(2));
  }

  NodeId leaf(const std::vector<int>& fields) {
    if (draw_.one_in(6)) return draw_.one_in(2) ? coefficient() : builder_.number(draw_.one_of({0.5, -1.5, 3.0}));
    return cell(fields);
  }

  NodeId any(const std::vector<int>& fields, int levels) {
    using enum Operation;
    if (levels == 0 || draw_.one_in(8)) return leaf(fields);
    if (!known_.empty() && draw_.one_in(5)) return draw_.one_of(known_);  // what several places share
    const auto below = [&] { return any(fields, levels - 1); };
    const NodeId value = apply(draw_.one_of({negate, absolute, square_root, exponential, add, add, subtract, multiply,
                                             multiply, divide, minimum, maximum, less, select, select}),
                               below);
    known_.push_back(value);
    return value;
  }

  template <class Operand>
  NodeId apply(Operation op, const Operand& below) {
    using enum Operation;
    const NodeId a = below();
    const auto positive = [&](NodeId value) {
      return builder_.apply(add, builder_.number(0.5), builder_.apply(absolute, value));
    };
    switch (op) {
      case negate:
      case absolute:
        return builder_.apply(op, a);
      case square_root:
        return builder_.apply(op, positive(a));
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

  Draw& draw_;
  StencilBuilder builder_;
  int rank_;
  std::array<Reach, kMaxRank> reach_{};
  bool star_ = draw_.one_in(3);
  int distinct_ = draw_.one_of({1, 2, 3, 12});  // coefficients
  std::vector<NodeId> known_;
};

using Fields = std::vector<int>;

Fields make_fields(StencilBuilder& builder, const char* prefix, int count) {
  Fields fields;
  for (int i = 0; i < count; ++i) fields.push_back(builder.field(fmt::format("{}{}", prefix, i)));
  return fields;
}

NodeId any_update(RandomExpressions& expressions, const Fields& fields, const Fields& at_cell) {
  return expressions.draw().one_in(3) ? expressions.nonlinear(fields, at_cell) : expressions.linear(fields, at_cell);
}

/// One field that steps advance, constant ones before and after it.
Stencil advancing_stencil(Draw& draw) {
  RandomExpressions expressions(draw, draw.between(1, kMaxRank));
  StencilBuilder& builder = expressions.builder();
  if (draw.one_in(6)) builder.field("unused"), builder.coefficient("unused", 1);
  Fields constants = make_fields(builder, "before", draw.one_of({0, 0, 1}));
  const int u = builder.field("u"), next = builder.field("next");
  const Fields later = make_fields(builder, "after", draw.one_of({0, 0, 1}));
  constants.insert(constants.end(), later.begin(), later.end());
  builder.update(next, any_update(expressions, {u}, constants));
  builder.rotate(next, u);
  return std::move(builder).build();
}

Stencil two_level_stencil(Draw& draw) {
  RandomExpressions expressions(draw, draw.between(1, kMaxRank));
  StencilBuilder& builder = expressions.builder();
  const int old = builder.field("old"), u = builder.field("u"), next = builder.field("next");
  builder.update(next, any_update(expressions, {u}, {old}));
  builder.rotate(next, u);
  builder.rotate(u, old);
  return std::move(builder).build();
}

/// Several fields read with their surroundings, several written, one stage or more; later stages read what earlier ones
/// wrote.
Stencil several_fields_stencil(Draw& draw) {
  RandomExpressions expressions(draw, draw.between(1, kMaxRank));
  StencilBuilder& builder = expressions.builder();
  Fields read = make_fields(builder, "in", draw.between(1, 3));
  const Fields at_cell = make_fields(builder, "k", draw.between(0, 1));
  const int stages = draw.one_of({1, 1, 2, 3});
  for (int stage = 0; stage < stages; ++stage) {
    const Fields written = make_fields(builder, fmt::format("out{}_", stage).c_str(), draw.one_of({1, 1, 2, 3}));
    builder.begin_stage();
    for (const int output : written) builder.update(output, any_update(expressions, read, at_cell));
    read.insert(read.end(), written.begin(), written.end());
  }
  return std::move(builder).build();
}

}  // namespace

Stencil random_stencil(Draw& draw) {
  switch (draw.between(0, 9)) {
    case 0:
    case 1:
      return random_builtin(draw);
    case 2:
      return random_of_corpus(draw);
    case 3:
    case 4:
    case 5:
    case 6:
      return advancing_stencil(draw);
    case 7:
      return two_level_stencil(draw);
    default:
      return several_fields_stencil(draw);
  }
}

}  // namespace stencil_tune
