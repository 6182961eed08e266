// Derivatives of a stencil's updates, node by node: what adjoints and tangents are made of.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil_tune {

constexpr NodeId kNoNode = -1;  // a derivative of zero, a sum without terms

/// What flows back through operations, as nodes of a builder.
class Chain {
 public:
  /// The value of one of an operation's operands, 0 to 2.
  using Value = std::function<NodeId(int operand)>;

  /// guards: 0 times what may not be finite is 0.
  explicit Chain(StencilBuilder& builder, bool guards = false) : builder_(builder), guards_(guards) {}

  /// The derivative with respect to an operand, of what has the derivative `bar` with respect to the operation. kNoNode
  /// where it does not depend on it.
  NodeId handed_on(Operation op, int to, const Value& value, NodeId bar);

 private:
  NodeId times(NodeId bar, NodeId weight) { return guarded(Operation::multiply, bar, weight); }
  NodeId over(NodeId bar, NodeId weight) { return guarded(Operation::divide, bar, weight); }
  NodeId guarded(Operation op, NodeId bar, NodeId weight);
  NodeId minus(NodeId a) { return builder_.apply(Operation::negate, a); }
  NodeId where(NodeId condition, NodeId a, NodeId b) { return builder_.apply(Operation::select, condition, a, b); }
  bool may_be_infinite(NodeId number);

  StencilBuilder& builder_;
  bool guards_;
  std::map<NodeId, bool> infinite_;
};

/// The partial derivatives of one update with respect to all nodes of its stencil, in reverse order (Griewank and
/// Walther, Evaluating Derivatives, chapter 3). Adds nodes to a builder that went on from the stencil.
class Derivatives {
 public:
  Derivatives(StencilBuilder& builder, std::size_t nodes, NodeId expression);

  /// kNoNode where the update does not depend on it.
  NodeId at(NodeId id) const { return of_[static_cast<std::size_t>(id)]; }

 private:
  void add(NodeId to, NodeId derivative);

  StencilBuilder& builder_;
  std::vector<NodeId> of_;
};

/// Whether updates are not the same everywhere and in each step: they ask for a place, or fields exist in layers alone.
bool is_placed(const Stencil& stencil);

/// Whether steps are not alike: their numbers enter updates.
bool counts_steps(const Stencil& stencil);

/// How far profiles are read on each axis.
std::array<Reach, kMaxRank> profile_reach(const Stencil& stencil);

/// The offset of what is at `offset` from a cell that is `by` away.
Offset moved(Offset offset, const Offset& by);

/// The field of that name, added at first use: it exists where `field` of another stencil does.
int field_like(StencilBuilder& to, const std::string& name, const Stencil& from, int field);

/// A stencil without fields yet: the same coefficients, in the same order, layers, and what is said of boundaries.
StencilBuilder empty_like(const Stencil& stencil, std::string name);

/// The value where the field exists, else 0, as definitions have it of fields in layers.
NodeId where_it_exists(StencilBuilder& builder, int field, const Offset& offset, NodeId value);
/// What the field is read as there.
NodeId read_where_it_exists(StencilBuilder& builder, int field, const Offset& offset);

/// How far a cell lies beyond an edge.
enum class Distances {
  of_the_grid,      ///< as the launch has it
  of_coefficients,  ///< the launch's grid has room around: coefficients say where edges are
};

/// "x.first", "x.last": coefficients with the coordinates of an axis's edge cells. "x.zero": 1 where its boundary is.
std::string edge_coefficient_name(int axis, std::string_view what);

/// Writes expressions of one stencil into another one's, with other reads, for the cell that is `by` away.
class Rewritten {
 public:
  /// What stands there for a read.
  using Read = std::function<NodeId(const Node& read)>;

  Rewritten(const Stencil& from, StencilBuilder& to, Read read, const Offset& by = {0, 0, 0},
            Distances distances = Distances::of_the_grid)
      : from_(from), to_(to), read_(std::move(read)), by_(by), distances_(distances) {}

  NodeId copy(NodeId id);

 private:
  NodeId make(const Node& node);
  NodeId beyond_edge(const Node& node, int offset);
  NodeId edge_coefficient(int axis, std::string_view what);

  const Stencil& from_;
  StencilBuilder& to_;
  Read read_;
  Offset by_;
  Distances distances_;
  std::map<NodeId, NodeId> copies_;
};

/// Terms of a sum that may turn out to have none.
struct Sum {
  NodeId id = kNoNode;

  void add(StencilBuilder& builder, NodeId term) {
    if (term == kNoNode) return;
    id = id == kNoNode ? term : builder.apply(Operation::add, id, term);
  }
};

/// A stencil of one stage with the derivatives of its updates added to it.
class Differentiated {
 public:
  /// Throws Error(invalid_argument) for several stages.
  explicit Differentiated(const Stencil& stencil);

  /// An empty stencil with the same coefficients, in the same order, and the same layers.
  StencilBuilder start(std::string_view what) const;

  const Stencil& stencil() const { return stencil_; }
  /// With the nodes of the derivatives.
  const Stencil& extended() const { return builder_.stencil(); }
  const std::vector<std::pair<int, Derivatives>>& updates() const { return updates_; }  ///< by output

 private:
  const Stencil& stencil_;
  StencilBuilder builder_;
  std::vector<std::pair<int, Derivatives>> updates_;
};

}  // namespace stencil_tune
