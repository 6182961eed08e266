#include "tuner/verify/reference_program.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/verify/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

constexpr int kMostSlots = 512;  // 32 bytes each, of a device thread's local memory

static_assert(static_cast<int>(check::Code::number) == static_cast<int>(Operation::number));
static_assert(static_cast<int>(check::Code::read) == static_cast<int>(Operation::read));
static_assert(static_cast<int>(check::Code::exponential) == static_cast<int>(Operation::exponential));
static_assert(static_cast<int>(check::Code::add) == static_cast<int>(Operation::add));
static_assert(static_cast<int>(check::Code::divide) == static_cast<int>(Operation::divide));
static_assert(static_cast<int>(check::Code::maximum) == static_cast<int>(Operation::maximum));
static_assert(static_cast<int>(check::Code::select) == static_cast<int>(Operation::select));

const Node& node_of(const Problem& problem, NodeId id) { return problem.stencil.nodes[static_cast<std::size_t>(id)]; }

/// How many operations deep each node is; operands come before their users in the arena.
std::vector<int> depths(const Problem& problem) {
  std::vector<int> depth(problem.stencil.nodes.size(), 0);
  for (std::size_t id = 0; id < depth.size(); ++id) {
    for (NodeId operand : problem.stencil.nodes[id].operands) {
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
std::vector<NodeId> evaluation_order(const Problem& problem, NodeId expression) {
  struct Visit {
    NodeId id;
    std::vector<NodeId> operands;
    std::size_t next = 0;
  };
  const std::vector<int> depth = depths(problem);
  const auto visit = [&](NodeId id) { return Visit{id, deepest_first(node_of(problem, id), depth)}; };
  std::vector<NodeId> order;
  std::vector<bool> seen(problem.stencil.nodes.size(), false);
  std::vector<Visit> path{visit(expression)};
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
  SlotAllocator(const Problem& problem, const std::vector<NodeId>& order)
      : problem_(problem), uses_(problem.stencil.nodes.size(), 0), slot_(problem.stencil.nodes.size(), 0) {
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
    const Node& node = node_of(problem_, id);
    for (int i = 0; i < operand_count(node.op); ++i) visit(node.operands[static_cast<std::size_t>(i)]);
  }

  const Problem& problem_;
  std::vector<int> uses_;
  std::vector<int> slot_;
  std::vector<int> free_;
  int slots_ = 0;
};

check::Instruction instruction_for(const Problem& problem, const Node& node, std::span<const double> coefficients) {
  check::Instruction now{};
  now.code = static_cast<check::Code>(node.op);
  if (node.op == Operation::number) {
    now.value = round_to_compute(node.value, problem.type);
    now.inexact = now.value == node.value ? 0 : 1;
  } else if (node.op == Operation::coefficient) {
    now.value = round_to_compute(coefficients[static_cast<std::size_t>(node.index)], problem.type);
  } else if (node.op == Operation::read) {
    const auto& inputs = problem.facts.inputs;
    now.input = static_cast<int>(std::find(inputs.begin(), inputs.end(), node.index) - inputs.begin());
    std::copy(node.offset.begin(), node.offset.end(), now.offset);
  }
  return now;
}

/// The largest magnitude a value takes and its unit in the last place: all values are multiples of 2^unit.
struct Digits {
  double most = 0;
  int unit = 0;
};

/// Of a dyadic number with few digits; nothing for others.
std::optional<Digits> digits_of(double value) {
  if (value == 0) return Digits{0, 0};
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent) * 0x1p12;
  if (fraction != std::floor(fraction)) return std::nullopt;
  int unit = exponent - 12;
  while (std::fmod(std::fabs(value), std::exp2(unit + 1)) == 0) ++unit;
  return Digits{std::fabs(value), unit};
}

std::optional<Digits> combine(const Node& node, const Digits& a, const Digits& b, const Digits& c) {
  switch (node.op) {
    case Operation::negate:
    case Operation::absolute:
      return a;
    case Operation::add:
    case Operation::subtract:
      return Digits{a.most + b.most, std::min(a.unit, b.unit)};
    case Operation::multiply:
      return Digits{a.most * b.most, a.unit + b.unit};
    case Operation::minimum:
    case Operation::maximum:
      return Digits{std::max(a.most, b.most), std::min(a.unit, b.unit)};
    case Operation::less:
    case Operation::less_equal:
    case Operation::equal:
      return Digits{1, 0};
    case Operation::select:
      return Digits{std::max(b.most, c.most), std::min(b.unit, c.unit)};
    default:
      return std::nullopt;
  }
}

/// With these coefficients and inputs of -8..8, does every value fit the compute type's digits and the storage's range?
bool computes_exactly(const Problem& problem, NodeId expression, std::span<const double> coefficients) {
  const double most_digits = problem.type == ElementType::f64 ? 0x1p52 : 0x1p23;
  std::vector<Digits> digits(problem.stencil.nodes.size());
  for (NodeId id : evaluation_order(problem, expression)) {
    const Node& node = node_of(problem, id);
    std::optional<Digits> result;
    if (node.op == Operation::number) {
      result = digits_of(node.value);
    } else if (node.op == Operation::coefficient) {
      result = digits_of(coefficients[static_cast<std::size_t>(node.index)]);
    } else if (node.op == Operation::read) {
      result = Digits{8, 0};
    } else {
      const auto at = [&](std::size_t i) {
        return node.operands[i] < 0 ? Digits{} : digits[static_cast<std::size_t>(node.operands[i])];
      };
      result = combine(node, at(0), at(1), at(2));
    }
    if (!result || result->most > std::ldexp(most_digits, result->unit)) return false;
    digits[static_cast<std::size_t>(id)] = *result;
  }
  return digits[static_cast<std::size_t>(expression)].most <= rounding_of(problem.type).largest;
}

const std::vector<Update>& updates_of(const Problem& problem) {
  return problem.stencil.stages[static_cast<std::size_t>(problem.stage)].updates;
}

bool uses(const Problem& problem, std::initializer_list<Operation> operations) {
  for (const Update& update : updates_of(problem)) {
    for (NodeId id : evaluation_order(problem, update.expression)) {
      if (std::find(operations.begin(), operations.end(), node_of(problem, id).op) != operations.end()) return true;
    }
  }
  return false;
}

}  // namespace

ReferenceProgram compile_reference(const Problem& problem, NodeId expression, std::span<const double> coefficients) {
  if (problem.facts.inputs.size() > static_cast<std::size_t>(check::kMaxInputs)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the stencil reads {} fields, verification takes {} at most; split it into stages",
                            problem.facts.inputs.size(), check::kMaxInputs));
  }
  const std::vector<NodeId> order = evaluation_order(problem, expression);
  SlotAllocator slots(problem, order);
  ReferenceProgram program;
  program.instructions.reserve(order.size());
  for (NodeId id : order) {
    const Node& node = node_of(problem, id);
    check::Instruction now = instruction_for(problem, node, coefficients);
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

std::optional<std::vector<double>> exact_coefficients(const Problem& problem) {
  // Sixteen values of alternating sign, all of them eighths.
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < problem.stencil.coefficients.size(); ++i) {
    const auto eighths = static_cast<double>(i * 5 % 16 + 1);
    coefficients.push_back((i % 2 == 0 ? 1 : -1) * eighths / 8);
  }
  const auto exact = [&](const Update& update) { return computes_exactly(problem, update.expression, coefficients); };
  const auto& updates = updates_of(problem);
  if (!std::all_of(updates.begin(), updates.end(), exact)) return std::nullopt;
  return coefficients;
}

std::vector<double> distinct_coefficients(const Stencil& stencil) {
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < stencil.coefficients.size(); ++i) {
    const double place = static_cast<double>(i * 7 % 16) / 16;  // 0 .. 15/16
    const double value = stencil.coefficients[i].value;
    coefficients.push_back(value == 0 ? 0.01 * (1 + place) : value * (1 - 0.25 * place));
  }
  return coefficients;
}

check::Input suitable_input(const Problem& problem) {
  return uses(problem, {Operation::divide, Operation::square_root}) ? check::Input::positive
                                                                    : check::Input::signed_unit;
}

check::Input exact_input(const Problem& problem) {
  return uses(problem, {Operation::equal}) ? check::Input::bits : check::Input::integers;
}

check::Layout layout_of(const Problem& problem) {
  check::Layout layout{};
  const Box box = updated_box(problem);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    layout.n[axis] = problem.extents.n[axis];
    layout.low[axis] = box.low[axis];
    layout.high[axis] = box.high[axis];
    layout.boundary[axis] = static_cast<int>(problem.boundaries[axis]);
  }
  layout.pitch = problem.pitch;
  return layout;
}

}  // namespace stencil_tune
