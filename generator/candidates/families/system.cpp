// system: whole steps of a system of fields in one pass over memory, every level between them on chip; for runs of more
// than one step, and for steps of several stages.
#include "generator/candidates/families/system.hpp"

#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/single_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

// ---- parameters -----------------------------------------------------------------------------------------------------

Parameter one_warp_in_x() { return threads_in_x({kWarpSize}); }

/// A grid whose rows end off whole words has another way of TMA than all others.
Parameter copies_to_any_end_of_rows() {
  return copies_of_rows({{Copies::tma_beyond, "tmabeyond",
                          "TMA, a warp's rows of a plane a request (sm_90+); the last tile may end beyond the grid, to "
                          "start on 16 bytes"}})
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes& axes) {
        const bool beyond = axes.boundaries[0] == Boundary::hold && rows_start_off_the_copies(problem, axes);
        std::erase(values, static_cast<int>(beyond ? Copies::tma : Copies::tma_beyond));
        return values;
      });
}

bool any_axis_is_zero(const Problem& problem) {
  const auto first = problem.boundaries.begin();
  return std::count(first, first + problem.extents.rank, Boundary::zero) > 0;
}

Parameter shared_parts_of_updates() {
  return word<SharedParts>("shared parts", &Tuning::shared_parts,
                           {{SharedParts::again, "again", "at each read: nothing more is kept"},
                            {SharedParts::once, "once", "once a cell, and passed on like fields"}},
                           "when parts of an update that are read at several cells (a flux) are computed")
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        const bool has_parts = problem.parts_once && !any_axis_is_zero(problem);
        return has_parts ? values : std::vector<int>{static_cast<int>(SharedParts::again)};
      })
      .without_constant();  // the levels' constants say what follows
}

/// A 2D grid has one warp a tile, and its rows are the planes of a walk.
std::vector<int> of_grids_with_rows(std::vector<int> values, const Problem&, const Limits&, const KernelAxes& axes) {
  return axes.has(1) ? values : std::vector<int>{values.front()};
}

Parameter warps_at_edges() {
  return word<EdgeWarps>("warps at edges", &Tuning::edge_warps,
                         {{EdgeWarps::work, "work", "work like all others"},
                          {EdgeWarps::rest, "rest", "rest, and leave the others their issue slots"}},
                         "what warps do at a tile's edge while a level leaves all their rows wrong")
      .within(of_grids_with_rows)
      .as("bool", "kEdgeWarpsRest", {"false", "true"});
}

Parameter filling_of_levels() {
  return word<Filling>("filling", &Tuning::filling,
                       {{Filling::apart, "fillapart", "the loop that knows every edge"},
                        {Filling::plain, "fillplain", "the plain loop, which then asks whether a plane is stored"}},
                       "what makes the steps in which levels fill, of blocks that start inside the grid")
      .within(of_walks)
      .as("bool", "kFillsPlain", {"false", "true"});
}

/// Where z is short, tiles whose rows lie along it waste less than walks through so few planes.
Parameter axis_of_the_walk() {
  constexpr std::int64_t kShort = 4;  // times as short as y
  return word<WalkAxis>("axis of the walk", &Tuning::walk_axis,
                        {{WalkAxis::z, "walkz", "z; rows of a tile lie along y"},
                         {WalkAxis::y, "walky", "y; rows of a tile lie along z"}},
                        "which axis of a 3D grid a block walks along")
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        const auto& n = problem.extents.n;
        const bool is_flat = problem.extents.rank == 3 && kShort * n[2] <= n[1];
        return is_flat ? values : std::vector<int>{static_cast<int>(WalkAxis::z)};
      })
      .without_constant();  // the kernel's axes say what follows
}

Parameter fused_steps() {
  return number("fused steps", "t", &Tuning::steps, "kSteps", {1, 2, 3, 4, 5, 6, 8, 10, 12, 16},
                "steps, with all their stages, that a launch makes in one pass over memory")
      .coded_always()
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        std::erase_if(values, [&](int steps) {
          return steps > problem.steps || (steps == 1 && problem.step.stages.size() == 1);
        });
        return values;
      });
}

std::vector<Parameter> parameters() {
  return {one_warp_in_x(),
          threads_in_y({1, 2, 4, 8, 12, 16, 20}),
          register_tile_in_x({1, 2, 3, 4, 6, 8}),
          register_tile_in_y({1, 2, 3, 4, 8}),
          vector_of_cells(),
          tile_borders(),
          copies_to_any_end_of_rows(),
          prefetch_distance({1, 2, 3, 4, 6}).within(of_walks),
          fused_steps(),
          chunks_of_planes(),
          shared_parts_of_updates(),
          warps_at_edges(),
          rims_of_tiles(),
          filling_of_levels(),
          axis_of_the_walk(),
          block_rasterization(),
          store_hint(),
          unrolled_iterations({1, 2, 3, 4, 5}).within(of_walks),
          blocks_per_sm()};
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

KernelTemplate kernel_template(const Tuning&) {
  return {.file = "system/system.cuh",
          .function = "system",
          .points_file = "system/system_points.cuh",
          .points_function = "system_with_points"};
}

std::string constants(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const FusedLevels& fused = shape.fused;
  const FusedSystem& system = shape.system();
  const auto concerns = [&](std::size_t axis) {  // cells that are held, or read what the boundary answers
    const Boundary boundary = shape.axes.boundaries[axis];
    const bool answers = boundary != Boundary::hold && boundary != Boundary::periodic;
    if (answers && system.halo.low[axis] + system.halo.high[axis] > 0) return true;
    return std::any_of(system.levels.begin(), system.levels.end(),
                       [&](const SystemLevel& level) { return level.held.low[axis] > 0 || level.held.high[axis] > 0; });
  };
  return fmt::format(
      "  static constexpr int kCluster = 1, kClusterAxis = -1, kGroups = 1, kGroupDelay = 0;\n"
      "  static constexpr stencil_tune::StepBarrierKind kBarrier = stencil_tune::StepBarrierKind::meet;\n"
      "  static constexpr int kLeft = {}, kRight = {}, kAbove = {}, kBelow = {}, kShift = {};  // halo of a tile\n"
      "  static constexpr int kRowMultiple = {};  // rows of tiles end at a multiple of so many cells\n"
      "  // Planes that the walk starts before and ends after those that it stores.\n"
      "  static constexpr int kEarly = {}, kDelay = {};\n"
      "  // Planes at the beginning of the grid that need more than plain steps.\n"
      "  static constexpr int kFirstPlain = {};\n"
      "  static constexpr int kExchangedRows = {}, kExchangeSlots = {};  // rows of a warp that others read\n"
      "  static constexpr int kRim = {};  // rows of the input beyond a tile that are read\n"
      "  static constexpr bool kExchanges = {};  // between two steps, not within levels\n"
      "  static constexpr bool kEdgeColumns = {}, kEdgeRows = {};\n"
      "  static constexpr int kSharedBytes = {};\n",
      fused.left, fused.right, fused.above, fused.below, fused.shift, fused.row_multiple, system.halo.low[2],
      system.delay, system.first_plain, system.exchanged_rows, system.exchange_slots, system.rim_rows,
      system.exchanged_rows > 0 && !system.meets_in_levels, concerns(0), concerns(1), shape.shared.bytes);
}

// ---- defaults and the textbook's counts -----------------------------------------------------------------------------

/// Few fused steps; small tiles for small grids.
std::vector<Tuning> defaults(const Problem& problem) {
  const int rank = problem.extents.rank;
  std::vector<Tuning> choices;
  for (const int warps : {16, 8, 4, 2, 1}) {
    if (rank < 3 && warps > 1) continue;
    for (const int cells : {4, 2, 1}) {
      for (const int steps : {2, 1}) {
        if (steps == 1 && problem.step.stages.size() == 1) continue;
        Tuning tuning = block(system_family(), kWarpSize, warps, 1);
        tuning.steps = steps;
        tuning.register_x = rank < 3 ? cells : 2;
        tuning.register_y = rank < 3 ? 1 : cells;
        tuning.vector = problem.pitch % 2 == 0 && tuning.register_x % 2 == 0 ? 2 : 1;
        tuning.prefetch = rank > 1 ? 2 : 1;
        tuning.unroll = rank > 1 ? 2 : 1;
        tuning.chunks = rank == 3 ? 3 : rank == 2 ? 16 : 1;
        choices.push_back(tuning);
      }
    }
  }
  const std::vector<Tuning> longer = choices;
  for (Tuning tuning : longer) {  // grids with few planes have no room for chunks
    tuning.chunks = 1;
    choices.push_back(tuning);
  }
  return choices;
}

TextbookLoads textbook_loads(const Candidate& candidate) {
  const Layers& halo = candidate.shape().system().halo;
  return fused_loads(candidate, halo.low[2] + halo.high[2]);
}

}  // namespace

const Family& system_family() {
  static const Family entry{
      .name = "system",
      .meaning = "Whole steps of several fields, time levels or stages in one pass over memory.",
      .fuses_steps = true,
      .advances_all_fields = true,
      .reads_slabs = true,
      .serves =
          [](const Problem& problem) {
            const bool more_than_a_sweep = problem.steps > 1 || problem.step.stages.size() > 1;
            return is_whole_step(problem) && more_than_a_sweep && !advances_one_field(problem);
          },
      .axes = axes_of_a_walk,
      .parameters = parameters(),
      .constraints = system_constraints(),
      .kernel_template = kernel_template,
      .shape = system_shape,
      .constants = constants,
      .defaults = defaults,
      .textbook_loads = textbook_loads,
  };
  return entry;
}

std::vector<Tuning> with_other_copies(const Tuning& tuning) {
  const bool is_system = tuning.family == &system_family();
  if (tuning.copies != Copies::tma || !(is_system || tuning.family == &temporal_family())) return {};
  std::vector<Tuning> others(is_system ? 2 : 1, tuning);
  if (is_system) others.front().copies = Copies::tma_beyond;
  others.back().copies = Copies::threads;
  return others;
}

}  // namespace stencil_tune
