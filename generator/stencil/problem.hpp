// What is tuned: whole steps of a stencil on one grid, or one stage of them.
#pragma once

#include "generator/stencil/remembered.hpp"
#include "generator/stencil/step.hpp"
#include "stencil_tune/grid.hpp"
#include "stencil_tune/stencil.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace stencil_tune {

/// In place of a stage's number: all stages of a step. A stencil of one stage has stage 0 as its whole step.
inline constexpr int kWholeStep = -1;

/// A stencil, and what its step is made of.
struct StepForm {
  Stencil stencil;
  StepFacts step;
};

struct Problem {
  Stencil stencil;
  int stage = 0;  ///< or kWholeStep
  /// The stage's facts. For a whole step, inputs are its state and its constants, outputs what one step stores; taps
  /// are those of all stages (of fields between stages too), reach is the sum over the stages and the same for every
  /// input, radius is the largest of a stage's; a whole step counts as not linear.
  StageFacts facts;
  StepFacts step;  ///< the stencil's, whatever the stage
  /// A whole step's other form, in which parts that are read at several cells are fields of their own
  /// (shared_parts.hpp). Null where there are no such parts. The stencil's fields have the same numbers in both forms.
  std::shared_ptr<const StepForm> parts_once;
  int sums = 0;  ///< how many sums over planes an output cell needs (sum_parts.hpp); 0: there is nothing to sum up
  ElementType type = ElementType::f32;
  Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
  Extents extents;
  std::int64_t pitch = 0;                      ///< cells from one row to the next, >= extents.n[0]
  std::array<std::int64_t, kMaxRank> whole{};  ///< extents of the arrays, where the grid is a part of them; else 0
  int steps = 1;
  bool slabs = false;  ///< arrays of fields in layers hold the slabs that the layers are (layer_arrays.hpp)
  std::array<std::int64_t, kMaxRank> left_out{};  ///< cells between an axis's layers that such arrays leave out
  /// What candidates have in common that follows from the step and the boundaries. Copies of a problem share it.
  std::shared_ptr<Remembered> remembered = std::make_shared<Remembered>();

  /// Cells of the arrays along an axis.
  std::int64_t array_cells(std::size_t axis) const noexcept { return whole[axis] != 0 ? whole[axis] : extents.n[axis]; }
  std::int64_t plane_cells() const noexcept { return pitch * array_cells(1); }
  std::int64_t allocated_cells() const noexcept { return plane_cells() * extents.n[2]; }
  std::size_t field_bytes() const noexcept;  ///< what the array with the widest cells takes
};

/// The type that the field's cells are stored in.
ElementType storage_of(const Problem& problem, int field) noexcept;

/// Whether some field is not stored in the problem's type.
bool has_storage_types(const Problem& problem) noexcept;

/// The bytes of the widest cell among the fields: what alignments, and vectors of cells of each field, are counted by.
std::size_t widest_cell_bytes(const Problem& problem) noexcept;

/// Derives the facts and fills pitch (0: dense rows). kWholeStep becomes stage 0 where that is
/// the whole step. Throws Error(invalid_argument) when rank, pitch or steps do not fit, or a constant of the stage is
/// no normal number of the type that it is computed in. A grid with nothing to update is legal here; updated_box() is
/// then empty.
Problem make_problem(Stencil stencil, ElementType type, const Boundaries& boundaries, const Extents& extents,
                     std::int64_t pitch = 0, int steps = 1, int stage = 0);

/// Layers at the two ends of an axis that the stage never writes: those whose update would read beyond the end.
struct HeldLayers {
  std::int64_t low = 0;
  std::int64_t high = 0;

  std::int64_t both() const noexcept { return low + high; }
};

/// The fewest cells that the axis may have: values that a definition changes beyond an edge are mirrored once.
std::int64_t least_extent(const Stencil& stencil, std::size_t axis);

/// The held layers along a grid axis; none unless its boundary is hold.
HeldLayers held_layers(const Problem& problem, std::size_t axis);

/// Whether an update asks for cells in layers.
bool asks_layers(const Problem& problem);

/// Cells that lie in no layer of an axis: low <= i < high. A cell beyond an edge is as far in as the edge's layer is
/// there: it lies in it, or in none.
struct BetweenLayers {
  std::int64_t low = std::numeric_limits<std::int32_t>::min();   ///< where there is no layer
  std::int64_t high = std::numeric_limits<std::int32_t>::max();  ///< the same
};
std::array<BetweenLayers, kMaxRank> between_layers(const Problem& problem);

/// Whether the problem is the whole step of its stencil.
bool is_whole_step(const Problem& problem);

/// The fields that a kernel of so many steps takes the addresses of, in that order: facts.inputs. For several steps or
/// stages they are the state and the constants in order of index, then, where a boundary holds, the fields whose held
/// layers alone are read (StepFacts::layers).
std::vector<int> kernel_inputs(const Problem& problem, int steps = 1);

/// The fields that a kernel of so many steps stores, in order of their addresses: facts.outputs, for whole
/// steps stored_fields().
std::vector<int> kernel_outputs(const Problem& problem, int steps);

/// How many entries fields of time have where kernels are checked and timed: more than any of these runs reads.
inline constexpr std::int64_t kCheckedSteps = 128;

/// Cells that the field has in memory: those of its array, rows padded, or of a profile's axes; of a field of time
/// kCheckedSteps.
std::int64_t cells_of_field(const Problem& problem, int field);

/// Cells from one row to the next, of each profile along two axes.
std::vector<std::int64_t> profile_rows(const Problem& problem);

/// All cells the stage writes: those between the held layers of each axis. For a whole step: those that every stage
/// updates.
Box updated_box(const Problem& problem);

/// The input that the stage's only output takes the place of after a step: its place among facts.inputs. Nothing where
/// the stencil is not one stage of one output, or other fields move too.
std::optional<std::size_t> advanced_input(const Problem& problem);

/// Whether steps of the stencil can be fused: one stage advances one field, and reads others, which no step changes, at
/// the cell itself alone.
bool advances_one_field(const Problem& problem);

/// One read of each input cell, one write of each updated cell, in bytes: what share and effective bandwidth count.
double minimal_traffic_bytes(const Problem& problem);

}  // namespace stencil_tune
