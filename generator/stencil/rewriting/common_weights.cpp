#include "generator/stencil/rewriting/common_weights.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace stencil_tune {
namespace {

/// Sums are divided by weights in this range: far from where quotients would leave the range of a type.
constexpr double kLeastWeight = 1e-3, kGreatestWeight = 1e3;

class CommonWeights {
 public:
  explicit CommonWeights(const Stencil& stencil)
      : builder_(stencil), nodes_(stencil.nodes), rebuilt_(nodes_.size(), -1) {}

  Stencil run() && {
    const std::vector<bool> used = reachable(builder_.stencil(), rewritten_roots());
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (used[id]) find_weights_of_factors(nodes_[id]);
    }
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (used[id]) rebuilt_[id] = rebuild(static_cast<NodeId>(id));
    }
    Stencil result = builder_.stencil();
    for (Stage& stage : result.stages) {
      if (is_grouped_by_taps(stage)) continue;
      for (Update& update : stage.updates) update.expression = rebuilt_[at(update.expression)];
    }
    return result;
  }

 private:
  bool is_grouped_by_taps(const Stage& stage) const {
    return stage.updates.size() == 1 && is_linear(builder_.stencil(), stage.updates.front().expression);
  }
  std::vector<NodeId> rewritten_roots() const {
    std::vector<NodeId> roots;
    for (const Stage& stage : builder_.stencil().stages) {
      if (is_grouped_by_taps(stage)) continue;
      for (const Update& update : stage.updates) roots.push_back(update.expression);
    }
    return roots;
  }

  static bool adds(Operation op) {
    return op == Operation::add || op == Operation::subtract || op == Operation::negate;
  }
  const Node& node(NodeId id) const { return nodes_[at(id)]; }
  bool is_number(NodeId id) const { return node(id).op == Operation::number; }

  /// Whether a number joins the factor at no cost.
  bool takes_weights(NodeId factor) const {
    if (!builder_.reads_field(factor)) return !is_number(factor);  // a number is a weight itself
    return node(factor).op == Operation::multiply && !builder_.reads_field(node(factor).operands[0]);
  }

  /// The numbers that weigh terms of the sum, without their signs; none where a term has no such weight, since a
  /// division would give it one.
  std::set<double> weights(NodeId sum) const {
    std::set<double> found;
    std::set<NodeId> seen;
    return find_weights(sum, found, seen) ? found : std::set<double>{};
  }
  bool find_weights(NodeId sum, std::set<double>& found, std::set<NodeId>& seen) const {
    if (!seen.insert(sum).second) return true;
    const Node& term = node(sum);
    if (adds(term.op)) {
      const bool first = find_weights(term.operands[0], found, seen);
      return first && (operand_count(term.op) == 1 || find_weights(term.operands[1], found, seen));
    }
    if (term.op != Operation::multiply) return false;
    if (!is_number(term.operands[0])) return find_weights(term.operands[1], found, seen);
    const double weight = std::abs(node(term.operands[0]).value);
    found.insert(weight);
    return weight >= kLeastWeight && weight <= kGreatestWeight;
  }

  /// A sum whose terms have weights, over one of them.
  NodeId divided(NodeId sum, double by, std::map<NodeId, NodeId>& known) {
    const auto found = known.find(sum);
    if (found != known.end()) return found->second;
    const Node& term = node(sum);
    NodeId result = -1;
    if (adds(term.op)) {
      const NodeId first = divided(term.operands[0], by, known);
      const NodeId second = operand_count(term.op) > 1 ? divided(term.operands[1], by, known) : -1;
      result = builder_.apply(term.op, first, second);
    } else if (!is_number(term.operands[0])) {
      const NodeId factor = rebuilt_[at(term.operands[0])];
      result = builder_.apply(Operation::multiply, factor, divided(term.operands[1], by, known));
    } else {
      const NodeId weight = builder_.number(node(term.operands[0]).value / by);
      result = builder_.apply(Operation::multiply, weight, rebuilt_[at(term.operands[1])]);
    }
    known[sum] = result;
    return result;
  }

  /// A factor that reads fields may stand before several sums. weights_ gets the numbers that weigh terms in all of
  /// them, so that the factor is rebuilt once; none where the factor is used in another way too.
  void find_weights_of_factors(const Node& product) {
    for (int i = 0; i < operand_count(product.op); ++i) {
      const NodeId factor = product.operands[at(i)];
      if (!builder_.reads_field(factor) || !takes_weights(factor)) continue;
      const bool multiplies = product.op == Operation::multiply && i == 0;
      const std::set<double> found = multiplies ? weights(product.operands[1]) : std::set<double>{};
      const auto [known, is_first] = weights_.try_emplace(factor, found);
      if (!is_first) std::erase_if(known->second, [&](double weight) { return !found.contains(weight); });
    }
  }

  /// The weight that goes to the front of the product; 1: none does.
  double weight_in_front(const Node& product) const {
    if (product.op != Operation::multiply || !takes_weights(product.operands[0])) return 1;
    const auto shared = weights_.find(product.operands[0]);
    const std::set<double> found = shared == weights_.end() ? weights(product.operands[1]) : shared->second;
    return found.empty() ? 1 : *found.rbegin();
  }

  NodeId rebuild(NodeId id) {
    const Node& own = node(id);
    const int count = operand_count(own.op);
    if (count == 0) return id;
    std::array<NodeId, 3> operands{-1, -1, -1};
    for (int i = 0; i < count; ++i) operands[at(i)] = rebuilt_[at(own.operands[at(i)])];
    const double weight = weight_in_front(own);
    if (weight != 1) {
      std::map<NodeId, NodeId> known;
      operands[0] = builder_.apply(Operation::multiply, builder_.number(weight), operands[0]);
      operands[1] = divided(own.operands[1], weight, known);
    }
    return builder_.apply(own.op, operands[0], operands[1], operands[2]);
  }

  StencilBuilder builder_;
  const std::vector<Node> nodes_;
  std::vector<NodeId> rebuilt_;                 ///< [used node]: the builder's node for it
  std::map<NodeId, std::set<double>> weights_;  ///< [factor]: weights that may go in front of it
};

}  // namespace

Stencil with_common_weights_in_front(const Stencil& stencil) { return CommonWeights(stencil).run(); }

}  // namespace stencil_tune
