// Problems that the tests of candidates share.
#pragma once

#include "generator/candidates/constraints.hpp"
#include "generator/stencil/problem.hpp"

namespace stencil_tune::testing {

inline Extents cube(int rank, std::int64_t side) {
  Extents extents{rank, {1, 1, 1}};
  for (int axis = 0; axis < rank; ++axis) extents.n[static_cast<std::size_t>(axis)] = side;
  return extents;
}

inline Problem builtin_problem(Shape shape, int rank, int order, ElementType type = ElementType::f32,
                               std::int64_t side = 512) {
  const Boundaries hold{Boundary::hold, Boundary::hold, Boundary::hold};
  return make_problem(make_builtin(shape, rank, order), type, hold, cube(rank, side));
}

inline Problem star(int rank, int order, ElementType type = ElementType::f32, std::int64_t side = 512) {
  return builtin_problem(Shape::star, rank, order, type, side);
}

inline Problem box(int rank, int order, ElementType type = ElementType::f32, std::int64_t side = 512) {
  return builtin_problem(Shape::box, rank, order, type, side);
}

inline const Limits kSm90{};

}  // namespace stencil_tune::testing
