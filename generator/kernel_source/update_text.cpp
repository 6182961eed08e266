#include "generator/kernel_source/update_text.hpp"

#include "generator/kernel_source/regroup.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/common_weights.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace stencil_tune {
namespace {

/// Nested deeper than this an expression becomes a named value: compilers and people read it line by line.
constexpr int kMaxNesting = 4;

struct Text {
  std::string text;
  int nesting = 0;
};

class StatementWriter {
 public:
  StatementWriter(const Stencil& stencil, std::span<const Assignment> statements, const StageFacts& facts,
                  const AxisMap& axes, int first_sum)
      : stencil_(stencil),
        statements_(statements),
        facts_(facts),
        axes_(axes),
        first_sum_(first_sum),
        uses_(stencil.nodes.size(), 0),
        divides_(stencil.nodes.size(), false),
        summed_(stencil.nodes.size(), false) {
    for (const Assignment& statement : statements) count_uses(statement.expression);
  }

  std::string write() {
    std::vector<Text> texts(stencil_.nodes.size());
    for (NodeId id = 0; id < static_cast<NodeId>(stencil_.nodes.size()); ++id) {
      if (uses_[static_cast<std::size_t>(id)] > 0) texts[static_cast<std::size_t>(id)] = expression(id, texts);
    }
    for (const Assignment& statement : statements_) {
      const std::string& text = texts[static_cast<std::size_t>(statement.expression)].text;
      lines_ += fmt::format("    {} {};\n", statement.target, text);
    }
    return lines_;
  }

 private:
  void count_uses(NodeId id) {
    if (uses_[static_cast<std::size_t>(id)]++ > 0) return;
    const Node& node = stencil_.nodes[static_cast<std::size_t>(id)];
    for (int i = 0; i < operand_count(node.op); ++i) count_uses(node.operands[static_cast<std::size_t>(i)]);
    if (node.op == Operation::divide) divides_[static_cast<std::size_t>(node.operands[1])] = true;
    if (node.op == Operation::add || node.op == Operation::subtract) {
      for (int i = 0; i < 2; ++i) summed_[static_cast<std::size_t>(node.operands[static_cast<std::size_t>(i)])] = true;
    }
  }

  /// A root that only divides is taken as the inverse root, and multiplied by: far fewer instructions than either.
  bool is_inverted(NodeId id) const {
    const auto place = static_cast<std::size_t>(id);
    return stencil_.nodes[place].op == Operation::square_root && divides_[place] && uses_[place] == 1;
  }
  bool is_number(NodeId id, double value) const {
    const Node& node = stencil_.nodes[static_cast<std::size_t>(id)];
    return node.op == Operation::number && node.value == value;
  }

  /// Which operand a product with 2 doubles, where one sum alone adds the product up. Such a sum is written as a
  /// multiply-add: compilers would turn 2*x into x + x before they look for one, which takes an addition more.
  std::optional<std::size_t> doubled(NodeId id) const {
    const Node& node = stencil_.nodes[static_cast<std::size_t>(id)];
    const bool is_term = summed_[static_cast<std::size_t>(id)] && uses_[static_cast<std::size_t>(id)] == 1;
    if (node.op != Operation::multiply || !is_term) return {};
    if (is_number(node.operands[0], 2)) return 1;
    if (is_number(node.operands[1], 2)) return 0;
    return {};
  }

  /// Operands come before their node in the arena, so their texts are there. Shared or deep ones get a name.
  Text expression(NodeId id, const std::vector<Text>& texts) {
    const Node& node = stencil_.nodes[static_cast<std::size_t>(id)];
    std::array<std::string, 3> operands;
    int nesting = 0;
    for (int i = 0; i < operand_count(node.op); ++i) {
      const Text& operand = texts[static_cast<std::size_t>(node.operands[static_cast<std::size_t>(i)])];
      operands[static_cast<std::size_t>(i)] = operand.text;
      nesting = std::max(nesting, operand.nesting + 1);
    }
    const std::string text = operation(id, operands);
    const bool is_leaf = operand_count(node.op) == 0;
    if (is_leaf || (uses_[static_cast<std::size_t>(id)] == 1 && nesting < kMaxNesting)) return {text, nesting};
    lines_ += fmt::format("    const Value t{} = {};\n", id, text);
    return {fmt::format("t{}", id), 0};
  }

  std::string operation(NodeId id, const std::array<std::string, 3>& a) const {
    const Node& node = stencil_.nodes[static_cast<std::size_t>(id)];
    switch (node.op) {
      case Operation::number:
        return number(node.value);
      case Operation::coefficient:
        return fmt::format("c[{}]", node.index);
      case Operation::read:
        return read(node);
      case Operation::negate:
        return fmt::format("(-{})", a[0]);
      case Operation::absolute:
        return fmt::format("absolute({})", a[0]);
      case Operation::square_root:
        return fmt::format("{}({})", is_inverted(id) ? "inverse_root" : "square_root", a[0]);
      case Operation::exponential:
        return fmt::format("exponential({})", a[0]);
      case Operation::add:
      case Operation::subtract:
        return sum(node, a);
      case Operation::multiply:
        if (const auto operand = doubled(id)) return a[*operand];  // the sum writes the factor
        return fmt::format("{} * {}", a[0], a[1]);
      case Operation::divide:
        if (!is_inverted(node.operands[1])) return fmt::format("({} / ({}))", a[0], a[1]);
        return is_number(node.operands[0], 1) ? a[1] : fmt::format("{} * {}", a[0], a[1]);
      case Operation::minimum:
        return fmt::format("minimum({}, {})", a[0], a[1]);
      case Operation::maximum:
        return fmt::format("maximum({}, {})", a[0], a[1]);
      case Operation::less:
        return fmt::format("Value({} < {})", a[0], a[1]);
      case Operation::less_equal:
        return fmt::format("Value({} <= {})", a[0], a[1]);
      case Operation::equal:
        return fmt::format("Value({} == {})", a[0], a[1]);
      case Operation::select:
        return fmt::format("({} != Value(0) ? {} : {})", a[0], a[1], a[2]);
      case Operation::sine:
        return fmt::format("sine({})", a[0]);
      case Operation::cosine:
        return fmt::format("cosine({})", a[0]);
      case Operation::tangent:
        return fmt::format("tangent({})", a[0]);
      case Operation::hyperbolic_tangent:
        return fmt::format("hyperbolic_tangent({})", a[0]);
      case Operation::logarithm:
        return fmt::format("logarithm({})", a[0]);
      case Operation::power:
        return fmt::format("power({}, {})", a[0], a[1]);
      case Operation::floor:
        return fmt::format("whole_below({})", a[0]);
      case Operation::round:
        return fmt::format("nearest_whole({})", a[0]);
      case Operation::modulo:
        return fmt::format("modulo({}, {})", a[0], a[1]);
      case Operation::random:
        return random(node);
      case Operation::coordinate: {
        const auto axis = static_cast<std::size_t>(node.index);
        return fmt::format("u.coordinate({}, {})", axes_[axis], node.offset[axis]);
      }
      case Operation::step:
        return "u.step()";
      case Operation::before:
      case Operation::after:
      case Operation::outside: {
        const auto axis = static_cast<std::size_t>(node.index);
        const Operation op = node.op == Operation::outside ? settled_outside(node).op : node.op;
        if (op == Operation::number) return number(0);
        return fmt::format("u.{}({}, {})", name(op), axes_[axis], node.offset[axis]);
      }
      case Operation::profile:
        return profile(node);
      case Operation::in_layer: {
        const auto axis = static_cast<std::size_t>(node.index);
        return fmt::format("u.template in_layer<{}, {}>()", axes_[axis], node.offset[axis]);
      }
    }
    return {};
  }

  /// Counters are in the grid's order of axes, those that it has not are 0.
  std::string random(const Node& node) const {
    const auto key = static_cast<std::uint64_t>(node.value);
    std::string text = node.index < 0 ? fmt::format("{}u", key & 0xffffffffu)
                                      : fmt::format("static_cast<unsigned>(static_cast<long long>(c[{}]))", node.index);
    text += fmt::format(", {}u", key >> 32);
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      const bool there = axis < static_cast<std::size_t>(stencil_.rank);
      text += there ? fmt::format(", u.counter({}, {})", axes_[axis], node.offset[axis]) : ", 0u";
    }
    return fmt::format("u.random({})", text);
  }

  std::string sum(const Node& node, const std::array<std::string, 3>& a) const {
    const bool subtracts = node.op == Operation::subtract;
    const bool doubles_second = doubled(node.operands[1]).has_value();
    if (doubled(node.operands[0])) {
      return fmt::format("fma(Value(2.0), {}, {}{}{})", a[0], subtracts ? "-" : "",
                         doubles_second ? "Value(2.0) * " : "", a[1]);
    }
    if (doubles_second) return fmt::format("fma(Value({}2.0), {}, {})", subtracts ? "-" : "", a[1], a[0]);
    return fmt::format("({} {} {})", a[0], subtracts ? '-' : '+', a[1]);
  }

  std::string profile(const Node& node) const {
    const std::size_t which = at(profile_number(stencil_, node.index));
    const Along place = stencil_.profiles[which].along;
    if (place == kAlongTime) return fmt::format("u.profile_now({})", which);
    std::string along;
    const std::vector<int> axes = axes_of(place);
    for (const int axis : axes) along += fmt::format(", {}, {}", axes_[at(axis)], node.offset[at(axis)]);
    if (axes.size() == 1) return fmt::format("u.template profile<{}{}>()", which, along);
    const std::size_t row = stencil_.profiles.size() + rows_before(stencil_, which);
    return fmt::format("u.template plane_profile<{}{}, {}>()", which, along, row);
  }

  static std::string number(double value) {
    const std::string digits = fmt::format("{:.17g}", value);
    const bool integral = digits.find_first_not_of("-0123456789") == std::string::npos;
    return fmt::format("Value({}{})", digits, integral ? ".0" : "");
  }

  std::string read(const Node& node) const {
    if (node.index >= first_sum_) return fmt::format("sum[{}]", node.index - first_sum_);
    const auto input = std::find(facts_.inputs.begin(), facts_.inputs.end(), node.index) - facts_.inputs.begin();
    std::array<int, kMaxRank> offset{0, 0, 0};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(stencil_.rank); ++axis) {
      offset[static_cast<std::size_t>(axes_[axis])] = node.offset[axis];
    }
    return fmt::format("u({}, {}, {}, {})", input, offset[0], offset[1], offset[2]);
  }

  const Stencil& stencil_;
  std::span<const Assignment> statements_;
  const StageFacts& facts_;
  const AxisMap& axes_;
  int first_sum_;
  std::vector<int> uses_;
  std::vector<bool> divides_;  ///< the node is a denominator
  std::vector<bool> summed_;   ///< the node is added, or subtracted
  std::string lines_;
};

}  // namespace

std::size_t rows_before(const Stencil& stencil, std::size_t profiles) {
  const auto first = stencil.profiles.begin();
  return static_cast<std::size_t>(
      std::count_if(first, first + static_cast<std::ptrdiff_t>(profiles),
                    [](const Profile& profile) { return axes_of(profile.along).size() == 2; }));
}

int profile_number(const Stencil& stencil, int field) {
  const auto found = std::find_if(stencil.profiles.begin(), stencil.profiles.end(),
                                  [field](const Profile& profile) { return profile.field == field; });
  return static_cast<int>(found - stencil.profiles.begin());
}

std::string update_text(const Stencil& stencil, int stage, const StageFacts& facts, const AxisMap& axes) {
  StencilBuilder builder(with_common_weights_in_front(stencil));
  const std::vector<Update> updates = builder.stencil().stages[static_cast<std::size_t>(stage)].updates;
  std::vector<Assignment> statements;
  for (std::size_t o = 0; o < updates.size(); ++o) {
    const NodeId expression = regroup(builder, updates[o].expression, facts.linear_taps);
    statements.push_back({fmt::format("out[{}] =", o), expression});
  }
  return statements_text(builder.stencil(), statements, facts, axes, static_cast<int>(stencil.fields.size()));
}

std::string statements_text(const Stencil& stencil, std::span<const Assignment> statements, const StageFacts& facts,
                            const AxisMap& axes, int first_sum) {
  return StatementWriter(stencil, statements, facts, axes, first_sum).write();
}

}  // namespace stencil_tune
