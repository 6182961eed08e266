#include "tuner/verify/reference/reference_expression.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

bool is_number(const Node& node) { return node.op == Operation::number; }

/// Marks the nodes below the root, and the root, which is the last of them.
std::vector<bool> marked_below(const std::vector<Node>& nodes, NodeId root) {
  std::vector<bool> marked(at(root) + 1);
  marked[at(root)] = true;
  for (NodeId id = root; id >= 0; --id) {
    const Node& node = nodes[at(id)];
    for (std::size_t i = 0; marked[at(id)] && i < at(operand_count(node.op)); ++i) marked[at(node.operands[i])] = true;
  }
  return marked;
}

/// Adds 1 in the layers, else 0: whether a cell lies before the first one that is in none, or behind the last. A cell
/// beyond an edge without a layer is in none.
NodeId add_in_layer(std::vector<Node>& nodes, const Node& asked, const LayerWidths& widths) {
  const auto axis = at(asked.index);
  std::vector<NodeId> ends;
  const auto add_end = [&](Operation op, std::int64_t width) {
    if (width == 0) return;
    Node end;
    end.op = op;
    end.index = asked.index;
    end.offset[axis] = asked.offset[axis] + static_cast<int>(op == Operation::before ? -width : width);
    nodes.push_back(end);
    ends.push_back(static_cast<NodeId>(nodes.size()) - 1);
  };
  add_end(Operation::before, widths.low[axis]);
  add_end(Operation::after, widths.high[axis]);
  const auto add = [&](Operation op, const std::array<NodeId, 3>& operands, double value = 0) {
    Node node;
    node.op = op;
    node.operands = operands;
    node.value = value;
    nodes.push_back(node);
    return static_cast<NodeId>(nodes.size()) - 1;
  };
  const NodeId zero = add(Operation::number, {-1, -1, -1});
  if (ends.empty()) return zero;
  const NodeId distance = ends.size() == 1 ? ends[0] : add(Operation::maximum, {ends[0], ends[1], -1});
  return add(Operation::less, {zero, distance, -1});
}

LayerWidths layers_of(const Stencil& stencil) { return stencil.layers.value_or(LayerWidths{}); }

/// The nodes below the root, in their order; the root becomes the last.
std::vector<Node> needed(const std::vector<Node>& nodes, NodeId root, const LayerWidths& widths) {
  const std::vector<bool> marked = marked_below(nodes, root);
  std::vector<NodeId> place(marked.size(), -1);
  std::vector<Node> kept;
  for (std::size_t id = 0; id < marked.size(); ++id) {
    if (!marked[id]) continue;
    if (nodes[id].op == Operation::in_layer) {
      place[id] = add_in_layer(kept, nodes[id], widths);
      continue;
    }
    Node node = nodes[id].op == Operation::outside ? settled_outside(nodes[id]) : nodes[id];
    for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) node.operands[i] = place[at(node.operands[i])];
    place[id] = static_cast<NodeId>(kept.size());
    kept.push_back(node);
  }
  return kept;
}

/// The node's value where all its operands are numbers; itself where that is not finite.
Node carried_out(const Node& node, const std::vector<Node>& nodes) {
  std::array<check::Bounded, 3> operands{};
  for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) {
    const Node& operand = nodes[at(node.operands[i])];
    if (!is_number(operand)) return node;
    operands[i] = check::exactly(operand.value);
  }
  check::Bounded result{};
  evaluate(node.op, false, {&operands[0], &operands[1], &operands[2]}, check::Rounding{}, {&result, 1});
  Node number;
  number.value = result.value;
  return std::isfinite(number.value) ? number : node;
}

/// Constants carried out, decided selects taken. The last node is the root.
std::vector<Node> settled(std::vector<Node> result) {
  std::vector<NodeId> stands_for(result.size());  // a decided select is its branch
  for (std::size_t id = 0; id < result.size(); ++id) {
    Node& node = result[id];
    stands_for[id] = static_cast<NodeId>(id);
    if (operand_count(node.op) == 0) continue;
    for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) node.operands[i] = stands_for[at(node.operands[i])];
    const Node& condition = result[at(node.operands[0])];
    if (node.op == Operation::select && is_number(condition)) {
      stands_for[id] = node.operands[condition.value != 0 ? 1 : 2];
    } else {
      node = carried_out(node, result);
    }
  }
  return needed(result, stands_for.back(), {});
}

/// What lies beyond the edges, put into a written expression. Kernels have the definition's words in their updates, and
/// zero where cells are read. Here a read is answered axis by axis, the problem's zero among the words.
class AnsweredBeyondEdges {
 public:
  explicit AnsweredBeyondEdges(const Problem& problem) : problem_(problem) {}

  /// The written expression's nodes, the root last.
  std::vector<Node> nodes(NodeId root) && {
    const WrittenForm& written = problem_.stencil.written;
    place_.assign(written.nodes.size(), -1);
    for (const WrittenEdge& edge : written.edges) {
      for (const NodeId term : edge.terms) {
        if (term >= 0) copy(term);
      }
    }
    copy(root);
    return needed(nodes_, place_[at(root)], layers_of(problem_.stencil));
  }

 private:
  /// With all that it is made of, operands first.
  void copy(NodeId root) {
    const std::vector<Node>& written = problem_.stencil.written.nodes;
    const std::vector<bool> marked = marked_below(written, root);
    for (std::size_t id = 0; id < marked.size(); ++id) {
      if (!marked[id] || place_[id] >= 0) continue;
      Node node = written[id];
      for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) node.operands[i] = place_[at(node.operands[i])];
      place_[id] = node.op == Operation::read ? beyond(node, 0) : add(node);
    }
  }

  NodeId add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<NodeId>(nodes_.size()) - 1;
  }
  NodeId add(Operation op, NodeId a, NodeId b = -1, NodeId c = -1) {
    Node node;
    node.op = op;
    node.operands = {a, b, c};
    return add(node);
  }

  /// The read where the axes from this one on may have ended: what this axis's word makes of what the next ones answer.
  NodeId beyond(const Node& read, std::size_t axis) {
    if (axis == kMaxRank) return add(read);
    const NodeId answered = beyond(read, axis + 1);
    const int offset = read.offset[axis];
    if (offset == 0) return answered;
    const auto& edges = problem_.stencil.written.edges;
    const auto edge = std::find_if(edges.begin(), edges.end(), [&](const WrittenEdge& each) {
      return each.field == read.index && each.axis == static_cast<int>(axis) && each.high == (offset > 0);
    });
    const bool defined = edge != edges.end();
    const bool is_zero = defined ? edge->word == EdgeWord::zero : problem_.boundaries[axis] == Boundary::zero;
    const bool mirrors = defined && (edge->word == EdgeWord::odd || edge->terms[0] >= 0);
    if (!is_zero && !mirrors) return answered;
    if (is_zero && nodes_[at(answered)].op == Operation::read && problem_.boundaries[axis] == Boundary::zero) {
      return answered;  // 0 where it reads
    }
    Node distance;
    distance.op = offset < 0 ? Operation::before : Operation::after;
    distance.index = static_cast<int>(axis);
    distance.offset[axis] = offset;
    const NodeId far = add(distance);
    if (is_zero) return add(Operation::select, far, add(Node{}), answered);
    if (edge->word == EdgeWord::odd) return add(Operation::select, far, add(Operation::negate, answered), answered);
    const auto term = [&](std::size_t i) { return place_[at(edge->terms[i])]; };
    if (edge->word == EdgeWord::dirichlet) {
      const NodeId twice = add(Operation::add, term(0), term(0));
      return add(Operation::select, far, add(Operation::subtract, twice, answered), answered);
    }
    if (edge->word == EdgeWord::neumann) {
      const NodeId rise = add(Operation::multiply, add(Operation::add, far, far), term(0));
      return add(Operation::select, far, add(Operation::add, answered, rise), answered);
    }
    const NodeId taken = add(Operation::multiply, term(0), far);
    const NodeId kept = add(Operation::multiply, add(Operation::subtract, term(1), taken), answered);
    const NodeId rise = add(Operation::multiply, add(Operation::add, far, far), term(2));
    const NodeId answer = add(Operation::divide, add(Operation::add, kept, rise), add(Operation::add, term(1), taken));
    return add(Operation::select, far, answer, answered);
  }

  const Problem& problem_;
  std::vector<Node> nodes_;
  std::vector<NodeId> place_;  ///< where each written node is among these
};

void reject_unknown_reads(const Problem& problem, const std::vector<Node>& nodes) {
  const std::vector<Tap>& known = problem.facts.taps;
  for (const Node& node : nodes) {
    if (node.op != Operation::read) continue;
    if (std::binary_search(known.begin(), known.end(), Tap{node.index, node.offset}, comes_before)) continue;
    throw Error(ErrorCode::internal,
                fmt::format("stencil '{}' is written to read {}[{}], and does not once it is simplified: its kernels "
                            "would be wrong; please report this with its definition",
                            problem.stencil.name, problem.stencil.fields[at(node.index)], fmt::join(node.offset, ",")));
  }
}

/// Says which products and quotients are whole.
ReferenceExpression marked(std::vector<Node> nodes) {
  std::vector<bool> varies(nodes.size()), whole(nodes.size());
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    const Node& node = nodes[id];
    const auto operand_varies = [&](std::size_t i) { return varies[at(node.operands[i])]; };
    varies[id] = node.op == Operation::read || is_place(node.op);
    for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) varies[id] = varies[id] || operand_varies(i);
    if (node.op == Operation::multiply) whole[id] = operand_varies(0) && operand_varies(1);
    if (node.op == Operation::divide) whole[id] = operand_varies(1);
  }
  return {std::move(nodes), std::move(whole)};
}

}  // namespace

ReferenceExpression reference_expression(const Problem& problem, std::size_t output) {
  const Stencil& stencil = problem.stencil;
  const bool as_written = !stencil.written.stages.empty();
  const std::vector<Stage>& stages = as_written ? stencil.written.stages : stencil.stages;
  const NodeId root = stages[at(problem.stage)].updates[output].expression;
  ReferenceExpression expression = marked(as_written ? settled(AnsweredBeyondEdges(problem).nodes(root))
                                                     : settled(needed(stencil.nodes, root, layers_of(stencil))));
  reject_unknown_reads(problem, expression.nodes);
  return expression;
}

ReferenceExpression simplified_expression(const Stencil& stencil, NodeId root) {
  return marked(needed(stencil.nodes, root, layers_of(stencil)));
}

/// Not shared with run_program(), the device's: where one of the two takes an operation for another, they disagree.
void evaluate(Operation op, bool whole, const std::array<const check::Bounded*, 3>& operands,
              const check::Rounding& rounding, std::span<check::Bounded> results) {
  const check::Bounded *const a = operands[0], *const b = operands[1], *const c = operands[2];
  const auto each = [results](auto&& result) {
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = result(i);
  };
  switch (op) {
    case Operation::negate:
      return each([&](std::size_t i) { return check::negate(a[i]); });
    case Operation::absolute:
      return each([&](std::size_t i) { return check::absolute(a[i], rounding); });
    case Operation::square_root:
      return each([&](std::size_t i) { return check::square_root(a[i], rounding); });
    case Operation::exponential:
      return each([&](std::size_t i) { return check::exponential(a[i], rounding); });
    case Operation::add:
      return each([&](std::size_t i) { return check::add(a[i], b[i]); });
    case Operation::subtract:
      return each([&](std::size_t i) { return check::subtract(a[i], b[i]); });
    case Operation::multiply:
      return each(
          [&](std::size_t i) { return whole ? check::product(a[i], b[i], rounding) : check::multiply(a[i], b[i]); });
    case Operation::divide:
      return each([&](std::size_t i) {
        return whole ? check::quotient(a[i], b[i], rounding) : check::divide(a[i], b[i], rounding);
      });
    case Operation::minimum:
      return each([&](std::size_t i) { return check::minimum(a[i], b[i], rounding); });
    case Operation::maximum:
      return each([&](std::size_t i) { return check::maximum(a[i], b[i], rounding); });
    case Operation::less:
      return each([&](std::size_t i) { return check::compared(a[i].value < b[i].value, a[i], b[i], rounding); });
    case Operation::less_equal:
      return each([&](std::size_t i) { return check::compared(a[i].value <= b[i].value, a[i], b[i], rounding); });
    case Operation::equal:
      return each([&](std::size_t i) { return check::compared(a[i].value == b[i].value, a[i], b[i], rounding); });
    case Operation::select:
      return each([&](std::size_t i) { return check::select(a[i], b[i], c[i], rounding); });
    case Operation::sine:
      return each([&](std::size_t i) { return check::sine(a[i], rounding); });
    case Operation::cosine:
      return each([&](std::size_t i) { return check::cosine(a[i], rounding); });
    case Operation::tangent:
      return each([&](std::size_t i) { return check::tangent(a[i], rounding); });
    case Operation::hyperbolic_tangent:
      return each([&](std::size_t i) { return check::hyperbolic_tangent(a[i], rounding); });
    case Operation::logarithm:
      return each([&](std::size_t i) { return check::logarithm(a[i], rounding); });
    case Operation::power:
      return each([&](std::size_t i) { return check::power(a[i], b[i], rounding); });
    case Operation::floor:
      return each([&](std::size_t i) { return check::floored(a[i], rounding); });
    case Operation::round:
      return each([&](std::size_t i) { return check::rounded(a[i], rounding); });
    case Operation::modulo:
      return each([&](std::size_t i) { return check::modulo(a[i], b[i], rounding); });
    case Operation::number:
    case Operation::coefficient:
    case Operation::read:
    case Operation::coordinate:
    case Operation::step:
    case Operation::before:
    case Operation::after:
    case Operation::outside:
    case Operation::profile:
    case Operation::in_layer:
    case Operation::random:
      break;
  }
  throw Error(ErrorCode::internal,
              fmt::format("the reference does not know operation {}; add it to evaluate()", static_cast<int>(op)));
}

}  // namespace stencil_tune
