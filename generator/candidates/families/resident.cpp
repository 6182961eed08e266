// resident: all steps of a launch on chip, where the grid fits in the shared memory of all SMs together.
#include "generator/candidates/families/families.hpp"
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/single_sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::int64_t kMostBlocks = 160;                                      // letters have places for as many
constexpr std::int64_t kMostOnChip = kMostBlocks * (std::int64_t{228} << 10);  // bytes, of any GPU
constexpr int kMostApart = 16;            // steps between two exchanges: each has code of its own
constexpr std::int64_t kLetterBytes = 8;  // each carries 4 bytes of a value

// ---- the levels -----------------------------------------------------------------------------------------------------

/// The fields of a step that blocks keep in shared memory.
struct Levels {
  int newest = 0;               ///< what the output becomes after a step
  std::optional<int> before{};  ///< what that becomes
  std::vector<int> constants;
  int sent = 1;  ///< levels whose cells blocks exchange

  int arrays() const { return 2 + static_cast<int>(constants.size()); }
};

/// Nothing where a step is more than one update of one field with up to two levels.
std::optional<Levels> levels_of(const Problem& problem, const Tuning& tuning) {
  const StepFacts& step = problem.step;
  const StageFacts& facts = problem.facts;
  if (!is_whole_step(problem) || step.stages.size() != 1 || facts.outputs.size() != 1) return {};
  if (step.state.empty() || step.state.size() > 2 || step.left.size() != step.state.size()) return {};
  Levels levels{.constants = step.constants};
  std::erase_if(levels.constants, [&](int field) { return is_profile(problem.stencil, field); });
  const auto place_that_becomes = [&](int field) { return std::find(step.becomes.begin(), step.becomes.end(), field); };
  const auto newest = place_that_becomes(facts.outputs.front());
  if (newest == step.becomes.end()) return {};
  levels.newest = step.state[static_cast<std::size_t>(newest - step.becomes.begin())];
  if (step.state.size() == 2) {
    const auto before = place_that_becomes(levels.newest);
    if (before == step.becomes.end()) return {};
    levels.before = step.state[static_cast<std::size_t>(before - step.becomes.begin())];
    // A block has the level before right as far as one step reaches: where its last step but one computed it.
    if (tuning.apart > 2) levels.sent = 2;
  }
  if (kernel_inputs(problem, 2).size() < facts.inputs.size() ||
      facts.inputs.size() != step.state.size() + levels.constants.size()) {
    return {};
  }
  return levels;
}

/// How far a step reaches to either side. Halos are as wide on both, so that blocks that read each other do so both
/// ways.
Lengths widest_reach(const KernelAxes& axes) {
  Lengths reach{};
  for (std::size_t a = 0; a < kMaxRank; ++a) reach[a] = std::max(-axes.reach[a].low, axes.reach[a].high);
  return reach;
}

/// A block's tile with its halo.
Lengths whole_tile(const Tuning& tuning, const KernelAxes& axes) {
  const Lengths reach = widest_reach(axes), tile{tuning.tile_x, tuning.tile_y, tuning.tile_z};
  Lengths whole{};
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    whole[a] = saturating_sum(tile[a], saturating_product({2, tuning.apart, reach[a]}));
  }
  return whole;
}

// ---- parameters -----------------------------------------------------------------------------------------------------

std::int64_t value_bytes(const Problem& problem) { return std::max<std::int64_t>(storage_bytes(problem), 4); }

std::int64_t two_levels_of(const Problem& problem) {
  return saturating_product({2, problem.extents.cells(), value_bytes(problem)});
}

/// Parts of about equal length of an axis; none where the grid does not fit on the chip.
Parameter cells_of_a_tile(std::size_t axis, std::string_view prefix, int TuningValues::*member,
                          std::string_view constant) {
  constexpr std::array<std::string_view, kMaxRank> kNames{"tile in x", "tile in y", "tile in z"};
  return number(kNames.at(axis), prefix, member, constant, {1, 4, 8, 16, 32, 64, 128},
                "cells of the grid that a block keeps along that axis")
      .coded_always()
      .within([axis](std::vector<int> values, const Problem& problem, const Limits& limits, const KernelAxes& axes) {
        if (!axes.has(axis)) return std::vector<int>{1};
        const std::int64_t on_chip = static_cast<std::int64_t>(limits.shared_per_block) * limits.multiprocessors;
        values.clear();
        if (two_levels_of(problem) > on_chip) return values;
        const std::int64_t n = axes.extents[axis];
        for (const int parts : {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 22, 33, 44, 66, 128}) {
          values.push_back(static_cast<int>(std::min<std::int64_t>((n + parts - 1) / parts, kLargestNumber)));
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
      });
}

Parameter steps_of_a_launch() {
  return number("fused steps", "t", &Tuning::steps, {}, {8, 16, 32, 64, 125, 250, 500}, "steps that a launch makes")
      .coded_always()
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        std::erase_if(values, [&](int steps) { return steps > problem.steps; });
        return values;
      })
      .given_at_launch();
}

Parameter steps_between_exchanges() {
  return number("steps between exchanges", "ex", &Tuning::apart, "kApart", {1, 2, 3, 4, 6, 8},
                "steps from one exchange of halos to the next; halos are as wide as these reach")
      .coded_always();
}

/// Threads of a block follow each other along x: a code need not say so.
Parameter threads_in_x_alone() {
  Parameter row = one_thread_in_y();
  row.always_coded = false;
  return row;
}

Parameter planes_of_a_window() {
  Parameter row = register_tile_in_z();
  row.values = {1, 2, 3, 4, 5, 8};
  return row;
}

std::vector<Parameter> parameters() {
  return {threads_in_x({128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 864, 1024}),
          threads_in_x_alone(),
          register_tile_in_y({1, 2, 3, 4, 5, 6, 8}),
          planes_of_a_window(),
          cells_of_a_tile(0, "tx", &Tuning::tile_x, "kTileX"),
          cells_of_a_tile(1, "ty", &Tuning::tile_y, "kTileY"),
          cells_of_a_tile(2, "tz", &Tuning::tile_z, "kTileZ"),
          steps_between_exchanges(),
          steps_of_a_launch(),
          blocks_per_sm()};
}

// ---- constraints ----------------------------------------------------------------------------------------------------

Verdict fields(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
  const auto levels = levels_of(problem, candidate.tuning());
  if (!levels) return "a step is not one update of one field, of which it reads one level or two";
  if (has_storage_types(problem)) return "fields are stored in types of their own; blocks keep one type";
  if (!levels->before) return {};
  for (const Tap& tap : problem.facts.taps) {
    if (tap.field != *levels->before || tap.offset == Offset{0, 0, 0}) continue;
    return fmt::format("field '{}' is read beside the cell; a step writes over it",
                       problem.stencil.fields[static_cast<std::size_t>(tap.field)]);
  }
  return {};
}

Verdict tile(const Candidate& candidate, const Limits&) {
  const KernelShape& shape = candidate.shape();
  if (shape.axes.has(2) || shape.tile[2] == 1) return {};
  return fmt::format("a tile of {} planes; the grid has one", shape.tile[2]);
}

Verdict blocks_at_once(const Candidate& candidate, const Limits& limits) {
  const KernelShape& shape = candidate.shape();
  const std::int64_t blocks = saturating_product({shape.tiles[0], shape.tiles[1], shape.tiles[2]});
  const std::int64_t most = std::min<std::int64_t>(
      kMostBlocks, std::int64_t{limits.multiprocessors} * std::max(1, candidate.tuning().min_blocks));
  if (blocks <= most) return {};
  return fmt::format("{} blocks, which all run at once; {} do", blocks, most);
}

std::int64_t letters(const Problem& problem, const Tuning& tuning) {
  const auto levels = levels_of(problem, tuning);
  return saturating_product({2, kMostBlocks, tuning.tile_x, tuning.tile_y, tuning.tile_z, levels ? levels->sent : 1,
                             value_bytes(problem) / 4});
}

Verdict room_for_letters(const Candidate& candidate, const Limits&) {
  constexpr std::int64_t kMostBytes = 256 << 20;
  const std::int64_t bytes = saturating_product({letters(candidate.problem(), candidate.tuning()), kLetterBytes});
  if (bytes <= kMostBytes) return {};
  return fmt::format("{} bytes of letters; {} is the most a module has", bytes, kMostBytes);
}

Verdict exchanges(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.apart <= kMostApart && tuning.apart <= tuning.steps) return {};
  return fmt::format("{} steps between exchanges; a launch makes {}, and {} are the most", tuning.apart, tuning.steps,
                     kMostApart);
}

/// A thread keeps a window's place and a bit for each of its cells in one register.
Verdict windows(const Candidate& candidate, const Limits&) {
  constexpr int kMostCells = 16;
  constexpr std::int64_t kMostPlaces = std::int64_t{1} << 16;
  const Tuning& tuning = candidate.tuning();
  const std::int64_t cells = saturating_product({tuning.register_y, tuning.register_z});
  if (cells > kMostCells) return fmt::format("windows of {} cells; {} have a bit each", cells, kMostCells);
  const Lengths whole = whole_tile(tuning, candidate.shape().axes);
  const std::int64_t places = saturating_product({whole[0], whole[1], whole[2]});
  if (places <= kMostPlaces) return {};
  return fmt::format("a tile of {} cells with its halo; {} have a place", places, kMostPlaces);
}

Verdict entries_in_time(const Candidate& candidate, const Limits&) {
  const Stencil& stencil = candidate.problem().stencil;
  const bool reads_time = std::any_of(stencil.profiles.begin(), stencil.profiles.end(),
                                      [](const Profile& profile) { return profile.along == kAlongTime; });
  if (!reads_time || candidate.tuning().steps <= kCheckedSteps) return {};
  return fmt::format("{} steps; kernels that read a field of time are checked for {}", candidate.tuning().steps,
                     kCheckedSteps);
}

Verdict one_block_axis(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.block_y == 1 && tuning.block_z == 1) return {};
  return "threads along y or z; those of a resident block lie along x";
}

std::vector<Constraint> constraints() {
  return {
      {"resident_steps", "Resident steps are 2 at least and no more than the run has.", steps_of_run},
      {"resident_verifiable", "Where they are tuned, the device has memory for the references of as many steps.",
       verifiable_steps},
      {"resident_threads", "Threads of a resident block lie along x.", one_block_axis},
      {"resident_fields",
       "Resident steps advance one field by one stage, which reads the level before the newest at the cell itself.",
       fields},
      {"resident_exchanges", "A launch of resident steps makes as many as lie between two exchanges.", exchanges},
      {"resident_windows", "Windows have 16 cells at most, and places in 16 bits.", windows},
      {"resident_time", "Steps read no more entries of a field of time than are checked.", entries_in_time},
      {"resident_tile", "A resident tile has cells along axes of the grid alone.", tile},
      {"resident_blocks", "All blocks of a resident kernel run at once.", blocks_at_once},
      {"resident_letters", "A resident kernel's module has room for the letters of all blocks.", room_for_letters},
  };
}

// ---- shape ----------------------------------------------------------------------------------------------------------

/// In all steps between two exchanges: each has code of its own, and a register that says where it lies.
std::int64_t windows_of_a_thread(const Tuning& tuning, const KernelShape& shape) {
  const Lengths reach = widest_reach(shape.axes), window{1, tuning.register_y, tuning.register_z};
  std::int64_t all = 0;
  for (int left = 0; left < std::min(tuning.apart, kMostApart); ++left) {
    std::int64_t region = 1;
    for (std::size_t a = 0; a < kMaxRank; ++a) {
      const std::int64_t cells = saturating_sum(shape.tile[a], 2 * left * reach[a]);
      region = saturating_product({region, (cells + window[a] - 1) / window[a]});
    }
    all = saturating_sum(all, saturating_sum(region, shape.threads - 1) / shape.threads);
  }
  return all;
}

void shape_of(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  const auto levels = levels_of(problem, tuning).value_or(Levels{});
  const Lengths whole = whole_tile(tuning, shape.axes);
  shape.together = true;
  shape.placement = Placement::inside;
  shape.tile = {tuning.tile_x, tuning.tile_y, tuning.tile_z};
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    shape.tiles[a] = (shape.axes.extents[a] + shape.tile[a] - 1) / shape.tile[a];
  }
  shape.whole_tile = whole;
  shape.fused.width = whole[0];
  shape.fused.height = whole[1];
  // Windows at the end of a region read rows and planes behind it, and use none of them.
  const std::int64_t behind = saturating_sum(saturating_product({tuning.register_z - 1, whole[0], whole[1]}),
                                             saturating_product({tuning.register_y - 1, whole[0]}));
  const std::int64_t cells =
      saturating_sum(saturating_product({levels.arrays(), whole[0], whole[1], whole[2]}), behind);
  shape.shared.bytes = static_cast<std::size_t>(
      saturating_sum(round_up(saturating_product({cells, value_bytes(problem)}), kWordBytes), kWordBytes));

  const std::int64_t rows = saturating_product(
      {tuning.register_y + shape.axes.reach_width(1), tuning.register_z + shape.axes.reach_width(2)});
  estimate(problem, tuning, saturating_product({rows, 1 + shape.axes.reach_width(0)}) / 2, shape);
  const std::int64_t windows = windows_of_a_thread(tuning, shape);
  const std::int64_t own = saturating_product({shape.tile[0], shape.tile[1], shape.tile[2]});
  const std::int64_t halo = saturating_product({whole[0], whole[1], whole[2]}) - own;
  const std::int64_t letters = saturating_product({2, saturating_sum(halo, shape.threads - 1) / shape.threads});
  shape.live_registers = saturating_sum(shape.live_registers, saturating_sum(windows, letters));
  shape.unrolled_work = saturating_product({shape.unrolled_work, windows});
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

int place_among(const std::vector<int>& fields, int field) {
  return static_cast<int>(std::find(fields.begin(), fields.end(), field) - fields.begin());
}

std::string constants(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const Tuning& tuning = candidate.tuning();
  const KernelShape& shape = candidate.shape();
  const Levels levels = levels_of(problem, tuning).value_or(Levels{});
  const Lengths reach = widest_reach(shape.axes);
  const std::vector<int> inputs = kernel_inputs(problem, tuning.steps);
  const std::vector<int> outputs = kernel_outputs(problem, tuning.steps);
  std::vector<int> arrays{levels.newest, levels.before.value_or(levels.newest)};
  arrays.insert(arrays.end(), levels.constants.begin(), levels.constants.end());
  std::vector<int> input_of, array_of;
  for (const int field : arrays) input_of.push_back(place_among(inputs, field));
  for (const int field : problem.facts.inputs) array_of.push_back(place_among(arrays, field));
  return rows_at_once(candidate, {1, tuning.register_y, tuning.register_z}) +
         fmt::format(
             "  static constexpr int kRegisterX = 1, kVector = 1;\n"
             "  // How far a step reaches, and the halo of all between two exchanges.\n"
             "  static constexpr int kReachX = {}, kReachY = {}, kReachZ = {};\n"
             "  static constexpr int kHaloX = {}, kHaloY = {}, kHaloZ = {};\n"
             "  // Arrays in shared memory: the newest level, the one before, constants. Their inputs; the array of "
             "what\n"
             "  // an update reads.\n"
             "  static constexpr bool kTwoLevels = {};\n"
             "  STENCIL_DEVICE static constexpr int input_of(int array) {{\n"
             "    constexpr int kOf[] = {{{}}};\n"
             "    return kOf[array];\n"
             "  }}\n"
             "  STENCIL_DEVICE static constexpr int array_of(int f) {{\n"
             "    constexpr int kOf[] = {{{}}};\n"
             "    return kOf[f];\n"
             "  }}\n"
             "  static constexpr int kArrays = {};\n"
             "  static constexpr int kNewestOutput = {}, kBeforeOutput = {}, kSentLevels = {};\n"
             "  static constexpr int kNumberAt = {};  // bytes before the number of the last exchange\n"
             "  // The letters of all blocks.\n"
             "  static constexpr int kMostBlocks = {};\n"
             "  static constexpr long long kAllLetters = {};\n"
             "  STENCIL_DEVICE static stencil_tune::MailRoom& mail_room() {{\n"
             "    static stencil_tune::MailRoom room;\n"
             "    return room;\n"
             "  }}\n"
             "  STENCIL_DEVICE static unsigned long long* letters() {{\n"
             "    static unsigned long long all[kAllLetters];\n"
             "    return all;\n"
             "  }}\n",
             reach[0], reach[1], reach[2], tuning.apart * reach[0], tuning.apart * reach[1], tuning.apart * reach[2],
             levels.before.has_value(), fmt::join(input_of, ", "), fmt::join(array_of, ", "), levels.arrays(),
             place_among(outputs, problem.facts.outputs.front()), place_among(outputs, levels.newest), levels.sent,
             shape.shared.bytes - static_cast<std::size_t>(kWordBytes), kMostBlocks, letters(problem, tuning));
}

// ---- defaults and the textbook's counts -----------------------------------------------------------------------------

/// Tiles that cut the slowest axes first, as few as fit.
std::vector<Tuning> defaults(const Problem& problem) {
  std::vector<Tuning> choices;
  for (const auto& [parts_y, parts_z] : {std::pair{1, 1}, {4, 2}, {8, 8}, {12, 11}}) {
    for (const int steps : {64, 8, 2}) {
      Tuning tuning(resident_family());
      const auto part = [&](std::size_t axis, int parts) {
        return static_cast<int>(std::min<std::int64_t>((problem.extents.n[axis] + parts - 1) / parts, kLargestNumber));
      };
      const bool has_planes = problem.extents.rank == 3;
      tuning.block_x = 512;
      tuning.register_y = 2;
      tuning.tile_x = part(0, 1);
      tuning.tile_y = part(1, has_planes ? parts_y : parts_y * parts_z);
      tuning.tile_z = has_planes ? part(2, parts_z) : 1;
      tuning.steps = steps;
      choices.push_back(tuning);
    }
  }
  return choices;
}

TextbookLoads textbook_loads(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const Lengths lengths = whole_tile(candidate.tuning(), shape.axes);
  const auto whole = static_cast<double>(saturating_product({lengths[0], lengths[1], lengths[2]}));
  const auto own = static_cast<double>(saturating_product({shape.tile[0], shape.tile[1], shape.tile[2]}));
  return {whole / (own * candidate.tuning().steps), 1 - own / whole};
}

}  // namespace

const Family& resident_family() {
  static const Family entry{
      .name = "resident",
      .meaning = "All steps of a launch on chip: blocks keep their parts of a small grid, and exchange halos.",
      .fuses_steps = true,
      .serves =
          [](const Problem& problem) {
            return problem.stage != kWholeStep && problem.steps >= 2 && problem.extents.rank >= 2 &&
                   two_levels_of(problem) <= kMostOnChip;
          },
      .axes = axes_of_the_grid,
      .parameters = parameters(),
      .constraints = constraints(),
      .kernel_template =
          [](const Tuning&) {
            return KernelTemplate{.file = "resident/resident.cuh",
                                  .function = "resident",
                                  .points_file = "resident/resident_points.cuh",
                                  .points_function = "resident_with_points"};
          },
      .shape = shape_of,
      .constants = constants,
      .defaults = defaults,
      .textbook_loads = textbook_loads,
  };
  return entry;
}

}  // namespace stencil_tune
