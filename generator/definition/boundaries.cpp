#include "generator/definition/boundaries.hpp"

#include "generator/definition/expression/functions.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {
namespace {

using Kind = EdgeRule::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 9> kWords{{
    {"hold", Kind::hold},
    {"zero", Kind::zero},
    {"clamp", Kind::clamp},
    {"periodic", Kind::periodic},
    {"reflect", Kind::reflect},
    {"odd", Kind::odd},
    {"neumann", Kind::neumann},
    {"dirichlet", Kind::dirichlet},
    {"robin", Kind::robin},
}};

std::string_view word_of(Kind kind) {
  return std::find_if(kWords.begin(), kWords.end(), [&](const auto& each) { return each.second == kind; })->first;
}

bool mirrors(Kind kind) { return kind == Kind::reflect || kind == Kind::odd || DefinedBoundaries::terms_of(kind) > 0; }

/// How kernels answer reads beyond the edges of an axis with these rules; nothing where no one way serves them all.
std::optional<Boundary> common_boundary(const std::set<Kind>& kinds) {
  const auto all = [&](const auto& fits) { return std::all_of(kinds.begin(), kinds.end(), fits); };
  if (all([](Kind kind) { return kind == Kind::hold; })) return Boundary::hold;
  if (all([](Kind kind) { return kind == Kind::periodic; })) return Boundary::periodic;
  if (all([](Kind kind) { return kind == Kind::zero; })) return Boundary::zero;
  if (all([](Kind kind) { return kind == Kind::zero || kind == Kind::clamp; })) return Boundary::clamp;
  if (all([](Kind kind) { return kind == Kind::zero || mirrors(kind); })) return Boundary::reflect;
  return std::nullopt;
}

}  // namespace

std::optional<EdgeRule::Kind> DefinedBoundaries::kind_of(std::string_view word) {
  const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const auto& each) { return each.first == word; });
  if (found == kWords.end()) return std::nullopt;
  return found->second;
}

std::size_t DefinedBoundaries::terms_of(EdgeRule::Kind kind) {
  if (kind == Kind::robin) return 3;
  return kind == Kind::neumann || kind == Kind::dirichlet ? 1 : 0;
}

void DefinedBoundaries::add(int field, int axis, Side side, const EdgeRule& rule) {
  rules_.push_back({field, axis, side, rule});
}

const EdgeRule* DefinedBoundaries::find(int field, int axis, Side side) const {
  const EdgeRule* found = nullptr;
  for (const Said& said : rules_) {
    if (said.axis != axis || said.side != side || (said.field != field && said.field != -1)) continue;
    if (found == nullptr || said.field == field) found = &said.rule;
  }
  return found;
}

std::set<Kind> DefinedBoundaries::kinds_on(int axis, const Stencil& stencil, const std::vector<bool>& used,
                                           const RejectAxis& reject) const {
  std::set<Kind> kinds;
  for (std::size_t id = 0; id < used.size(); ++id) {
    const Node& node = stencil.nodes[id];
    const int offset = node.offset[at(axis)];
    if (!used[id] || node.op != Operation::read || offset == 0) continue;
    const EdgeRule* rule = find(node.index, axis, offset < 0 ? Side::low : Side::high);
    if (rule == nullptr) {
      reject(
          fmt::format("field '{0}' is read beyond the {1} edge in {2} too: say what lies there, for all fields as "
                      "{2}.{1} = \"...\" or for it alone as {0}.{2}.{1} = \"...\"",
                      stencil.fields[at(node.index)], offset < 0 ? "low" : "high", kAxes[at(axis)]));
    }
    kinds.insert(rule->kind);
  }
  if (!kinds.empty()) return kinds;
  for (const Said& said : rules_) {
    if (said.axis == axis) kinds.insert(said.rule.kind);
  }
  return kinds;
}

DefinedBoundaries::Settled DefinedBoundaries::settle(const Stencil& stencil, const std::vector<bool>& used,
                                                     const Reject& reject) const {
  Settled settled;
  for (int axis = 0; axis < stencil.rank; ++axis) {
    const auto spoken = std::find_if(rules_.begin(), rules_.end(), [&](const Said& said) { return said.axis == axis; });
    if (spoken == rules_.end()) continue;
    const RejectAxis reject_axis = [&](const std::string& message) { reject(spoken->rule.offset, message); };
    const std::set<Kind> kinds = kinds_on(axis, stencil, used, reject_axis);
    settled[at(axis)] = common_boundary(kinds);
    if (settled[at(axis)]) continue;
    std::vector<std::string_view> words;
    for (const Kind kind : kinds) words.push_back(word_of(kind));
    reject_axis(
        fmt::format("the boundaries {} do not go together on one axis: hold and periodic are those of all fields and "
                    "both sides; clamp goes with zero; reflect, odd, dirichlet, neumann, robin and zero go together",
                    fmt::join(words, ", ")));
  }
  return settled;
}

NodeId DefinedBoundaries::with_rules(ExpressionBuilder& e, NodeId value, const Node& tap,
                                     const Settled& settled) const {
  using enum Operation;
  // The kernel's 0 beyond an axis that it answers so stays 0 under a sign; what a slope adds is left away there.
  const auto unless_zero_before = [&](NodeId rise, int axis) {
    for (int earlier = 0; earlier < axis; ++earlier) {
      const bool may_be_zero = settled[at(earlier)].value_or(Boundary::zero) == Boundary::zero;
      if (!may_be_zero || tap.offset[at(earlier)] == 0) continue;
      rise = e.apply(select, e.beyond(outside, earlier, tap.offset[at(earlier)]), e.number(0), rise);
    }
    return rise;
  };
  // The first axis has the last word: beyond x and y its rule is applied to what y answers.
  for (int axis = e.rank() - 1; axis >= 0; --axis) {
    const int offset = tap.offset[at(axis)];
    if (!settled[at(axis)] || offset == 0) continue;
    const EdgeRule* rule = find(tap.index, axis, offset < 0 ? Side::low : Side::high);
    const NodeId beyond = e.beyond(offset < 0 ? before : after, axis, offset);
    if (rule->kind == Kind::zero && *settled[at(axis)] != Boundary::zero) {
      value = e.apply(select, beyond, e.number(0), value);
    } else if (rule->kind == Kind::odd) {
      value = e.apply(select, beyond, e.apply(negate, value), value);
    } else if (rule->kind == Kind::neumann) {
      const NodeId rise = e.apply(multiply, e.apply(multiply, e.number(2), rule->terms[0]), beyond);
      value = e.apply(add, value, unless_zero_before(rise, axis));
    } else if (rule->kind == Kind::dirichlet) {
      const NodeId twice = unless_zero_before(e.apply(multiply, e.number(2), rule->terms[0]), axis);
      value = e.apply(select, beyond, e.apply(subtract, twice, value), value);
    } else if (rule->kind == Kind::robin) {
      const auto [a, b, g] = rule->terms;
      const NodeId falls = e.apply(multiply, a, beyond), whole = e.apply(add, b, falls);
      const NodeId rise = e.apply(divide, e.apply(multiply, e.apply(multiply, e.number(2), g), beyond), whole);
      const NodeId share = e.apply(divide, e.apply(subtract, b, falls), whole);
      const NodeId answer = e.apply(add, e.apply(multiply, share, value), unless_zero_before(rise, axis));
      value = e.apply(select, beyond, answer, value);
    }
  }
  return value;
}

void DefinedBoundaries::rewrite_updates(ExpressionBuilder& e, const std::vector<bool>& used,
                                        const Settled& settled) const {
  StencilBuilder& builder = e.builder();
  const std::vector<Node> nodes = builder.stencil().nodes;  // a copy: the arena grows
  std::vector<NodeId> changed(nodes.size(), -1);
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (!used[id]) continue;
    const Node& node = nodes[id];
    std::array<NodeId, 3> operands{-1, -1, -1};
    const int count = operand_count(node.op);
    for (int i = 0; i < count; ++i) operands[at(i)] = changed[at(node.operands[at(i)])];
    const NodeId value = count == 0 ? static_cast<NodeId>(id) : e.apply(node.op, operands[0], operands[1], operands[2]);
    changed[id] = node.op == Operation::read ? with_rules(e, value, node, settled) : value;
  }
  builder.rewrite([&](NodeId root) { return changed[at(root)]; });
}

void DefinedBoundaries::note_edges(StencilBuilder& builder) const {
  const Stencil& stencil = builder.stencil();
  for (int field = 0; field < static_cast<int>(stencil.fields.size()); ++field) {
    for (int axis = 0; axis < stencil.rank; ++axis) {
      for (const Side side : {Side::low, Side::high}) {
        const EdgeRule* rule = find(field, axis, side);
        if (rule != nullptr) builder.edge({field, axis, side == Side::high, rule->kind, rule->terms});
      }
    }
  }
}

void DefinedBoundaries::apply(ExpressionBuilder& e, const Reject& reject) const {
  StencilBuilder& builder = e.builder();
  const std::vector<bool> used = reachable(builder.stencil(), roots_of(builder.stencil()));
  const Settled settled = settle(builder.stencil(), used, reject);
  for (int axis = 0; axis < e.rank(); ++axis) {
    if (settled[at(axis)]) builder.boundary(axis, *settled[at(axis)]);
  }
  if (e.as_written()) return note_edges(builder);
  rewrite_updates(e, used, settled);
}

}  // namespace stencil_tune
