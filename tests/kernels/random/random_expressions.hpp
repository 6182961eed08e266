// Expressions that nobody wrote, for stencils that are put together at random.
#pragma once

#include "stencil_tune/stencil.hpp"
#include "tests/kernels/random/random_draw.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace stencil_tune {

using Fields = std::vector<int>;  // indices into Stencil::fields

/// Fields that a stencil has not had yet: "u0", "u1" ... for the prefix "u".
Fields make_fields(StencilBuilder& builder, const char* prefix, int count);

/// The most that are nested in each other.
struct ExpressionSize {
  int sums = 3;     ///< in linear updates
  int nesting = 4;  ///< operations in others
};

/// Writes expressions of a stencil that is being built.
class RandomExpressions {
 public:
  /// With a reach of its own on each side of each axis.
  RandomExpressions(Draw& draw, int rank, ExpressionSize size = {});

  /// Updates that follow belong to another stage, with another reach, no farther than that.
  void begin_stage(int farthest);

  StencilBuilder& builder() { return builder_; }
  Draw& draw() { return draw_; }

  /// A weighted sum of cells of the fields; `at_cell` are read at the cell alone.
  NodeId linear(const Fields& fields, const Fields& at_cell);

  /// Any operations, kept away from what no bound follows: division by what may be 0, powers that grow.
  NodeId nonlinear(const Fields& fields, const Fields& at_cell);

  /// One of both.
  NodeId any_update(const Fields& fields, const Fields& at_cell);

 private:
  void draw_reach(int farthest);
  Offset offset();
  NodeId cell(const Fields& fields);
  NodeId plus(NodeId a, NodeId b);
  NodeId coefficient();
  NodeId weight();
  NodeId weighted(NodeId value);
  NodeId group(const Fields& fields, int levels);
  NodeId bounded(NodeId value);
  NodeId leaf(const Fields& fields);
  NodeId place();
  NodeId beyond_an_edge(NodeId cell, const Offset& offset);
  NodeId any(const Fields& fields, int levels);
  NodeId apply(Operation op, const Fields& fields, int levels);

  Draw& draw_;
  StencilBuilder builder_;
  int rank_;
  ExpressionSize size_;
  std::array<Reach, kMaxRank> reach_{};
  bool star_ = draw_.one_in(3);
  bool placed_ = draw_.one_in(5);
  bool edges_ = draw_.one_in(6);                ///< it says what lies beyond some
  int distinct_ = draw_.one_of({1, 2, 3, 12});  // coefficients
  std::vector<NodeId> known_;
};

}  // namespace stencil_tune
