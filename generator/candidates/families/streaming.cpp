// streaming: a block walks along the grid's last axis, and planes live in registers, in shared memory, or in a
// pipeline of planes that are brought ahead of the walk.
#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/single_sweep.hpp"
#include "generator/candidates/families/streaming_constraints.hpp"
#include "generator/stencil/rewriting/sum_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace stencil_tune {
namespace {

bool in_pipeline(const Tuning& tuning) { return tuning.planes == Planes::ring; }
bool in_registers(const Tuning& tuning) { return tuning.planes == Planes::registers; }
bool in_shared_memory(const Tuning& tuning) { return !in_pipeline(tuning) && !in_registers(tuning); }
bool keeps_sums(const Tuning& tuning) { return tuning.keeps == Keeps::sums; }

// ---- parameters -----------------------------------------------------------------------------------------------------

/// Depths up to the first that covers the walked planes (those beyond only rename it), and those that part the planes
/// evenly where powers of two cannot: a few long walks must fill whole waves of blocks.
std::vector<int> depths_within(std::vector<int> depths, const Problem& problem, const Limits&, const KernelAxes& axes) {
  constexpr std::int64_t kLeastDepth = 16;
  const auto walked = static_cast<std::size_t>(axes.grid_axis[2]);
  const Box box = updated_box(problem);
  const std::int64_t planes = std::max<std::int64_t>(1, box.high[walked] - box.low[walked]);
  const auto covering = std::find_if(depths.begin(), depths.end(), [&](int depth) { return depth >= planes; });
  if (covering != depths.end()) depths.erase(covering + 1, depths.end());
  for (const std::int64_t parts : {3, 5, 6, 7}) {
    const std::int64_t depth = (planes + parts - 1) / parts;
    if (depth >= kLeastDepth && depth <= depths.back()) depths.push_back(static_cast<int>(depth));
  }
  std::sort(depths.begin(), depths.end());
  depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
  return depths;
}

Parameter coarsening_depth() {
  return number("coarsening depth", "cz", &Tuning::depth, "kDepth", {1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
                "outputs a thread walks along the last axis")
      .coded_always()
      .with_neighbours(2)  // the next depth alone is often slower, the one after faster
      .within(depths_within);
}

Parameter planes_within_reach() {
  Parameter row =
      word<Planes>(
          "planes", &Tuning::planes,
          {{Planes::registers, "regs", "a thread's own rows in registers, neighbouring rows through the cache"},
           {Planes::shared, "shared", "all planes with their halo in shared memory (textbook thread coarsening)"},
           {Planes::mixed, "mixed",
            "the current plane in shared memory, the others in registers (textbook register tiling)"},
           {Planes::ring, "ring", "planes brought to shared memory ahead of the walk, own column in registers"}},
          "where the planes within reach live during the walk")
          .coded_always()
          .without_constant();                                                         // it chooses the template
  row.values = {static_cast<int>(Planes::registers), static_cast<int>(Planes::ring)};  // the textbook's never win
  return row;
}

Parameter loop_of_sums() {
  return word<SumsLoop>("loop of sums", &Tuning::sums_loop,
                        {{SumsLoop::turn, "turn",
                          "as many steps as sums are under way, after which each is back in its registers"},
                         {SumsLoop::step, "step",
                          "one step, which a small instruction cache holds; sums move as they are added to"}},
                        "how much of a walk with sums one iteration of its loop is")
      .where(keeps_sums)
      .as("bool", "kLoopOfTurns", {"true", "false"});
}

Parameter copies_of_planes() {
  return word<Copies>(
             "copies", &Tuning::copies,
             {{Copies::tma, "tma", "TMA, a plane a request (sm_90+)"},
              {Copies::threads, "cpasync", "the block's threads, by asynchronous copies of a few bytes (sm_80+)"}},
             "who brings planes to the pipeline")
      .where([](const Tuning& tuning) { return in_pipeline(tuning) && keeps_sums(tuning); })
      .without_constant();
}

Parameter tiles_of_a_block() {
  return number("tiles a block", "tb", &Tuning::tiles, "kTiles", {1, 2, 4, 8, 16, 32},
                "tiles that a block takes one after the other, with planes of the next on their way")
      .where([](const Tuning& tuning) {
        return in_pipeline(tuning) && keeps_sums(tuning) && tuning.copies == Copies::tma;
      });
}

std::vector<Parameter> parameters() {
  return {threads_in_x({16, 32, 64, 128, 256, 512}),
          threads_in_y(),
          register_tile_in_x({1, 2, 4, 8}),
          register_tile_in_y(),
          vector_of_cells(),
          coarsening_depth(),
          planes_within_reach(),
          kept_between_planes().where([](const Tuning& tuning) { return !in_shared_memory(tuning); }),
          loop_of_sums(),
          copies_of_planes(),
          prefetch_distance({0, 1, 2, 3, 4, 6, 8}).where([](const Tuning& tuning) {
            return in_pipeline(tuning) || (in_registers(tuning) && !keeps_sums(tuning));
          }),
          tiles_of_a_block(),
          cluster_of_blocks(),
          covered_tile().where(in_shared_memory),
          neighbours_in_x().where(in_registers),
          block_rasterization(),
          load_hint().where([](const Tuning& tuning) { return !in_pipeline(tuning); }),
          store_hint(),
          unrolled_iterations({1, 2, 4}).where([](const Tuning& tuning) { return !keeps_sums(tuning); }),
          blocks_per_sm()};
}

KernelTemplate template_of_planes(const Tuning& tuning) {
  switch (tuning.planes) {
    case Planes::shared:
      return {"streaming/streaming_shared.cuh", "streaming_shared"};
    case Planes::mixed:
      return {"streaming/streaming_mixed.cuh", "streaming_mixed"};
    case Planes::ring:
      if (tuning.copies == Copies::threads) return {"streaming/streaming_copied_sums.cuh", "streaming_copied_sums"};
      if (keeps_sums(tuning)) return {"streaming/streaming_ring_sums.cuh", "streaming_ring_sums"};
      return {"streaming/streaming_ring.cuh", "streaming_ring"};
    case Planes::registers:
      break;
  }
  if (keeps_sums(tuning)) return {"streaming/streaming_sums.cuh", "streaming_sums"};
  return {"streaming/streaming.cuh", "streaming"};
}

KernelTemplate kernel_template(const Tuning& tuning) {
  KernelTemplate result = template_of_planes(tuning);
  result.takes_sums = keeps_sums(tuning);
  result.asks_late = keeps_sums(tuning) || in_pipeline(tuning);
  if (in_registers(tuning)) result.sets = {"kInsideX"};
  return result;
}

// ---- shape ----------------------------------------------------------------------------------------------------------

/// The lowest plane (0: the lowest in reach) from which a walking thread still reads something for the first time;
/// planes below it were read at earlier steps and live on in registers. Decides how many planes the pipeline must hold.
struct FirstLoaded {
  int plane;
};

FirstLoaded find_first_loaded(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  // Each part (own cells, left halo, right halo) of each row is loaded by the highest plane that reads it.
  std::map<std::array<int, 3>, int> newest;
  for (const Tap& tap : problem.facts.taps) {
    const int dx = tap.offset[0];
    const int plane = axes.offset(tap, 2) - axes.reach[2].low;
    for (int j = 0; j < tuning.register_y; ++j) {
      const auto read = [&](int part) {
        const auto [entry, fresh] = newest.try_emplace({tap.field, axes.offset(tap, 1) + j, part}, plane);
        entry->second = std::max(entry->second, plane);
      };
      if (std::abs(dx) < tuning.register_x) read(0);
      if (dx != 0) read(dx);  // each offset its own part: no later than the whole halo's
    }
  }
  int first = axes.reach_width(2);
  for (const auto& [part, plane] : newest) first = std::min(first, plane);
  return {first};
}

int first_loaded_plane(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  if (keeps_sums(tuning)) return axes.reach_width(2);
  const Remembered::Key key{problem.stage, tuning.register_x, tuning.register_y};
  return problem.remembered->recall<FirstLoaded>(key, [&] { return find_first_loaded(problem, tuning, axes); })->plane;
}

constexpr std::int64_t kLineBytes = 128;

/// A stage of the pipeline holds one plane of each input as TMA writes it: cells as stored, planes from a 128-byte
/// line on, which TMA asks for. Rows of the box are whole lines in memory and in the stage: those that begin on a
/// 32-byte sector and are 16 bytes longer than they must be cost 3 to 5 % on an H200 (2026-11-21), as a line of the one
/// then falls into two of the other.
void shape_pipeline(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  constexpr std::int64_t kBarrierBytes = 16;  // full and empty, 8 bytes each
  const auto& [x, y, z] = shape.axes.reach;
  const auto size = static_cast<std::int64_t>(size_of(problem.type));
  shape.first_loaded_plane = first_loaded_plane(problem, tuning, shape.axes);
  shape.rows_of_whole_lines = true;

  SharedTile& stages = shape.shared;
  stages.left_pad = x.low < 0 ? static_cast<int>(round_up(-x.low, kLineBytes / size)) : 0;
  stages.pitch = round_up(stages.left_pad + shape.tile[0] + x.high, kLineBytes / size);
  stages.rows = shape.tile[1] + y.high - y.low;
  stages.planes = z.high - z.low + 1 - shape.first_loaded_plane + tuning.prefetch + 1;
  stages.inputs = keeps_sums(tuning) ? early_inputs(problem.facts) : static_cast<int>(problem.facts.inputs.size());
  stages.cell_bytes = size_of(problem.type);
  const std::int64_t plane_bytes = round_up(saturating_product({stages.pitch, stages.rows, size}), kLineBytes);
  stages.bytes = static_cast<std::size_t>(saturating_product(
      {stages.planes, saturating_sum(saturating_product({plane_bytes, stages.inputs}), kBarrierBytes)}));
  shape.uses_tensor_maps = tuning.copies == Copies::tma;
  shape.copied_box = {stages.pitch, stages.rows};
}

/// What a thread holds of one input: the row being read with its halo, own columns over all planes, or every row
/// within reach.
std::int64_t input_values(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  const auto span = [&](std::size_t axis) { return std::int64_t{axes.reach_width(axis)}; };
  const std::int64_t row = tuning.register_x + span(0);
  if (tuning.planes == Planes::shared) return row;
  const std::int64_t ahead = in_registers(tuning) ? tuning.prefetch : 0;
  const std::int64_t planes = span(2) + 1 + ahead;
  const std::int64_t column = saturating_product({tuning.register_x, tuning.register_y, planes});
  if (tuning.planes == Planes::mixed) return column + row;  // registers and pipeline keep what they load once
  if (problem.facts.star) {
    return column + (1 + ahead) * (span(1) * tuning.register_x + span(0) * tuning.register_y);
  }
  return saturating_product({row, tuning.register_y + span(1), planes});
}

/// Sums of the outputs within reach, late cells, and two rows on their way from the plane to the sums.
void estimate_sums(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  const KernelAxes& axes = shape.axes;
  const std::int64_t words = problem.type == ElementType::f64 ? 2 : 1;
  const std::int64_t early = early_inputs(problem.facts);
  const std::int64_t late = static_cast<std::int64_t>(problem.facts.inputs.size()) - early;
  const std::int64_t pending =
      saturating_product({problem.sums, axes.reach_width(2), tuning.register_x, tuning.register_y});
  const std::int64_t rows = saturating_product({2, early, tuning.register_x + axes.reach_width(0)});
  const std::int64_t late_cells = saturating_product({late, tuning.register_x, tuning.register_y});
  const std::int64_t steps_of_loop = tuning.sums_loop == SumsLoop::step ? 1 : axes.reach_width(2) + 1;
  shape.live_registers = saturating_product({words, saturating_sum(saturating_sum(pending, rows), late_cells)});
  shape.unrolled_work =
      saturating_product({work_of_an_output(problem), tuning.register_x, tuning.register_y, steps_of_loop});
}

void shape_of(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  shape.tile = tile_of_threads(tuning);
  shape.tile[2] = tuning.depth;
  take_off_halo(tuning, shape, 2);
  shape.turns_once = tuning.planes == Planes::registers || tuning.planes == Planes::ring;
  if (in_pipeline(tuning) && shape.axes.has(2)) {
    shape_pipeline(problem, tuning, shape);
  } else if (in_shared_memory(tuning)) {
    shape.shared = rows_with_halo(problem, tuning, shape);
    shape.shared.planes = tuning.planes == Planes::mixed ? 1 : shape.axes.reach_width(2) + 1;
    fill_bytes(shape.shared);
  }
  if (keeps_sums(tuning)) {
    estimate_sums(problem, tuning, shape);
  } else {
    estimate(problem, tuning, input_values(problem, tuning, shape.axes), shape);
  }
}

std::string reads(const Candidate& candidate) {
  const Tuning& tuning = candidate.tuning();
  const Reach& z = candidate.shape().axes.reach[2];
  const bool shuffles = in_registers(tuning) && tuning.neighbours == Neighbours::shuffle;
  const ThreadTile tile{tuning.register_x, tuning.register_y, 1, shuffles};
  if (tuning.planes == Planes::shared) return rows_at_once(candidate, tile);
  if (tuning.planes == Planes::mixed) {
    return walk_reads(candidate, {tuning.register_x, tuning.register_y, 1, true}, 0, true);
  }
  if (in_pipeline(tuning)) {
    return keeps_sums(tuning) ? plane_reads(candidate, tile, z.low, z.high) : walk_reads(candidate, tile, 0);
  }
  if (keeps_sums(tuning)) {
    return inside_constants(candidate, tile, 0) + plane_reads(candidate, tile, z.low, z.high);
  }
  return inside_constants(candidate, tile, tuning.prefetch) + walk_reads(candidate, tile, tuning.prefetch);
}

/// The constants of the pipeline that shape_pipeline() lays out.
std::string stage_constants(const Candidate& candidate) {
  const SharedTile& stages = candidate.shape().shared;
  const std::int64_t copied = stages.pitch * stages.rows * static_cast<std::int64_t>(stages.cell_bytes);
  const std::int64_t plane = round_up(copied, kLineBytes);
  // Rows of a stage are aligned whatever those in memory are: the widest vector that divides the register tile.
  int vector = 16 / static_cast<int>(stages.cell_bytes);
  while (candidate.tuning().register_x % vector != 0) vector /= 2;
  return fmt::format(
      "  // Bytes of a plane, of a stage with a plane of each input, and of all stages; what TMA brings; cells read at "
      "once.\n"
      "  static constexpr int kPlaneBytes = {};\n"
      "  static constexpr int kSlotBytes = {};\n"
      "  static constexpr int kBarriersAt = {};\n"
      "  static constexpr int kCopiedBytes = {};\n"
      "  static constexpr int kSlotVector = {};\n",
      plane, stages.inputs * plane, stages.planes * stages.inputs * plane, stages.inputs * copied, vector);
}

bool zeros_are_right(Boundary boundary) { return boundary == Boundary::hold || boundary == Boundary::zero; }

/// Whether threads write cells beyond an edge to planes that TMA brings, which fills them with zeros.
bool fills_edges(const KernelAxes& axes) {
  const bool has_any =
      axes.reach[0].low < 0 || axes.reach[0].high > 0 || axes.reach[1].low < 0 || axes.reach[1].high > 0;
  return has_any && (!zeros_are_right(axes.boundaries[0]) || !zeros_are_right(axes.boundaries[1]));
}

std::string constants(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  std::string text = tile_constants(candidate);
  if (shape.shared.bytes > 0) text += shared_tile_constants(shape.shared, -shape.axes.reach[1].low, 0);
  if (in_pipeline(candidate.tuning())) {
    text += stage_constants(candidate);
    text += fmt::format(
        "  static constexpr int kFirstLoaded = {};  // the lowest plane in reach of which a step loads something\n",
        shape.first_loaded_plane);
    text += fmt::format(
        "  // Threads write cells beyond an edge to planes that TMA brings: zeros are not right there.\n"
        "  static constexpr bool kFillsEdges = {};\n",
        fills_edges(shape.axes));
  }
  return text + reads(candidate);
}

// ---- defaults and the textbook's counts -----------------------------------------------------------------------------

std::vector<Tuning> defaults(const Problem& problem) {
  Tuning rows_in_registers =
      problem.extents.rank == 2 ? block(streaming_family(), 128, 1, 1) : block(streaming_family(), 32, 8, 1);
  rows_in_registers.depth = 16;
  Tuning planes_in_shared = rows_in_registers;  // the rows of a wide box overflow the registers
  planes_in_shared.planes = Planes::shared;
  return {rows_in_registers, planes_in_shared};
}

TextbookLoads textbook_loads(const Candidate& candidate) {
  const Tuning& tuning = candidate.tuning();
  if (in_registers(tuning)) return loads_through_cache(candidate, tuning.depth);
  TextbookLoads loads = loads_through_shared_memory(candidate);
  if (tuning.planes == Planes::mixed && tuning.cover == Cover::output) {
    // The planes ahead are a thread's own cells; the halo is loaded when its plane is the current one.
    const KernelShape& shape = candidate.shape();
    const auto length = [&](std::size_t axis) { return static_cast<double>(shape.tile[axis]); };
    const auto with_halo = [&](std::size_t axis) { return length(axis) + shape.axes.reach_width(axis); };
    const double own = length(0) * length(1) * with_halo(2);
    const double halo = (with_halo(0) * with_halo(1) - length(0) * length(1)) * length(2);
    loads.per_output = (own + halo) / (length(0) * length(1) * length(2));
  }
  return loads;
}

}  // namespace

const Family& streaming_family() {
  static const Family entry{
      .name = "streaming",
      .meaning = "A block walks along the last axis and reads each plane of its tile once (2.5D blocking).",
      .serves = [](const Problem& problem) { return problem.stage != kWholeStep && problem.extents.rank >= 2; },
      .axes = axes_of_a_walk,
      .parameters = parameters(),
      .constraints = streaming_constraints(),
      .kernel_template = kernel_template,
      .shape = shape_of,
      .constants = constants,
      .defaults = defaults,
      .textbook_loads = textbook_loads,
  };
  return entry;
}

}  // namespace stencil_tune
