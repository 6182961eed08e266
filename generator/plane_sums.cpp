#include "generator/plane_sums.hpp"

#include "generator/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stencil_tune {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The update's expressions taken apart. Nodes belong to `builder`, where each sum is one more field, read at the cell.
struct Parts {
  StencilBuilder builder;
  std::vector<std::vector<LinearTap>> sums;  ///< of early inputs only
  std::vector<Update> finish;
};

/// The tap times its weight, without its sign.
NodeId term(StencilBuilder& builder, const LinearTap& tap) {
  const NodeId read = builder.read(tap.tap.field, tap.tap.offset);
  return tap.weight < 0 ? read : builder.apply(Operation::multiply, tap.weight, read);
}

class Splitter {
 public:
  explicit Splitter(const Problem& problem)
      : problem_(problem), parts_{StencilBuilder(problem.stencil), {}, {}}, early_(problem.stencil.nodes.size()) {
    const Stencil& stencil = problem.stencil;
    for (std::size_t id = 0; id < stencil.nodes.size(); ++id) early_[id] = reads_early(static_cast<NodeId>(id));
  }

  Parts split() {
    const Stencil& stencil = problem_.stencil;
    const auto& updates = stencil.stages[at(problem_.stage)].updates;
    // From the outputs down: what is linear becomes a sum, its operands are not looked at.
    std::vector<bool> wanted(stencil.nodes.size());
    std::vector<bool> is_sum(stencil.nodes.size());
    for (const Update& update : updates) wanted[at(update.expression)] = true;
    for (NodeId id = static_cast<NodeId>(stencil.nodes.size()) - 1; id >= 0; --id) {
      if (!wanted[at(id)] || !early_[at(id)]) continue;
      is_sum[at(id)] = is_linear(stencil, id);
      if (is_sum[at(id)]) continue;
      const Node& node = stencil.nodes[at(id)];
      for (int i = 0; i < operand_count(node.op); ++i) wanted[at(node.operands[at(i)])] = true;
    }
    // From the reads up: the same expressions over the sums.
    std::vector<NodeId> rewritten(stencil.nodes.size(), -1);
    for (NodeId id = 0; id < static_cast<NodeId>(stencil.nodes.size()); ++id) {
      if (!wanted[at(id)]) continue;
      if (!early_[at(id)]) {
        rewritten[at(id)] = id;
      } else {
        rewritten[at(id)] = is_sum[at(id)] ? sum(id) : with_operands(stencil.nodes[at(id)], rewritten);
      }
    }
    for (const Update& update : updates) {
      parts_.finish.push_back({update.output, rewritten[at(update.expression)]});
    }
    return std::move(parts_);
  }

 private:
  bool reads_early(NodeId id) const {
    const Node& node = problem_.stencil.nodes[at(id)];
    if (node.op == Operation::read) {
      const auto& inputs = problem_.facts.inputs;
      const auto input = std::find(inputs.begin(), inputs.end(), node.index);
      return input != inputs.end() && !is_late(problem_.facts, static_cast<std::size_t>(input - inputs.begin()));
    }
    bool early = false;
    for (int i = 0; i < operand_count(node.op); ++i) early = early || early_[at(node.operands[at(i)])];
    return early;
  }

  NodeId with_operands(const Node& node, const std::vector<NodeId>& rewritten) {
    const auto operand = [&](std::size_t i) {
      return static_cast<int>(i) < operand_count(node.op) ? rewritten[at(node.operands[i])] : -1;
    };
    return parts_.builder.apply(node.op, operand(0), operand(1), operand(2));
  }

  /// Early taps become a sum; late ones stay beside it.
  NodeId sum(NodeId id) {
    const int number = static_cast<int>(parts_.sums.size());
    NodeId whole = parts_.builder.read(parts_.builder.field(fmt::format("(sum {})", number)), {0, 0, 0});
    std::vector<LinearTap> early;
    for (const LinearTap& tap : distribute_weights(parts_.builder, id)) {
      const auto& inputs = problem_.facts.inputs;
      const auto input = std::find(inputs.begin(), inputs.end(), tap.tap.field) - inputs.begin();
      if (!is_late(problem_.facts, static_cast<std::size_t>(input))) {
        early.push_back(tap);
      } else {
        whole =
            parts_.builder.apply(tap.negative ? Operation::subtract : Operation::add, whole, term(parts_.builder, tap));
      }
    }
    parts_.sums.push_back(std::move(early));
    return whole;
  }

  const Problem& problem_;
  Parts parts_;
  std::vector<bool> early_;
};

/// The statements by which the planes at offset dz add to the sums, by dz.
std::map<int, std::vector<Statement>> plane_statements(Parts& parts, std::size_t walked_axis) {
  std::map<int, std::vector<Statement>> planes;
  for (std::size_t k = 0; k < parts.sums.size(); ++k) {
    std::vector<LinearTap> taps = parts.sums[k];
    std::stable_sort(taps.begin(), taps.end(), [&](const LinearTap& a, const LinearTap& b) {
      return a.tap.offset[walked_axis] < b.tap.offset[walked_axis];
    });
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const NodeId product = term(parts.builder, taps[i]);
      const NodeId value = i == 0 && taps[i].negative ? parts.builder.apply(Operation::negate, product) : product;
      const std::string_view how = i == 0 ? "=" : taps[i].negative ? "-=" : "+=";
      planes[taps[i].tap.offset[walked_axis]].push_back({fmt::format("sum[{}] {}", k, how), value});
    }
  }
  return planes;
}

/// Two spaces before each line.
std::string indented(const std::string& lines) {
  std::string result;
  bool at_start = true;
  for (const char c : lines) {
    if (at_start) result += "  ";
    result += c;
    at_start = c == '\n';
  }
  return result;
}

}  // namespace

bool is_late(const StageFacts& facts, std::size_t input) {
  return std::all_of(facts.taps.begin(), facts.taps.end(), [&](const Tap& tap) {
    return tap.field != facts.inputs[input] || tap.offset == Offset{0, 0, 0};
  });
}

int early_inputs(const StageFacts& facts) {
  int early = 0;
  for (std::size_t input = 0; input < facts.inputs.size(); ++input) early += is_late(facts, input) ? 0 : 1;
  return early;
}

int count_sums(const Problem& problem) { return static_cast<int>(Splitter(problem).split().sums.size()); }

std::string plane_sums_text(const Problem& problem, const AxisMap& axes) {
  Parts parts = Splitter(problem).split();
  const auto walked = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), 2) - axes.begin());
  const auto planes = plane_statements(parts, walked);
  const int first_sum = static_cast<int>(problem.stencil.fields.size());

  std::string text = fmt::format(
      R"(
  // Sums of taps that lie in several planes, and what is made of them: see plane_sums.cuh.
  static constexpr int kSums = {};
  template <int kDz, class Cells>
  STENCIL_DEVICE static void add_plane(const Cells& u, const Value* c, Value (&sum)[kSums]) {{
    using namespace stencil_tune;
)",
      parts.sums.size());
  for (const auto& [dz, statements] : planes) {
    text += fmt::format("    if constexpr (kDz == {}) {{\n{}    }}\n", dz,
                        indented(statements_text(parts.builder.stencil(), statements, problem.facts, axes, first_sum)));
  }
  std::vector<Statement> finish;
  for (std::size_t o = 0; o < parts.finish.size(); ++o) {
    finish.push_back({fmt::format("out[{}] =", o), parts.finish[o].expression});
  }
  return text + fmt::format(
                    R"(    (void)c;
  }}
  template <class Cells>
  STENCIL_DEVICE static void finish(const Cells& u, const Value* c, const Value (&sum)[kSums], Value (&out)[kOutputs]) {{
    using namespace stencil_tune;
{}    (void)u;
    (void)c;
  }}
)",
                    statements_text(parts.builder.stencil(), finish, problem.facts, axes, first_sum));
}

}  // namespace stencil_tune
