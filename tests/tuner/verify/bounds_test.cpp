// Bounds of what is no weighted sum: tight where terms cancel within factors and divisors, and never too tight.
#include "generator/definition/definition.hpp"
#include "generator/stencil/indices.hpp"
#include "tests/kernels/random/random_draw.hpp"
#include "tuner/verify/reference/reference.hpp"
#include "tuner/verify/sharpness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace stencil_tune {
namespace {

// ---- schemes as their users write them ------------------------------------------------------------------------------

struct Scheme {
  std::string name;
  int rank;
  std::string text;          ///< the definition from [let] on
  std::string right, wrong;  ///< a small change
};

std::vector<Scheme> schemes() {
  return {{"weno5", 1, R"toml(
b0 = "13/12*(u[x-2] - 2*u[x-1] + u)^2 + 0.25*(u[x-2] - 4*u[x-1] + 3*u)^2"
b1 = "13/12*(u[x-1] - 2*u + u[x+1])^2 + 0.25*(u[x-1] - u[x+1])^2"
b2 = "13/12*(u - 2*u[x+1] + u[x+2])^2 + 0.25*(3*u - 4*u[x+1] + u[x+2])^2"
w0 = "0.1/(1e-6 + b0)^2"
w1 = "0.6/(1e-6 + b1)^2"
w2 = "0.3/(1e-6 + b2)^2"
q0 = "(2*u[x-2] - 7*u[x-1] + 11*u)/6"
q1 = "(-u[x-1] + 5*u + 2*u[x+1])/6"
q2 = "(2*u + 5*u[x+1] - u[x+2])/6"
f = "(w0*q0 + w1*q1 + w2*q2)/(w0 + w1 + w2)"
[update]
u_next = "u - lam*(f - f[x-1])"
)toml",
           "0.6/", "0.61/"},
          {"weno3", 1, R"toml(
w0 = "(1/3)/(1e-6 + (u - u[x-1])^2)^2"
w1 = "(2/3)/(1e-6 + (u[x+1] - u)^2)^2"
f = "w0/(w0 + w1)*(-0.5*u[x-1] + 1.5*u) + w1/(w0 + w1)*(0.5*u + 0.5*u[x+1])"
[update]
u_next = "u - lam*(f - f[x-1])"
)toml",
           "(2/3)/", "0.68/"},
          {"van_leer", 1, R"toml(
r = "(u - u[x-1])/(u[x+1] - u)"
phi = "(r + abs(r))/(1 + abs(r))"
[update]
u_next = "u - lam*(u - u[x-1] + 0.5*(phi*(u[x+1] - u) - phi[x-1]*(u - u[x-1])))"
)toml",
           "0.5*(phi", "0.51*(phi"},
          {"normalised_gradient", 2, R"toml(
ux = "0.5*(u[x+1] - u[x-1])"
uy = "0.5*(u[y+1] - u[y-1])"
m = "sqrt(ux^2 + uy^2 + 1e-6)"
nx = "ux/m"
ny = "uy/m"
[update]
u_next = "u + lam*(nx[x+1] - nx[x-1] + ny[y+1] - ny[y-1])"
)toml",
           "ux/m", "1.01*ux/m"},
          {"distance", 2, R"toml(
gx = "max(max(u - u[x-1], 0)^2, min(u[x+1] - u, 0)^2)"
gy = "max(max(u - u[y-1], 0)^2, min(u[y+1] - u, 0)^2)"
[update]
u_next = "u - lam*u/sqrt(u^2 + 1e-4)*(sqrt(gx + gy) - 1)"
)toml",
           " - 1)", " - 0.999)"},
          {"below_a_maximum", 1, R"toml(
d = "u[x+1] - 2*u + u[x-1]"
[update]
u_next = "0.5*u + lam*sqrt(max(d, 0)) + 1e-8*u/max(d, 1e-8)"
)toml",
           "0.5*u", "0.501*u"}};
}

Problem problem_of(const Scheme& scheme, const std::string& text, ElementType type) {
  const std::string head =
      "rank = " + std::to_string(scheme.rank) + "\nfields = [\"u\", \"u_next\"]\n[coefficients]\nlam = 0.2\n[let]";
  const Extents extents = scheme.rank == 1 ? Extents{1, {4001, 1, 1}} : Extents{2, {67, 59, 1}};
  const Boundaries periodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
  return make_problem(parse_definition(head + text, scheme.name), type, periodic, extents);
}

ReferenceField reference_of(const Problem& problem) {
  const CheckNumbers numbers = random_numbers(problem);
  return evaluate_reference(problem, host_inputs(problem, 1, numbers.input), numbers.coefficients).front();
}

class Schemes : public testing::TestWithParam<Scheme> {};

TEST_P(Schemes, AreBoundedInEveryCellAndSharplyChecked) {
  for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16}) {
    const Problem problem = problem_of(GetParam(), GetParam().text, type);
    EXPECT_EQ(reference_of(problem).unbounded_cells(), 0) << name(type);
    const Sharpness sharpness = compare_wrong_kernels(problem, random_numbers(problem), 1).sharpness();
    EXPECT_GE(sharpness.share, 0.99) << name(type) << ": " << sharpness.note;
  }
}

TEST_P(Schemes, ThatAreALittleWrongAreRefused) {
  std::string text = GetParam().text;
  text.replace(text.find(GetParam().right), GetParam().right.size(), GetParam().wrong);
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    const ReferenceField right = reference_of(problem_of(GetParam(), GetParam().text, type));
    const ReferenceField wrong = reference_of(problem_of(GetParam(), text, type));
    const double clearly = 1000 * rounding_of(type).unit;
    int differ = 0, accepted = 0;
    for (std::size_t i = 0; i < right.value.size(); ++i) {
      if (std::fabs(wrong.value[i] - right.value[i]) < clearly) continue;
      ++differ;
      accepted += right.accepts(i, round_to_storage(wrong.value[i], type)) ? 1 : 0;
    }
    EXPECT_GT(differ, 0.3 * static_cast<double>(right.value.size())) << name(type);
    EXPECT_LT(accepted, 0.02 * differ) << name(type);
  }
}

INSTANTIATE_TEST_SUITE_P(, Schemes, testing::ValuesIn(schemes()), [](const auto& c) { return c.param.name; });

// ---- signs ----------------------------------------------------------------------------------------------------------

TEST(Bounds, OfAQuotientNeedADivisorWhoseSignIsKnownAlone) {
  using namespace check;
  const Rounding f32 = rounding_of(ElementType::f32);
  const auto of = [&](const Bounded& divisor) { return tolerance(quotient(exactly(1), divisor, f32), f32); };
  const Bounded rough = opaque(0.01, 0.5, 0);
  EXPECT_EQ(of(add(exactly(1e-3), rough)), infinity());
  const double far = 1e3 - 1 / (1e-3 + 0.01);
  for (const Bounded& positive : {absolute(rough, f32), maximum(rough, exactly(0), f32)}) {
    EXPECT_GE(of(add(exactly(1e-3), positive)), far);
    EXPECT_LT(of(add(exactly(1e-3), positive)), 1.01 * far);
  }
  EXPECT_LT(of(add(exactly(1e-3), product(rough, rough, f32))), 1000);
  EXPECT_EQ(of(subtract(exactly(1e-3), absolute(rough, f32))), infinity());
  EXPECT_EQ(of(add(exactly(1e-3), absolute(negate(opaque(1, infinity(), 0)), f32))), infinity()) << "may be NaN";
}

TEST(Bounds, OfARootReachDownToZeroWhereItsOperandCannotBeNegative) {
  using namespace check;
  const Rounding f32 = rounding_of(ElementType::f32);
  const Bounded rough = opaque(0.01, 0.5, 0);
  EXPECT_EQ(tolerance(square_root(rough, f32), f32), infinity());
  const double up = std::sqrt(0.51) - 0.1;
  const double found = tolerance(square_root(maximum(rough, exactly(0), f32), f32), f32);
  EXPECT_GE(found, up);
  EXPECT_LT(found, 1.01 * up);
  EXPECT_LT(tolerance(square_root(product(exactly(0), exactly(0), f32), f32), f32), 1e-15) << "underflow alone";
}

TEST(Bounds, OfAMinimumOrMaximumDoNotCountWhatCannotBeChosen) {
  using namespace check;
  const Rounding f32 = rounding_of(ElementType::f32);
  const Bounded rough = opaque(-2, 0.5, 0), anything = opaque(-2, infinity(), 0);
  EXPECT_EQ(tolerance(maximum(rough, exactly(0), f32), f32), 0);
  EXPECT_EQ(tolerance(minimum(exactly(-4), rough, f32), f32), 0);
  EXPECT_EQ(tolerance(minimum(rough, exactly(0), f32), f32), 0.5);
  EXPECT_EQ(tolerance(maximum(rough, exactly(-1.75), f32), f32), 0.25);
  EXPECT_EQ(tolerance(maximum(anything, exactly(0), f32), f32), infinity());
  EXPECT_EQ(tolerance(minimum(opaque(std::nan(""), infinity(), 0), exactly(0), f32), f32), infinity());
}

// ---- no order of computing exceeds them -----------------------------------------------------------------------------

/// Expressions with sums that cancel in squares, divisors and roots, as schemes have them.
class RandomScheme {
 public:
  explicit RandomScheme(Draw& draw) : draw_(draw), builder_("random", 1), field_(builder_.field("u")) {}

  Stencil build() && {
    builder_.update(builder_.field("v"), sum(3));
    return std::move(builder_).build();
  }

 private:
  NodeId number(double value) { return builder_.number(value); }
  NodeId apply(Operation op, NodeId a, NodeId b = -1) { return builder_.apply(op, a, b); }
  NodeId cell() { return builder_.read(field_, {draw_.between(-3, 3), 0, 0}); }

  NodeId weighted(NodeId value) {
    switch (draw_.between(0, 4)) {
      case 0:
        return apply(Operation::multiply, number(draw_.one_of({13.0 / 12, -7.0, 1.0 / 3, 0.1, -0.3})), value);
      case 1:
        return apply(Operation::multiply, builder_.coefficient_value(builder_.coefficient("c", 0.7)), value);
      case 2:
        return apply(Operation::divide, value, number(6));
      default:
        return value;
    }
  }

  NodeId sum(int levels) {
    NodeId total = weighted(any(levels - 1));
    for (int more = draw_.between(1, 4); more > 0; --more) {
      const NodeId term = weighted(any(levels - 1));
      total = apply(draw_.one_of({Operation::add, Operation::subtract}), total, term);
    }
    return total;
  }

  NodeId square(int levels) {
    const NodeId value = sum(levels);
    return apply(Operation::multiply, value, value);
  }
  NodeId positive(int levels) {
    const NodeId first = apply(Operation::add, number(draw_.one_of({1e-6, 0.01, 1.0})), square(levels));
    if (draw_.one_in(2)) return first;
    return apply(Operation::add, first, apply(Operation::absolute, sum(levels)));
  }

  NodeId any(int levels) {
    if (levels <= 0) return cell();
    const int below = levels - 1;
    const NodeId value = draw_.one_in(3) ? cell() : sum(below);
    switch (draw_.between(0, 7)) {
      case 0:
        return apply(Operation::multiply, value, sum(below));
      case 1:
        return square(below);
      case 2:
        return apply(Operation::divide, value, positive(below));
      case 3:
        return apply(Operation::divide, value, apply(Operation::square_root, positive(below)));
      case 4:
        return apply(Operation::divide, value, cell());
      case 5:
        return apply(Operation::maximum, value, draw_.one_in(2) ? number(0) : cell());
      case 6:
        return apply(Operation::square_root, apply(Operation::maximum, value, number(0)));
      default:
        return apply(Operation::minimum, apply(Operation::absolute, value), cell());
    }
  }

  Draw& draw_;
  StencilBuilder builder_;
  int field_;
};

/// An expression in f32, one of the ways in which kernels may compute it: weights distributed or not, sums in any
/// order, with or without multiply-adds, inverses or quotients.
class OneOrder {
 public:
  OneOrder(Draw& draw, const std::vector<Node>& nodes, const std::vector<double>& cells, std::int64_t cell)
      : draw_(draw), nodes_(nodes), cells_(cells), cell_(cell), known_(nodes.size()), varies_(nodes.size()) {
    for (std::size_t id = 0; id < nodes.size(); ++id) {
      varies_[id] = nodes[id].op == Operation::read;
      for (int i = 0; i < operand_count(nodes[id].op); ++i) {
        varies_[id] = varies_[id] || varies_[at(nodes[id].operands[at(i)])];
      }
    }
  }

  float operator()(NodeId id) {
    std::optional<float>& known = known_[at(id)];
    if (!known) known = computed(id);
    return *known;
  }

 private:
  struct Term {
    float weight;
    float value;
  };

  float computed(NodeId id) {
    const Node& node = nodes_[at(id)];
    const auto operand = [&](std::size_t i) { return (*this)(node.operands[i]); };
    switch (node.op) {
      case Operation::number:
        return static_cast<float>(node.value);
      case Operation::coefficient:
        return 0.7F;
      case Operation::read:
        return static_cast<float>(cells_[static_cast<std::size_t>(cell_ + node.offset[0])]);
      case Operation::absolute:
        return std::fabs(operand(0));
      case Operation::square_root:
        return std::sqrt(operand(0));
      case Operation::minimum:
        return std::fmin(operand(0), operand(1));
      case Operation::maximum:
        return std::fmax(operand(0), operand(1));
      case Operation::multiply:
        if (stands(node, 0) && stands(node, 1)) return operand(0) * operand(1);
        return summed(id);
      case Operation::divide:
        if (!stands(node, 1)) return summed(id);
        return draw_.one_in(2) ? operand(0) / operand(1) : operand(0) * (1 / operand(1));
      default:
        return summed(id);
    }
  }

  bool stands(const Node& node, std::size_t i) const { return varies_[at(node.operands[i])]; }

  float summed(NodeId id) {
    std::vector<Term> terms;
    collect(id, 1, /*is_root=*/true, terms);
    std::shuffle(terms.begin(), terms.end(), draw_.engine());
    while (terms.size() > 1) {
      const Term last = terms.back();
      terms.pop_back();
      Term& into = terms[draw_.between(std::size_t{0}, terms.size() - 1)];
      const float other = into.weight * into.value;
      into = {1, draw_.one_in(2) ? std::fma(last.weight, last.value, other) : last.weight * last.value + other};
    }
    return terms.front().weight * terms.front().value;
  }

  void collect(NodeId id, float weight, bool is_root, std::vector<Term>& terms) {
    const Node& node = nodes_[at(id)];
    const auto go_on = [&](std::size_t i, float more) { collect(node.operands[i], weight * more, false, terms); };
    const bool whole = !is_root && draw_.one_in(4);
    if (!whole && (node.op == Operation::add || node.op == Operation::subtract)) {
      go_on(0, 1);
      return go_on(1, node.op == Operation::add ? 1.0F : -1.0F);
    }
    if (!whole && node.op == Operation::negate) return go_on(0, -1);
    if (!whole && node.op == Operation::divide && !stands(node, 1)) return go_on(0, 1 / (*this)(node.operands[1]));
    if (!whole && node.op == Operation::multiply && !(stands(node, 0) && stands(node, 1))) {
      const std::size_t varying = stands(node, 0) ? 0 : 1;
      return go_on(varying, (*this)(node.operands[1 - varying]));
    }
    terms.push_back({weight, (*this)(id)});
  }

  Draw& draw_;
  const std::vector<Node>& nodes_;
  const std::vector<double>& cells_;
  std::int64_t cell_;
  std::vector<std::optional<float>> known_;
  std::vector<bool> varies_;
};

TEST(Bounds, HoldForEveryOrderInWhichAKernelMayCompute) {
  constexpr std::int64_t kRow = 16;
  const check::Rounding f32 = rounding_of(ElementType::f32);
  int bounded = 0, unbounded = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Draw draw(seed);
    const Problem problem = make_problem(RandomScheme(draw).build(), ElementType::f32,
                                         {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {kRow, 1, 1}});
    const ReferenceExpression expression = reference_expression(problem, 0);
    const std::vector<std::vector<double>> inputs =
        host_inputs(problem, seed, {draw.one_in(3) ? check::Pattern::signed_unit : check::Pattern::positive, 0, 1});
    const std::vector<double> coefficients(problem.stencil.coefficients.size(), 0.7);
    for (std::int64_t cell = 3; cell < kRow - 3; ++cell) {
      const check::Bounded right = evaluate_cell(problem, expression, inputs, coefficients, {cell, 0, 0}, f32);
      const double allowed = check::tolerance(right, f32);
      const double least = check::at_least(right, f32);
      ++(std::isinf(allowed) ? unbounded : bounded);
      for (int order = 0; order < 4; ++order) {
        const float found = OneOrder(draw, expression.nodes, inputs.front(), cell)(expression.root());
        ASSERT_TRUE(check::accepts(right.value, allowed, found))
            << "seed " << seed << ", cell " << cell << ": " << found << " instead of " << right.value << " +- "
            << allowed;
        if (!std::isinf(allowed)) {
          ASSERT_GE(found, least) << "seed " << seed << ", cell " << cell;
        }
      }
    }
  }
  EXPECT_LT(unbounded, bounded / 50);
}

}  // namespace
}  // namespace stencil_tune
