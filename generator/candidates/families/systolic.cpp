// systolic: many fused steps of a linear 2D stencil, as a pipeline of equal warps with the same columns.
#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/single_sweep.hpp"
#include "templates/tile_grid.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

// ---- parameters -----------------------------------------------------------------------------------------------------

Parameter sums_alone() {
  Parameter row = kept_between_planes();
  row.values = {static_cast<int>(Keeps::sums)};
  row.default_value = static_cast<int>(Keeps::sums);
  return row;
}

Parameter groups_of_one_warp() {
  return number("groups of steps", "tg", &Tuning::groups, "kGroups", {4, 8, 12, 16},
                "groups of one warp each, with the same columns: each has an equal part of the fused steps")
      .coded_always();
}

Parameter fused_steps() {
  return number("fused steps", "t", &Tuning::steps, "kSteps", {8, 12, 16, 20, 24, 32, 36, 40, 48},
                "sweeps that a launch makes in one pass over memory")
      .coded_always()
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        std::erase_if(values, [&](int steps) { return steps > problem.steps; });
        return values;
      });
}

std::int64_t cells_of_a_word(const Problem& problem) {
  return kWordBytes / static_cast<std::int64_t>(size_of(problem.type));
}

/// Rows of which each tile's cells are whole words: bulk copies bring and store such alone.
bool rows_are_whole_words(const Problem& problem, const KernelAxes& axes) {
  const std::int64_t word = cells_of_a_word(problem);
  return axes.boundaries[0] != Boundary::periodic && axes.extents[0] % word == 0 && problem.pitch % word == 0;
}

Parameter rows_of_a_batch() {
  return number("rows a barrier", "rb", &Tuning::batch, "kBatch", {1, 2, 3}, "rows between two barriers of the block");
}

Parameter batches_on_their_way() {
  return number("prefetch distance", "pf", &Tuning::prefetch, "kPrefetch", {1, 2, 3, 5},
                "batches of rows on their way beyond the one in use; a ring has room for both")
      .coded_always();
}

Parameter copies_of_lines() {
  return word<Copies>(
             "copies", &Tuning::copies,
             {{Copies::tma, "lines", "bulk copies, a row a request, of whole words (sm_90+)"},
              {Copies::threads, "words", "the block's threads, by asynchronous copies of a few bytes (sm_80+)"}},
             "who brings rows from the grid and stores them there")
      .within([](std::vector<int> values, const Problem& problem, const Limits& limits, const KernelAxes& axes) {
        const bool whole = rows_are_whole_words(problem, axes) && limits.compute_capability >= kFirstWithTensorCopies;
        return whole ? values : std::vector<int>{static_cast<int>(Copies::threads)};
      })
      .as("bool", "kBulkCopies", {"true", "false"});
}

Parameter loop_of_sums() {
  return word<SumsLoop>(
             "loop of sums", &Tuning::sums_loop,
             {{SumsLoop::turn, "turn", "as many rows as a ring has slots, which then are constants"},
              {SumsLoop::step, "step",
               "one row, for which all coefficients are read again: where they are more than the uniform registers"}},
             "how many rows one iteration of a warp's loop takes")
      .as("bool", "kLoopOfTurns", {"true", "false"});
}

Parameter barrier_of_batches() {
  return word<StepBarrier>(
             "barrier", &Tuning::barrier,
             {{StepBarrier::meet, "meet", "all of them between two batches"},
              {StepBarrier::split, "split",
               "each says that it has read and given its rows, and waits when the next batch begins (sm_90+)"}},
             "how the warps of a block wait for each other from batch to batch")
      .within([](std::vector<int> values, const Problem&, const Limits& limits, const KernelAxes&) {
        const bool can_split = limits.compute_capability >= kFirstWithTensorCopies;
        return can_split ? values : std::vector<int>{static_cast<int>(StepBarrier::meet)};
      })
      .as("bool", "kSplitsBarrier", {"false", "true"});
}

/// As many shares as a wave has blocks, or half a wave or two, on GPUs of 80 to 148 SMs.
Parameter shares_of_the_grid() {
  Parameter shares =
      number("shares", "sh", &Tuning::shares, {}, {1, 16, 33, 66, 80, 108, 114, 128, 132, 142, 144, 148, 216, 264, 296},
             "parts of equal cost that the rows of all tiles are cut into, one a block");
  shares.default_value = 1;
  return std::move(shares).coded_always().with_neighbours(2).given_at_launch();  // as many blocks
}

std::vector<Parameter> parameters() {
  return {threads_in_x({kWarpSize}),
          one_thread_in_y(),
          register_tile_in_x({7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27}),
          sums_alone(),
          batches_on_their_way(),
          fused_steps(),
          groups_of_one_warp(),
          rows_of_a_batch(),
          loop_of_sums(),
          barrier_of_batches(),
          copies_of_lines(),
          shares_of_the_grid(),
          store_hint().where([](const Tuning& tuning) { return tuning.copies == Copies::threads; })};
}

// ---- constraints ----------------------------------------------------------------------------------------------------

Verdict fields(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
  if (!advanced_input(problem) || problem.facts.inputs.size() != 1) {
    return "the stencil is not one stage with one field, which its output takes the place of after a step";
  }
  return {};
}

Verdict cell_types(const Candidate& candidate, const Limits&) {
  const ElementType type = candidate.problem().type;
  if (has_storage_types(candidate.problem())) return "fields are stored in a type of their own; copies bring one type";
  if (type == ElementType::f32 || type == ElementType::f64) return {};
  return fmt::format("cells are stored as {} and computed in f32; copies bring them as they are", name(type));
}

Verdict sums(const Candidate& candidate, const Limits& limits) {
  if (candidate.tuning().keeps != Keeps::sums) return "cells are not kept from row to row, sums are";
  return sums_along_the_walk(candidate, limits);
}

Verdict no_coordinates(const Candidate& candidate, const Limits&) {
  if (!candidate.problem().facts.placed) return {};
  return "coordinates or the step's number enter the update, as what lies beyond an edge may";
}

Verdict lines(const Candidate& candidate, const Limits& limits) {
  if (candidate.tuning().copies != Copies::tma) return {};
  if (limits.compute_capability < kFirstWithTensorCopies) {
    return fmt::format("sm_{} has no bulk copies; they came with sm_{}", limits.compute_capability,
                       kFirstWithTensorCopies);
  }
  const Problem& problem = candidate.problem();
  if (rows_are_whole_words(problem, candidate.shape().axes)) return {};
  return fmt::format("rows of {} cells, {} from one to the next, under boundary {}: some tile's are not whole words",
                     candidate.shape().axes.extents[0], problem.pitch, name(candidate.shape().axes.boundaries[0]));
}

Verdict tile_and_shares_in_grid(const Candidate& candidate, const Limits& limits) {
  if (auto objection = fused_tile_in_grid(candidate, limits)) return objection;
  const int shares = candidate.tuning().shares;
  const std::int64_t rows = walked_planes(candidate);
  if (shares <= rows) return {};
  return fmt::format("{} shares of {} rows", shares, rows);
}

/// A lane reads of its neighbours, and mirrors cells of its own.
Verdict reach(const Candidate& candidate, const Limits&) {
  const Reach x = candidate.shape().axes.reach[0];
  const int needed = std::max(-x.low, x.high) + 1;
  if (candidate.tuning().register_x >= needed) return {};
  return fmt::format("a lane holds {} cells of a row; the stencil reaches {}, so that {} are needed",
                     candidate.tuning().register_x, needed - 1, needed);
}

Verdict registers(const Candidate& candidate, const Limits& limits) {
  return registers_suffice(candidate, limits, 8);  // beyond those that the estimate has for addresses
}

std::vector<Constraint> constraints() {
  return {
      {"systolic_steps", "Fused steps are 2 at least and no more than the run has.", steps_of_run},
      {"systolic_verifiable", "Where they are tuned, the device has memory for the references of as many steps.",
       verifiable_steps},
      {"systolic_architecture", "Asynchronous copies bring the rows of fused steps on sm_80 and newer.",
       asynchronous_copies},
      {"systolic_coordinates", "Updates of fused steps use neither coordinates nor the step's number.", no_coordinates},
      {"systolic_prefetch", "A systolic kernel has at least one batch of rows on its way.", planes_on_their_way},
      {"systolic_fields", "A systolic kernel advances one field, by one stage that reads no other.", fields},
      {"systolic_types", "Cells of a systolic kernel are stored as they are computed: f32 or f64.", cell_types},
      {"systolic_walk",
       "A systolic kernel keeps sums of linear stencils, where rows beyond the walk's ends are 0 or not read.", sums},
      {"systolic_levels", "Fused steps are shared out evenly among the warps of a systolic block.",
       steps_shared_out_evenly},
      {"systolic_lines", "Bulk copies move rows of whole words, on sm_90 and newer.", lines},
      {"systolic_barrier", "A barrier is split on sm_90 and newer.", splits_barrier},
      {"systolic_reach", "What a lane of a systolic kernel reads beyond its cells, the next lanes hold.", reach},
      {"systolic_tile_in_grid", "A systolic tile is no wider than the grid, whose rows are as many as the shares.",
       tile_and_shares_in_grid},
      {"systolic_tile_not_empty", "Fused steps leave columns of a tile outside its halo.", fused_tile_not_empty},
      {"systolic_registers", "The values of a systolic block's threads fit in the registers of an SM.", registers},
  };
}

// ---- shape ----------------------------------------------------------------------------------------------------------

std::int64_t slots(const Tuning& tuning) { return std::int64_t{tuning.batch} * (tuning.prefetch + 1); }

FusedLevels levels_of(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  const auto [x, y, z] = axes.reach;
  const std::int64_t word = cells_of_a_word(problem);
  FusedLevels fused;
  fused.width = fused.warp_width = std::int64_t{kWarpSize} * tuning.register_x;
  fused.height = fused.block_height = 1;
  fused.left = static_cast<int>(round_up(std::int64_t{tuning.steps} * -x.low, word));
  fused.right = static_cast<int>(round_up(std::int64_t{tuning.steps} * x.high, word));
  fused.levels = std::max(1, tuning.steps / tuning.groups);
  fused.lag = z.high;
  fused.kept = z.high - z.low;
  fused.hand_over = tuning.batch;
  fused.group_delay = fused.levels * fused.lag + fused.hand_over;
  fused.delay = tuning.steps * fused.lag + tuning.groups * fused.hand_over;
  return fused;
}

/// systolic_rings.cuh: a ring before each warp and one behind the last, with cells between rows that lanes at an end
/// read; barriers that count what bulk copies bring, and at which the warps meet.
std::size_t ring_bytes(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, const FusedLevels& fused) {
  const auto cell = static_cast<std::int64_t>(size_of(problem.type));
  const std::int64_t pad = round_up(std::max(-axes.reach[0].low, axes.reach[0].high), kWordBytes / cell);
  const std::int64_t rings = saturating_product({tuning.groups + 1, slots(tuning), fused.width + pad});
  const std::int64_t barriers =
      (tuning.copies == Copies::tma ? slots(tuning) : 0) + (tuning.barrier == StepBarrier::split ? 1 : 0);
  const std::int64_t cells = saturating_product({saturating_sum(rings, pad), cell});
  return static_cast<std::size_t>(saturating_sum(cells, saturating_product({barriers, kBarrierBytes})));
}

/// Rows of one body of the loop share their coefficients: the share of those that uniform registers do not keep, which
/// then stay in registers of the threads.
double coefficients_in_registers(const Problem& problem) {
  constexpr double kUniformWords = 44;  // beside addresses (machine code, NVRTC 13.0)
  const std::size_t named = problem.stencil.coefficients.size();
  const auto coefficients = static_cast<double>(named > 0 ? named : problem.facts.taps.size());
  return std::max(0.0, 1 - kUniformWords / (coefficients * static_cast<double>(size_of(problem.type)) / 4));
}

void shape_of(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  const KernelAxes& axes = shape.axes;
  FusedLevels& fused = shape.fused;
  fused = levels_of(problem, tuning, axes);
  shape.shared.bytes = ring_bytes(problem, tuning, axes, fused);
  shape.copies_lines = tuning.copies == Copies::tma;
  if (shape.copies_lines) shape.row_multiple = cells_of_a_word(problem);  // the last tile ends with the grid
  shape.placement = Placement::inside;
  shape.shares = tuning.shares;
  const bool periodic = axes.boundaries[0] == Boundary::periodic;
  const std::int64_t columns = overlapping_tiles(axes.extents[0], fused.width, fused.left, fused.right, 0, periodic);
  const std::int64_t rows = saturating_product({axes.extents[2], std::max<std::int64_t>(columns, 1)});
  shape.tile = {fused.width - fused.left - fused.right, 1, (rows + tuning.shares - 1) / tuning.shares};
  shape.tiles = {tuning.shares, 1, 1};
  shape.whole_tile = {fused.width, 1, 4 * (fused.delay + 1)};
  const std::int64_t held = axes.has(2) ? held_layers(problem, static_cast<std::size_t>(axes.grid_axis[2])).both() : 0;
  shape.least_extents = {fused.width, 1, 1 + held};

  // Sums of all levels and one row. Addresses and coefficients are in uniform registers, which leaves more to values
  // than the limit of all families says: with 234 of them and 13 cells nvcc 13.0 spills 0 to 7.
  constexpr std::int64_t kMoreForValues = 15;
  const std::int64_t words = problem.type == ElementType::f64 ? 2 : 1;
  const std::int64_t values = saturating_product({words, tuning.register_x, fused.levels * fused.kept + 1});
  shape.live_registers = std::max<std::int64_t>(values - kMoreForValues, 1);
  const bool one_row = tuning.sums_loop == SumsLoop::step;
  shape.factors_in_registers = one_row ? 0 : coefficients_in_registers(problem);
  const std::int64_t rows_of_loop = one_row ? 1 : slots(tuning);
  shape.unrolled_work = saturating_product({work_of_an_output(problem), tuning.register_x, fused.levels, rows_of_loop});
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

/// Whether a row that completes sums adds cells beside the output's own column to them.
bool reads_beside_last(const Candidate& candidate) {
  const KernelAxes& axes = candidate.shape().axes;
  const auto& taps = candidate.problem().facts.taps;
  return std::any_of(taps.begin(), taps.end(), [&](const Tap& tap) {
    return axes.offset(tap, 2) == axes.reach[2].high && axes.offset(tap, 0) != 0;
  });
}

/// What a row of a tile costs a lane and level: multiply-adds; at the grid's sides also choices between words, for
/// cells that hold keeps and for what lies beyond an edge. Shares by these costs end at the same time, as measured for
/// stars and boxes of order 1 to 3 (bench/results/h200/systolic.txt).
struct RowCosts {
  std::size_t inside, at_side;
};
RowCosts row_costs(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const KernelAxes& axes = candidate.shape().axes;
  const auto words_of = [&](int cells) { return static_cast<std::size_t>(cells) * size_of(problem.type) / 4; };
  const int beside = axes.reach[0].high - axes.reach[0].low;
  const bool holds = axes.boundaries[0] == Boundary::hold;
  const std::size_t inside = problem.facts.taps.size() * static_cast<std::size_t>(candidate.tuning().register_x);
  return {inside, inside + words_of(holds ? beside * (1 + axes.reach[2].high) : beside)};
}

std::string constants(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const RowCosts row = row_costs(candidate);
  return fmt::format(
      "  static constexpr int kCluster = 1, kClusterAxis = -1;\n"
      "  static constexpr auto kOrder = stencil_tune::BlockOrder::natural;\n"
      "  static constexpr int kAdvanced = 0;  // the input that steps advance\n"
      "  // Columns of a tile's halo, of which every step uses some up; rows from the input to the output.\n"
      "  static constexpr int kLeft = {}, kRight = {}, kDelay = {};\n"
      "  static constexpr bool kReadsBesideLast = {};  // neighbours in the last row that a sum takes\n"
      "  static constexpr int kRowCost = {}, kSideRowCost = {};  // in inner tiles, in tiles at the grid's sides\n"
      "  static constexpr int kSharedBytes = {};\n",
      shape.fused.left, shape.fused.right, shape.fused.delay, reads_beside_last(candidate), row.inside, row.at_side,
      shape.shared.bytes);
}

// ---- defaults and the textbook's counts -----------------------------------------------------------------------------

/// As many levels as registers hold, from the widest tile of many steps to the narrowest of few.
std::vector<Tuning> defaults(const Problem& problem) {
  struct Form {
    int cells, steps;
  };
  const bool doubles = problem.type == ElementType::f64;
  const bool many_coefficients = coefficients_in_registers(problem) > 0;
  const std::vector<Form> forms = doubles ? std::vector<Form>{{13, 32}, {15, 24}, {13, 16}, {17, 8}, {7, 8}}
                                          : std::vector<Form>{{27, 32}, {27, 24}, {27, 16}, {27, 8}, {7, 8}};
  std::vector<Tuning> choices;
  for (const Form& form : forms) {
    for (const int shares : {132, 16, 1}) {
      for (const Copies copies : {Copies::tma, Copies::threads}) {
        Tuning tuning(systolic_family());
        tuning.register_x = form.cells;
        tuning.steps = form.steps;
        tuning.groups = 8;
        tuning.batch = many_coefficients ? 2 : 3;
        tuning.sums_loop = many_coefficients ? SumsLoop::step : SumsLoop::turn;
        tuning.prefetch = 1;
        tuning.copies = copies;
        tuning.shares = shares;
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

const Family& systolic_family() {
  static const Family entry{
      .name = "systolic",
      .meaning = "Many steps of a linear 2D stencil in one pass, as a pipeline of equal warps; for runs.",
      .fuses_steps = true,
      .serves =
          [](const Problem& problem) {
            return problem.stage != kWholeStep && problem.steps >= 2 && problem.extents.rank == 2;
          },
      .axes = axes_of_a_walk,
      .parameters = parameters(),
      .constraints = constraints(),
      .kernel_template =
          [](const Tuning&) {
            return KernelTemplate{
                .file = "systolic/systolic.cuh", .function = "systolic", .takes_sums = true, .asks_late = true};
          },
      .shape = shape_of,
      .constants = constants,
      .defaults = defaults,
      .textbook_loads = textbook_loads,
  };
  return entry;
}

}  // namespace stencil_tune
