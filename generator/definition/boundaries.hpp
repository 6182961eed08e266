// [boundary] of a definition: what lies beyond the edges of the grid, for a field, an axis, a side.
#pragma once

#include "generator/definition/expression/operators.hpp"

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// How a field is answered beyond one side of an axis.
struct EdgeRule {
  using Kind = EdgeWord;

  Kind kind = Kind::zero;
  std::array<NodeId, 3> terms{-1, -1, -1};  ///< WrittenEdge::terms; they read no field
  std::size_t offset = 0;                   ///< in the definition's text
};

/// "low" or "high", as numbers.
enum class Side { low, high };

/// Collects what a definition says of its edges. Kernels answer reads beyond an edge in one way an axis: mirrored,
/// clamped, wrapped or 0. What else is said of a field or a side becomes a part of the simplified form's expressions,
/// which know how far beyond the edge a cell lies (Operation::before, after). The written form keeps its reads as they
/// stand, and the words beside them.
class DefinedBoundaries {
 public:
  /// Throws ExpressionError.
  using Reject = std::function<void(std::size_t offset, const std::string& message)>;

  /// How many numbers the word takes.
  static std::size_t terms_of(EdgeRule::Kind kind);

  /// field: -1 for those that have no rule of their own.
  void add(int field, int axis, Side side, const EdgeRule& rule);
  bool empty() const noexcept { return rules_.empty(); }

  /// The kind of a word; nothing for none.
  static std::optional<EdgeRule::Kind> kind_of(std::string_view word);

  /// What is said of the field there; null: nothing.
  const EdgeRule* find(int field, int axis, Side side) const;

  /// Settles the boundary of each axis that is spoken of, and rewrites all updates, or notes the written edges.
  /// `reject` throws.
  void apply(ExpressionBuilder& expressions, const Reject& reject) const;

 private:
  struct Said {
    int field, axis;
    Side side;
    EdgeRule rule;
  };

  /// How kernels answer reads beyond the edges of each axis; nothing for one that is not spoken of.
  using Settled = std::array<std::optional<Boundary>, kMaxRank>;
  using RejectAxis = std::function<void(const std::string& message)>;

  /// The kinds of rules that reads need which leave the grid on the axis; where none does, all that are said of it.
  std::set<EdgeRule::Kind> kinds_on(int axis, const Stencil& stencil, const std::vector<bool>& used,
                                    const RejectAxis& reject) const;
  Settled settle(const Stencil& stencil, const std::vector<bool>& used, const Reject& reject) const;
  /// The tap's value, made of what the kernel's boundaries answer.
  NodeId with_rules(ExpressionBuilder& expressions, NodeId value, const Node& tap, const Settled& settled) const;
  void rewrite_updates(ExpressionBuilder& expressions, const std::vector<bool>& used, const Settled& settled) const;
  void note_edges(StencilBuilder& builder) const;

  std::vector<Said> rules_;
};

}  // namespace stencil_tune
