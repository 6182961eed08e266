// temporal: several sweeps in one pass over memory, every level between them on chip; for runs of more than one step.
#include "generator/candidates/families/temporal.hpp"

#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/single_sweep.hpp"
#include "generator/candidates/row_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace stencil_tune {
namespace {

// ---- parameters -----------------------------------------------------------------------------------------------------

Parameter fused_steps() {
  return number("fused steps", "t", &Tuning::steps, "kSteps", {2, 3, 4, 5, 6, 8, 10, 12, 16},
                "sweeps that a launch makes in one pass over memory")
      .coded_always()
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        std::erase_if(values, [&](int steps) { return steps > problem.steps; });
        return values;
      });
}

Parameter groups_of_warps() {
  return number("groups of steps", "tg", &Tuning::groups, "kGroups", {1, 2, 4},
                "groups of warps that share the fused steps out, each passing planes on to the next")
      .within(of_walks);
}

/// As many shares as a wave of one block an SM has, or of two, on GPUs of 80 to 148 SMs.
Parameter shares_of_the_planes() {
  return number("shares", "sh", &Tuning::shares, {},
                {0, 80, 108, 114, 128, 132, 142, 144, 148, 160, 216, 228, 256, 264, 284, 288, 296},
                "blocks among which the planes of all tiles are shared out, in place of chunks")
      .with_neighbours(8)  // from none to those of one block an SM
      .given_at_launch_unless_default();
}

bool has_chunks(const Tuning& tuning) { return tuning.shares == 0; }

Parameter step_barrier() {
  return word<StepBarrier>(
             "barrier", &Tuning::barrier,
             {{StepBarrier::meet, "meet", "all of them between two steps"},
              {StepBarrier::split, "split",
               "each says within a step that its cells are there, and waits when the next begins (sm_90+)"},
              {StepBarrier::pinned, "pinned",
               "as split; a branch that is never taken pins the last level's update behind that (sm_90+)"}},
             "how the warps of a block wait for each other from step to step")
      .within([](std::vector<int> values, const Problem&, const Limits& limits, const KernelAxes& axes) {
        const bool can_split = axes.has(2) && limits.compute_capability >= kFirstWithTensorCopies;
        return can_split ? values : std::vector<int>{static_cast<int>(StepBarrier::meet)};
      })
      .as("stencil_tune::StepBarrierKind", "kBarrier",
          {"stencil_tune::StepBarrierKind::meet", "stencil_tune::StepBarrierKind::split",
           "stencil_tune::StepBarrierKind::pinned"});
}

Parameter loop_of_held_cells() {
  return word<HeldLoop>(
             "held cells", &Tuning::held_loop,
             {{HeldLoop::apart, "heldapart", "one that blocks at an edge of the grid have for themselves"},
              {HeldLoop::aside, "heldaside",
               "the same; levels that keep sums have them in shared memory, not in registers"},
              {HeldLoop::chosen, "heldchosen", "the one loop of all blocks, which chooses held cells without a branch"},
              {HeldLoop::skipped, "heldskipped",
               "the one loop of all blocks, in which warps without held cells skip them"}},
             "which loop keeps the cells that boundary hold does not change")
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes& axes) {
        const auto held = [&](std::size_t axis) {
          return axes.has(axis) && held_layers(problem, static_cast<std::size_t>(axes.grid_axis[axis])).both() > 0;
        };
        return held(0) || held(1) ? values : std::vector<int>{static_cast<int>(HeldLoop::apart)};
      })
      .as("stencil_tune::HeldLoop", "kHeldLoop",
          {"stencil_tune::HeldLoop::apart", "stencil_tune::HeldLoop::aside", "stencil_tune::HeldLoop::chosen",
           "stencil_tune::HeldLoop::skipped"});
}

Parameter blocks_of_a_tile() {
  Parameter row = cluster_of_blocks();
  row.meaning =
      "blocks of a thread block cluster (sm_90+): parts of one tile, which send each other the rows at their seams";
  return std::move(row).within(
      [](std::vector<int> values, const Problem&, const Limits& limits, const KernelAxes& axes) {
        return limits.has_clusters() && axes.has(1) ? values : std::vector<int>{1};
      });
}

std::vector<Parameter> parameters() {
  // Not drawn, since no winner has them (H200, 2026-11-22 to 24): tiles of several warps in x, 12 cells a thread, more
  // than 16 steps, 3 groups or more than 4. Their codes are legal.
  return {threads_in_x({kWarpSize}),
          threads_in_y(),
          register_tile_in_x({1, 2, 3, 4, 6, 8}),
          register_tile_in_y({1, 2, 3, 4, 6, 8}),
          vector_of_cells(),
          tile_borders().found_by_neighbours_alone(),  // it helps four of nine winners, by 1 % (H200, 2026-11-23)
          kept_between_planes().as("bool", "kKeepsSums", {"false", "true"}),
          copies_of_rows().found_by_neighbours_alone(),  // TMA helps two of 26 winners (H200, 2026-11-22)
          prefetch_distance({1, 2, 3, 4, 6, 8}).within(of_walks),
          fused_steps(),
          chunks_of_planes().where(has_chunks),
          shares_of_the_planes().found_by_neighbours_alone(),  // five winners in f64 have them (H200, 2026-11-28)
          groups_of_warps(),
          step_barrier(),
          rims_of_tiles(),
          loop_of_held_cells().found_by_neighbours_alone(),  // each is the best of some kernels (H200, 2026-11-28)
          blocks_of_a_tile(),
          block_rasterization().where(has_chunks),
          store_hint(),
          unrolled_iterations({1, 2, 3, 4}).within(of_walks),
          blocks_per_sm()};
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

KernelTemplate kernel_template(const Tuning& tuning) {
  // A block has the points of its tile's planes, not of runs of planes.
  const std::string_view kWithPoints = tuning.shares > 0 ? "" : "temporal/temporal_points.cuh";
  if (tuning.keeps == Keeps::sums) {
    return {.file = "temporal/temporal_sums.cuh",
            .function = "temporal_sums",
            .points_file = kWithPoints,
            .points_function = "temporal_sums_with_points",
            .takes_sums = true,
            .asks_late = true,
            .sets = {"kNeighbours"}};
  }
  return {.file = "temporal/temporal.cuh",
          .function = "temporal",
          .points_file = kWithPoints,
          .points_function = "temporal_with_points",
          .sets = {"kNeighbours"}};
}

/// Taps of the field that steps advance, for one output; a row counts from its first cell that is read to its last.
int advanced_taps(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const int input = advanced_input(problem).value_or(0);
  const KernelAxes& axes = candidate.shape().axes;
  std::map<std::pair<int, int>, std::pair<int, int>> rows;
  for (const Tap& tap : problem.facts.taps) {
    if (tap.field != problem.facts.inputs[static_cast<std::size_t>(input)]) continue;
    const int x = axes.offset(tap, 0);
    const auto [row, first] = rows.try_emplace({axes.offset(tap, 1), axes.offset(tap, 2)}, x, x);
    row->second = {std::min(row->second.first, x), std::max(row->second.second, x)};
  }
  int taps = 0;
  for (const auto& [row, range] : rows) taps += range.second - range.first + 1;
  return taps;
}

/// Cells of a row that warps exchange which one access to shared memory moves: a power of two that divides a thread's
/// row. Narrow words, no wider than a neighbour needs, read nothing else. Sums of many taps exchange little for their
/// work, and wide words, with the fewest accesses, are best for them. Simulated for an H200 in f32: sums of 19 points
/// gain 13 % by narrow words, those of 27 points lose 5 %.
int exchanged_word(const Candidate& candidate) {
  constexpr int kManyTaps = 22;
  const Problem& problem = candidate.problem();
  const Reach& x = candidate.shape().axes.reach[0];
  const int bytes = problem.type == ElementType::f64 ? 8 : 4;
  const bool narrow = candidate.tuning().keeps != Keeps::sums || advanced_taps(candidate) <= kManyTaps;
  int cells = static_cast<int>(kWordBytes) / bytes;
  while (candidate.tuning().register_x % cells != 0) cells /= 2;
  while (narrow && cells > 1 && cells > -x.low && cells > x.high) cells /= 2;
  return cells;
}

/// Levels that keep sums add a plane whose rows are all published, of a star a step later than what lies ahead.
std::string reads(const Candidate& candidate) {
  const Tuning& tuning = candidate.tuning();
  const ThreadTile tile{tuning.register_x, tuning.register_y, 1, true};
  if (tuning.keeps != Keeps::sums) return tile_uses(candidate.problem().facts, candidate.shape().axes, tile);
  const Reach& z = candidate.shape().axes.reach[2];
  const int last_settled = candidate.shape().fused.splits_sums ? 0 : z.high;
  std::string text = plane_uses("Reads", candidate, tile, z.low, last_settled);
  if (last_settled < z.high) text += plane_uses("ReadsAhead", candidate, tile, last_settled + 1, z.high);
  return text;
}

std::string constants(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const FusedLevels& fused = shape.fused;
  const bool exchanges = fused.exchange_slots > 0;
  return reads(candidate) +
         fmt::format(
             "  static constexpr int kClusterAxis = {};\n"
             "  static constexpr bool kShares = {};  // blocks share out the planes of all tiles\n"
             "  static constexpr stencil_tune::Neighbours kNeighbours = stencil_tune::Neighbours::shuffle;\n"
             "  // The input that steps advance; others keep their values.\n"
             "  static constexpr int kAdvanced = {};\n"
             "  // Cells of a tile's halo, of which every step uses some up; tiles after the first begin kShift cells "
             "earlier.\n"
             "  static constexpr int kLeft = {}, kRight = {}, kAbove = {}, kBelow = {}, kShift = {};\n"
             "  // Planes that a level keeps, and that it works behind the one before; from the input to the output.\n"
             "  static constexpr int kKept = {}, kLag = {}, kDelay = {};\n"
             "  // Steps until a group of warps takes what another completed; planes from its input to the next "
             "one's.\n"
             "  static constexpr int kHandOver = {}, kGroupDelay = {};\n"
             "  // Warps wait for each other. They exchange cells, of these planes of the reach (0: the lowest).\n"
             "  static constexpr bool kWarpsWait = {}, kExchanges = {};\n"
             "  static constexpr int kFirstExchanged = {}, kLastExchanged = {};\n"
             "  static constexpr bool kSplitsSums = {};  // those of a plane are added in two steps\n"
             "  // Rows of the input beyond a tile that are read; planes from the newest to the one whose rows are "
             "published.\n"
             "  static constexpr int kRim = {}, kRimAge = {};\n"
             "  static constexpr int kExchangedWord = {};  // cells of a row that one access moves\n"
             "  static constexpr int kSharedBytes = {};\n",
             shape.cluster_axis, shape.shares > 0, advanced_input(candidate.problem()).value_or(0), fused.left,
             fused.right, fused.above, fused.below, fused.shift, fused.kept, fused.lag, fused.delay, fused.hand_over,
             fused.group_delay, exchanges || candidate.tuning().groups > 1, exchanges, fused.first_exchanged,
             fused.last_exchanged, fused.splits_sums, fused.rim_rows, fused.rim_age, exchanged_word(candidate),
             shape.shared.bytes);
}

// ---- defaults and the textbook's counts -----------------------------------------------------------------------------

/// Few fused steps; tiles of 64 columns that walk, of 256 on a line, smaller ones for small grids.
std::vector<Tuning> defaults(const Problem& problem) {
  const int rank = problem.extents.rank;
  std::vector<Tuning> choices;
  for (const int warps : {16, 8, 4, 2, 1}) {
    if (rank < 3 && warps > 1) continue;
    for (const int columns : {8, 2}) {
      if (rank > 1 && columns > 2) continue;
      for (const int steps : {4, 2}) {
        Tuning tuning = block(temporal_family(), kWarpSize, warps, 1);
        tuning.steps = steps;
        tuning.register_x = columns;
        tuning.register_y = rank < 3 ? 1 : 4;
        tuning.vector = problem.pitch % 2 == 0 ? 2 : 1;
        tuning.prefetch = rank > 1 ? 3 : 1;
        tuning.unroll = rank > 1 ? 2 : 1;
        tuning.chunks = rank == 3 ? 3 : rank == 2 ? 16 : 1;
        choices.push_back(tuning);
      }
    }
  }
  return choices;
}

TextbookLoads textbook_loads(const Candidate& candidate) {
  return fused_loads(candidate, candidate.tuning().steps * candidate.shape().axes.reach_width(2));
}

}  // namespace

const Family& temporal_family() {
  static const Family entry{
      .name = "temporal",
      .meaning = "Several steps in one pass over memory, every level between them on chip; for runs.",
      .fuses_steps = true,
      .serves = [](const Problem& problem) { return problem.stage != kWholeStep && problem.steps >= 2; },
      .axes = axes_of_a_walk,
      .parameters = parameters(),
      .constraints = temporal_constraints(),
      .kernel_template = kernel_template,
      .shape = temporal_shape,
      .constants = constants,
      .defaults = defaults,
      .textbook_loads = textbook_loads,
  };
  return entry;
}

}  // namespace stencil_tune
