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
  int sums = 0;  ///< of planes that an output cell needs (sum_parts.hpp); 0: there is nothing to sum up
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

/// Layers at the two ends of an axis that the stage never writes: those whose update would read beyond the end.
struct HeldLayers {
  std::int64_t low = 0;
  std::int64_t high = 0;

  std::int64_t both() const noexcept { return low + high; }
};

/// Along a grid axis; none unless its boundary is hold.
HeldLayers held_layers(const Problem& problem, std::size_t axis);

/// All cells the stage writes: those between the held layers of each axis.
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
