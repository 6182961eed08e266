// What is tuned: one stage of a stencil on one grid.
#pragma once

#include "stencil_tune/grid.hpp"
#include "stencil_tune/stencil.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace stencil_tune {

struct Problem {
  Stencil stencil;
  int stage = 0;
  StageFacts facts;
  ElementType type = ElementType::f32;
  Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
  Extents extents;
  std::int64_t pitch = 0;  ///< cells from one row to the next, >= extents.n[0]
  int steps = 1;

  std::int64_t allocated_cells() const noexcept { return pitch * extents.n[1] * extents.n[2]; }
  std::size_t field_bytes() const noexcept { return static_cast<std::size_t>(allocated_cells()) * size_of(type); }
};

/// Derives the facts and fills pitch (0: dense rows). Throws Error(invalid_argument) when rank, pitch or steps do not
/// fit, or a constant of the stage is no normal number of the type that it is computed in. A grid with nothing to
/// update is legal here; updated_box() is then empty.
Problem make_problem(Stencil stencil, ElementType type, const Boundaries& boundaries, const Extents& extents,
                     std::int64_t pitch = 0, int steps = 1, int stage = 0);

/// All cells a step writes: the interior under hold, everything otherwise, axis by axis.
Box updated_box(const Problem& problem);

/// The input that the stage's only output takes the place of after a step: its place among facts.inputs. Nothing where
/// the stencil is not one stage of one output, or other fields move too.
std::optional<std::size_t> advanced_input(const Problem& problem);

/// Whether steps of the stencil can be fused: one stage advances one field, and reads others, which no step changes, at
/// the cell itself alone.
bool advances_one_field(const Problem& problem);

/// One read of each input cell and one write of each updated cell, in bytes: the numerator of "share".
double minimal_traffic_bytes(const Problem& problem);

}  // namespace stencil_tune
