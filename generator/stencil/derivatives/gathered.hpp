// Gradients of fields, gathered cell by cell.
//
//     f = a (u[x+1] - u)              a flux, half a cell ahead
//     u_next = u + f - f[x-1]         read by both cells beside it
//
//     bar of f       = g - g[x+1]     from the gradient g of u_next
//     gradient of u  = g - a bar + (a bar)[x-1]
//
// Expressions that are the same but for a shift are one part of the update, as f and f[x-1] are. What flows back to a
// part is the sum over all that read it, each at the cell that reads: so a part's gradient is made once a cell, where
// the partial derivatives of the update by each cell that it reads have a product for each way there.
#pragma once

#include "generator/stencil/derivatives/differentiated.hpp"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace stencil_tune {

class Gathered {
 public:
  /// The stencil has one stage; what is made of its gradients goes into `to`.
  Gathered(const Stencil& stage, StencilBuilder& to, Distances distances);

  /// The gradient of what the update writes is that field of what is made.
  void add_output(const Update& update, int gradient);

  /// The gradient of a field of the stage at the cell; kNoNode where it has none.
  NodeId gradient_of(int field);

 private:
  /// How far a part is shifted on each axis; nothing where it is the same everywhere along it.
  using Shift = std::array<std::optional<int>, kMaxRank>;

  /// An operand, from where the part that has it is.
  struct Operand {
    int part = 0;
    Shift shift;
  };

  struct Part {
    NodeId node = 0;  ///< one of the nodes that are this part
    Shift shift;      ///< the node's
    std::vector<Operand> operands;
    std::vector<std::pair<int, std::size_t>> users;  ///< parts, and which of their operands it is
    std::vector<std::pair<int, Shift>> outputs;      ///< gradients of outputs that it is, and its shift there
  };

  using Key = std::tuple<Operation, double, int, std::vector<std::pair<int, Shift>>>;

  void add_part(NodeId id);
  NodeId value(int part, const Offset& offset);
  NodeId value_of(NodeId node, const Offset& by);
  NodeId bar(int part, const Offset& offset);
  NodeId handed_on(int user, std::size_t operand, const Offset& at);

  const Stencil& stage_;
  StencilBuilder& to_;
  Distances distances_;
  Chain chain_;
  std::vector<Part> parts_;
  std::map<Key, int> known_;
  std::vector<Operand> places_;  ///< [node]: the part that it is, and its shift
  std::map<int, int> of_field_;  ///< the part that a field is
  std::map<Offset, Rewritten> moved_;
  std::map<std::pair<int, Offset>, NodeId> bars_;
};

}  // namespace stencil_tune
