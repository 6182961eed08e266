#include "tuner/verify/reference/reference_program.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr int kMostSlots = 512;  // 40 bytes each, of a device thread's local memory

static_assert(static_cast<int>(check::Code::number) == static_cast<int>(Operation::number));
static_assert(static_cast<int>(check::Code::read) == static_cast<int>(Operation::read));
static_assert(static_cast<int>(check::Code::exponential) == static_cast<int>(Operation::exponential));
static_assert(static_cast<int>(check::Code::add) == static_cast<int>(Operation::add));
static_assert(static_cast<int>(check::Code::divide) == static_cast<int>(Operation::divide));
static_assert(static_cast<int>(check::Code::maximum) == static_cast<int>(Operation::maximum));
static_assert(static_cast<int>(check::Code::select) == static_cast<int>(Operation::select));
static_assert(static_cast<int>(check::Code::sine) == static_cast<int>(Operation::sine));
static_assert(static_cast<int>(check::Code::power) == static_cast<int>(Operation::power));
static_assert(static_cast<int>(check::Code::step) == static_cast<int>(Operation::step));
static_assert(static_cast<int>(check::Code::after) == static_cast<int>(Operation::after));
static_assert(static_cast<int>(check::Code::round) == static_cast<int>(Operation::round));

const Node& node_of(const ReferenceExpression& expression, NodeId id) {
  return expression.nodes[static_cast<std::size_t>(id)];
}

/// How many operations deep each node is; operands come before their users.
std::vector<int> depths(const ReferenceExpression& expression) {
  std::vector<int> depth(expression.nodes.size(), 0);
  for (std::size_t id = 0; id < depth.size(); ++id) {
    for (NodeId operand : expression.nodes[id].operands) {
      if (operand >= 0) depth[id] = std::max(depth[id], depth[static_cast<std::size_t>(operand)] + 1);
    }
  }
  return depth;
}

/// A node's operands, the deepest first: what is computed first has to be kept while the others are.
std::vector<NodeId> deepest_first(const Node& node, const std::vector<int>& depth) {
  std::vector<NodeId> operands(node.operands.begin(), node.operands.begin() + operand_count(node.op));
  std::stable_sort(operands.begin(), operands.end(), [&](NodeId a, NodeId b) {
    return depth[static_cast<std::size_t>(a)] > depth[static_cast<std::size_t>(b)];
  });
  return operands;
}

/// The nodes below an expression, operands first and close to their use, so that few slots are live at once.
/// Without recursion: an expression may be a sum of thousands of terms, each one level deeper than the last.
std::vector<NodeId> evaluation_order(const ReferenceExpression& expression) {
  struct Visit {
    NodeId id;
    std::vector<NodeId> operands;
    std::size_t next = 0;
  };
  const std::vector<int> depth = depths(expression);
  const auto visit = [&](NodeId id) { return Visit{id, deepest_first(node_of(expression, id), depth)}; };
  std::vector<NodeId> order;
  std::vector<bool> seen(expression.nodes.size(), false);
  std::vector<Visit> path{visit(expression.root())};
  while (!path.empty()) {
    Visit& now = path.back();
    if (now.next == now.operands.size()) {
      order.push_back(now.id);
      path.pop_back();
      continue;
    }
    const NodeId operand = now.operands[now.next++];
    if (seen[static_cast<std::size_t>(operand)]) continue;
    seen[static_cast<std::size_t>(operand)] = true;
    path.push_back(visit(operand));
  }
  return order;
}

/// Gives each value a slot from its computation to its last use.
class SlotAllocator {
 public:
  SlotAllocator(const ReferenceExpression& expression, const std::vector<NodeId>& order)
      : expression_(expression), uses_(expression.nodes.size(), 0), slot_(expression.nodes.size(), 0) {
    for (NodeId id : order) {
      for_operands(id, [&](NodeId operand) { ++uses_[index(operand)]; });
    }
  }

  int slot_of(NodeId id) const { return slot_[index(id)]; }
  int slots() const { return slots_; }

  void compute(NodeId id) {
    for_operands(id, [&](NodeId operand) {
      if (--uses_[index(operand)] == 0) free_.push_back(slot_[index(operand)]);
    });
    if (free_.empty()) free_.push_back(slots_++);
    slot_[index(id)] = free_.back();
    free_.pop_back();
  }

 private:
  static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

  template <class Visit>
  void for_operands(NodeId id, const Visit& visit) const {
    const Node& node = node_of(expression_, id);
    for (int i = 0; i < operand_count(node.op); ++i) visit(node.operands[static_cast<std::size_t>(i)]);
  }

  const ReferenceExpression& expression_;
  std::vector<int> uses_;
  std::vector<int> slot_;
  std::vector<int> free_;
  int slots_ = 0;
};

check::Instruction instruction_for(const Problem& problem, const Node& node, bool whole,
                                   std::span<const double> coefficients) {
  check::Instruction now{};
  now.code = static_cast<check::Code>(node.op);
  if (whole) now.code = node.op == Operation::multiply ? check::Code::product : check::Code::quotient;
  if (node.op == Operation::number) {
    now.value = node.value;
    now.inexact = round_to_compute(node.value, problem.type) == node.value ? 0 : 1;
  } else if (node.op == Operation::coefficient) {
    now.value = round_to_compute(coefficients[static_cast<std::size_t>(node.index)], problem.type);
  } else if (node.op == Operation::read || node.op == Operation::profile) {
    const std::vector<int> inputs = reference_inputs(problem);
    now.code = check::Code::read;
    now.input = static_cast<int>(std::find(inputs.begin(), inputs.end(), node.index) - inputs.begin());
    std::copy(node.offset.begin(), node.offset.end(), now.offset);
  } else if (node.op == Operation::coordinate) {
    const auto axis = static_cast<std::size_t>(node.index);
    now.input = node.index;
    now.value = static_cast<double>(kCheckPlace.origin[axis] + node.offset[axis]);
    const double last = now.value + static_cast<double>(problem.extents.n[axis]);
    now.inexact = problem.type != ElementType::f64 && last > 0x1p24 ? 1 : 0;
  }
  if (node.op == Operation::random) {
    now.input = problem.extents.rank;
    now.value = node.index < 0
                    ? node.value
                    : check::random_key(node.value, round_to_compute(coefficients[static_cast<std::size_t>(node.index)],
                                                                     problem.type));
    now.inexact = problem.type == ElementType::f64 ? 0 : 1;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      now.offset[axis] = static_cast<int>(kCheckPlace.origin[axis]) + node.offset[axis];
    }
  }
  if (node.op == Operation::before || node.op == Operation::after) {
    const int offset = node.offset[static_cast<std::size_t>(node.index)];
    now.input = node.index;
    now.value = node.op == Operation::before ? -offset : offset;
  }
  return now;
}

}  // namespace

std::vector<int> reference_inputs(const Problem& stage) {
  std::vector<int> fields = stage.facts.inputs;
  if (!stage.facts.placed) return fields;
  for (const Profile& profile : stage.stencil.profiles) fields.push_back(profile.field);
  return fields;
}

check::Layout layout_of_field(const Problem& problem, int field) {
  check::Layout layout = layout_of(problem, updated_box(problem), storage_of(problem, field));
  if (!is_profile(problem.stencil, field)) return layout;
  layout.n[0] = layout.pitch = cells_of_field(problem, field);
  layout.n[1] = layout.n[2] = 1;
  return layout;
}

ReferenceProgram compile_reference(const Problem& problem, const ReferenceExpression& expression,
                                   std::span<const double> coefficients) {
  if (reference_inputs(problem).size() > static_cast<std::size_t>(check::kMaxInputs)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the stencil reads {} fields, verification takes {} at most; split it into stages",
                            reference_inputs(problem).size(), check::kMaxInputs));
  }
  const std::vector<NodeId> order = evaluation_order(expression);
  SlotAllocator slots(expression, order);
  ReferenceProgram program;
  program.instructions.reserve(order.size());
  for (NodeId id : order) {
    const Node& node = node_of(expression, id);
    const bool whole = expression.whole[static_cast<std::size_t>(id)];
    check::Instruction now = instruction_for(problem, node, whole, coefficients);
    for (int i = 0; i < operand_count(node.op); ++i) {
      now.operands[i] = slots.slot_of(node.operands[static_cast<std::size_t>(i)]);
    }
    slots.compute(id);
    now.target = slots.slot_of(id);
    program.instructions.push_back(now);
  }
  program.slots = slots.slots();
  if (program.slots > kMostSlots) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the stencil's expression needs {} values at once, verification holds {} at most; split it "
                            "into stages",
                            program.slots, kMostSlots));
  }
  return program;
}

check::Layout layout_of(const Problem& problem, const Box& box, ElementType type) {
  check::Layout layout{};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    layout.n[axis] = problem.extents.n[axis];
    layout.low[axis] = box.low[axis];
    layout.high[axis] = box.high[axis];
    layout.boundary[axis] = static_cast<int>(problem.boundaries[axis]);
  }
  layout.pitch = problem.pitch;
  layout.type = static_cast<int>(type);
  return layout;
}

}  // namespace stencil_tune
