#include "generator/kernel/source.hpp"

#include "generator/candidates/temporal.hpp"
#include "generator/candidates/tile.hpp"
#include "generator/kernel/plane_sums.hpp"
#include "generator/kernel/update_text.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>

namespace stencil_tune {
namespace {

std::string_view storage_type(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return "double";
    case ElementType::f32:
      return "float";
    case ElementType::f16:
      return "stencil_tune::F16";
    case ElementType::bf16:
      return "stencil_tune::BF16";
  }
  return {};
}

struct FamilyTemplate {
  std::string_view file;
  std::string_view function;
};

/// Which template a candidate instantiates. A new family is a new row here.
FamilyTemplate family_template(const Tuning& tuning) {
  switch (tuning.family) {
    case Family::direct:
      return {"direct.cuh", "direct"};
    case Family::tiled:
      return {"tiled.cuh", "tiled"};
    case Family::temporal:
      if (tuning.keeps == Keeps::sums) return {"temporal/temporal_sums.cuh", "temporal_sums"};
      return {"temporal/temporal.cuh", "temporal"};
    case Family::streaming:
      break;
  }
  switch (tuning.planes) {
    case Planes::shared:
      return {"streaming/streaming_shared.cuh", "streaming_shared"};
    case Planes::mixed:
      return {"streaming/streaming_mixed.cuh", "streaming_mixed"};
    case Planes::ring:
      if (tuning.copies == Copies::threads) return {"streaming/streaming_copied_sums.cuh", "streaming_copied_sums"};
      if (tuning.keeps == Keeps::sums) return {"streaming/streaming_ring_sums.cuh", "streaming_ring_sums"};
      return {"streaming/streaming_ring.cuh", "streaming_ring"};
    case Planes::registers:
      break;
  }
  if (tuning.keeps == Keeps::sums) return {"streaming/streaming_sums.cuh", "streaming_sums"};
  return {"streaming/streaming.cuh", "streaming"};
}

/// Taps of one input as ranges of x offsets, row by row.
class TapTable {
 public:
  TapTable(const Problem& problem, const KernelAxes& axes, const AxisMap& axis_map) : reach_(axes.reach) {
    const auto inputs = problem.facts.inputs.size();
    low_.assign(inputs * rows() * planes(), 1);
    high_.assign(inputs * rows() * planes(), 0);
    for (const Tap& tap : problem.facts.taps) {
      const auto f =
          static_cast<std::size_t>(std::find(problem.facts.inputs.begin(), problem.facts.inputs.end(), tap.field) -
                                   problem.facts.inputs.begin());
      Offset offset{0, 0, 0};
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.stencil.rank); ++axis) {
        offset[static_cast<std::size_t>(axis_map[axis])] = tap.offset[axis];
      }
      add(f, offset);
    }
  }

  /// C++ initializer: {low, high} pairs, one line a plane.
  std::string text() const {
    std::string lines;
    for (std::size_t i = 0; i < low_.size(); ++i) {
      lines += fmt::format("{}{{{}, {}}},", i % rows() == 0 ? "\n      " : " ", low_[i], high_[i]);
    }
    return lines;
  }

 private:
  std::size_t rows() const { return static_cast<std::size_t>(reach_[1].high - reach_[1].low + 1); }
  std::size_t planes() const { return static_cast<std::size_t>(reach_[2].high - reach_[2].low + 1); }

  void add(std::size_t f, const Offset& offset) {
    const auto row = static_cast<std::size_t>(offset[1] - reach_[1].low);
    const auto plane = static_cast<std::size_t>(offset[2] - reach_[2].low);
    const std::size_t i = (f * planes() + plane) * rows() + row;
    const bool empty = low_[i] > high_[i];
    low_[i] = empty ? offset[0] : std::min(low_[i], offset[0]);
    high_[i] = empty ? offset[0] : std::max(high_[i], offset[0]);
  }

  std::array<Reach, kMaxRank> reach_;
  std::vector<int> low_;
  std::vector<int> high_;
};

std::string boundary_of(const Problem& problem, const KernelAxes& axes, std::size_t axis) {
  const int grid_axis = axes.grid_axis[axis];
  const Boundary boundary = grid_axis < 0 ? Boundary::hold : problem.boundaries[static_cast<std::size_t>(grid_axis)];
  return fmt::format("stencil_tune::Boundary::{}", name(boundary));
}

/// C++ condition on f: whether input f waits for the output to be finished.
std::string late_text(const Problem& problem, const Tuning& tuning) {
  std::string condition;
  for (std::size_t input = 0; tuning.keeps == Keeps::sums && input < problem.facts.inputs.size(); ++input) {
    if (!is_late(problem.facts, input)) continue;
    condition += fmt::format("{}f == {}", condition.empty() ? "" : " || ", input);
  }
  return condition.empty() ? "false" : condition;
}

std::string stencil_text(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  const StageFacts& facts = problem.facts;
  const auto& reach = axes.reach;
  AxisMap axis_map{0, 1, 2};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (axes.grid_axis[axis] >= 0) axis_map[static_cast<std::size_t>(axes.grid_axis[axis])] = static_cast<int>(axis);
  }
  return fmt::format(
      R"(struct Stencil {{
  using Storage = {storage};
  using Value = {value};
  using Index = {index};
  static constexpr int kInputs = {inputs};
  static constexpr int kOutputs = {outputs};
  static constexpr int kCoefficients = {coefficients};
  // How far the taps reach below and above a cell on each axis.
  static constexpr int kLowX = {lx}, kHighX = {hx};
  static constexpr int kLowY = {ly}, kHighY = {hy};
  static constexpr int kLowZ = {lz}, kHighZ = {hz};
  static constexpr stencil_tune::Boundary kBoundaryX = {bx};
  static constexpr stencil_tune::Boundary kBoundaryY = {by};
  static constexpr stencil_tune::Boundary kBoundaryZ = {bz};

  // The x offsets read from input f in row (dy, dz); low > high: none.
  static constexpr int kRows = kLowY + 1 + kHighY, kPlanes = kLowZ + 1 + kHighZ;
  static constexpr stencil_tune::Range kTaps[kInputs * kPlanes * kRows] = {{{taps}}};
  STENCIL_DEVICE static constexpr stencil_tune::Range taps(int f, int dy, int dz) {{
    if (dy < -kLowY || dy > kHighY || dz < -kLowZ || dz > kHighZ) return {{1, 0}};
    return kTaps[(f * kPlanes + dz + kLowZ) * kRows + dy + kLowY];
  }}

  // Inputs that are only read where an output is finished from sums.
  STENCIL_DEVICE static constexpr bool late([[maybe_unused]] int f) {{ return {late}; }}

  // u(input, dx, dy, dz) is a cell of an input, c[i] a coefficient.
  template <class Cells>
  STENCIL_DEVICE static void update(const Cells& u, const Value* c, Value (&out)[kOutputs]) {{
    using namespace stencil_tune;
{update}    (void)c;
  }}
{sums}}};
)",
      fmt::arg("storage", storage_type(problem.type)),
      fmt::arg("value", problem.type == ElementType::f64 ? "double" : "float"),
      fmt::arg("index", problem.wide_index() ? "long long" : "int"), fmt::arg("inputs", facts.inputs.size()),
      fmt::arg("outputs", facts.outputs.size()), fmt::arg("coefficients", problem.stencil.coefficients.size()),
      fmt::arg("lx", -reach[0].low), fmt::arg("hx", reach[0].high), fmt::arg("ly", -reach[1].low),
      fmt::arg("hy", reach[1].high), fmt::arg("lz", -reach[2].low), fmt::arg("hz", reach[2].high),
      fmt::arg("bx", boundary_of(problem, axes, 0)), fmt::arg("by", boundary_of(problem, axes, 1)),
      fmt::arg("bz", boundary_of(problem, axes, 2)), fmt::arg("taps", TapTable(problem, axes, axis_map).text()),
      fmt::arg("update", update_text(problem.stencil, problem.stencil.stages[static_cast<std::size_t>(problem.stage)],
                                     facts, axis_map)),
      fmt::arg("late", late_text(problem, tuning)),
      fmt::arg("sums", tuning.keeps == Keeps::sums ? plane_sums_text(problem, axis_map) : std::string()));
}

std::string_view load_hint(LoadHint hint) {
  constexpr std::string_view kNames[] = {"cached", "read_only", "l2_only"};
  return kNames[static_cast<std::size_t>(hint)];
}

std::string tile_text(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  if (tuning.family == Family::temporal) return {};  // temporal_tile.cuh derives all of it
  const auto tile = kernel_tile(problem, tuning);
  std::string text =
      fmt::format("  static constexpr int kTileX = {}, kTileY = {}, kTileZ = {};\n", tile[0], tile[1], tile[2]);
  const SharedTile shared = shared_tile(problem, tuning);
  const bool has_halo = tuning.halo == Halo::shared;
  if (shared.bytes > 0) {
    text += fmt::format(
        "  // The tile in shared memory: see shared_tile.cuh.\n"
        "  static constexpr int kTilePitch = {}, kTileRows = {}, kTilePlanes = {};\n"
        "  static constexpr int kTileLeft = {}, kTileTop = {}, kTileBelow = {};\n",
        shared.pitch, shared.rows, shared.planes, shared.left_pad, has_halo ? -axes.reach[1].low : 0,
        tuning.family == Family::tiled && has_halo ? -axes.reach[2].low : 0);
  }
  if (uses_ring(tuning)) {
    text += fmt::format(
        "  // The lowest plane in reach of which a step loads something.\n"
        "  static constexpr int kFirstLoaded = {};\n",
        first_loaded_plane(problem, tuning));
  }
  return text;
}

std::string tuning_text(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  constexpr std::string_view kOrders[] = {"natural", "z_first", "raster", "raster32"};
  return fmt::format(
      R"(// {code}
struct Tuning {{
  static constexpr int kBlockX = {bx}, kBlockY = {by}, kBlockZ = {bz};
  static constexpr int kRegisterX = {rx}, kRegisterY = {ry}, kRegisterZ = {rz};
  static constexpr int kVector = {v};
  static constexpr int kDepth = {cz};
  static constexpr int kUnroll = {u};
{sums_loop}  static constexpr int kPrefetch = {pf};
  static constexpr int kTiles = {tb};
  static constexpr int kCluster = {cl}, kClusterAxis = {cl_axis};
{temporal}  static constexpr stencil_tune::BlockOrder kOrder = stencil_tune::BlockOrder::{order};
  static constexpr stencil_tune::LoadHint kLoad = stencil_tune::LoadHint::{load};
  static constexpr stencil_tune::StoreHint kStore = stencil_tune::StoreHint::{store};
  static constexpr stencil_tune::Neighbours kNeighbours = stencil_tune::Neighbours::{neighbours};
{shared_modes}{tile}}};
)",
      fmt::arg("code", code(tuning)), fmt::arg("bx", tuning.block_x), fmt::arg("by", tuning.block_y),
      fmt::arg("bz", tuning.block_z), fmt::arg("rx", tuning.register_x), fmt::arg("ry", tuning.register_y),
      fmt::arg("rz", tuning.register_z), fmt::arg("v", tuning.vector), fmt::arg("cz", tuning.depth),
      fmt::arg("u", tuning.unroll),
      fmt::arg("sums_loop",
               tuning.keeps == Keeps::sums && tuning.family == Family::streaming
                   ? fmt::format("  static constexpr bool kLoopOfTurns = {};\n", tuning.sums_loop == SumsLoop::turn)
                   : std::string()),
      fmt::arg("pf", tuning.prefetch), fmt::arg("tb", tuning.tiles), fmt::arg("cl", tuning.cluster),
      fmt::arg("cl_axis", cluster_axis(problem, tuning)),
      fmt::arg("temporal", tuning.family == Family::temporal
                               ? fmt::format("  static constexpr int kSteps = {};\n"
                                             "  static constexpr int kGroups = {};\n"
                                             "  static constexpr bool kKeepsSums = {};\n"
                                             "  static constexpr bool kCopiedByEngine = {};\n"
                                             "  static constexpr int kSharedPlanes = {};\n"
                                             "  static constexpr bool kSplitsBarrier = {};\n"
                                             "  // The input that steps advance; others keep their values.\n"
                                             "  static constexpr int kAdvanced = {};\n",
                                             tuning.steps, tuning.groups, tuning.keeps == Keeps::sums,
                                             uses_tensor_maps(tuning), tuning.shared_planes,
                                             tuning.barrier == StepBarrier::split, advanced_input(problem).value_or(0))
                               : std::string()),
      fmt::arg("order", kOrders[static_cast<std::size_t>(tuning.order)]), fmt::arg("load", load_hint(tuning.load)),
      fmt::arg("store", tuning.store == StoreHint::streaming ? "streaming" : "write_back"),
      fmt::arg("neighbours",
               tuning.neighbours == Neighbours::shuffle || tuning.family == Family::temporal ? "shuffle" : "cache"),
      fmt::arg("shared_modes",
               tuning.family == Family::temporal || shared_tile(problem, tuning).bytes == 0 || uses_ring(tuning)
                   ? std::string()
                   : fmt::format("  static constexpr stencil_tune::Halo kHalo = stencil_tune::Halo::{};\n"
                                 "  static constexpr stencil_tune::Cover kCover = stencil_tune::Cover::{};\n",
                                 tuning.halo == Halo::shared ? "shared" : "cache",
                                 tuning.cover == Cover::input ? "input" : "output")),
      fmt::arg("tile", tile_text(problem, tuning, axes)));
}

}  // namespace

std::string_view template_of(const Tuning& tuning) { return family_template(tuning).file; }

KernelSource generate(const Problem& problem, const Tuning& tuning, std::string_view entry) {
  const bool identifier =
      !entry.empty() && std::isdigit(static_cast<unsigned char>(entry[0])) == 0 &&
      std::all_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!identifier) {
    throw Error(ErrorCode::invalid_argument, fmt::format("kernel name '{}' is not a C identifier", entry));
  }
  const KernelAxes axes = kernel_axes(problem, tuning);
  const FamilyTemplate family = family_template(tuning);
  KernelSource source;
  source.entry = entry;
  source.text = fmt::format(
      R"(#include "stencil_tune/{file}"

namespace {entry}_candidate {{

{stencil}
{tuning}
}}  // namespace {entry}_candidate

STENCIL_KERNEL void {cluster}__launch_bounds__({threads}{min_blocks})
{entry}(const __grid_constant__ stencil_tune::{arguments}<{entry}_candidate::Stencil> arguments) {{
  stencil_tune::{function}<{entry}_candidate::Stencil, {entry}_candidate::Tuning>(arguments);
}}
)",
      fmt::arg("file", family.file), fmt::arg("entry", entry), fmt::arg("stencil", stencil_text(problem, tuning, axes)),
      fmt::arg("tuning", tuning_text(problem, tuning, axes)),
      fmt::arg("arguments", uses_tensor_maps(tuning) ? "CopyArguments" : "Arguments"),
      fmt::arg("cluster", tuning.cluster > 1 ? fmt::format("STENCIL_CLUSTER({}) ", tuning.cluster) : std::string()),
      fmt::arg("threads", threads_per_block(tuning)),
      fmt::arg("min_blocks", tuning.min_blocks > 0 ? fmt::format(", {}", tuning.min_blocks) : std::string()),
      fmt::arg("function", family.function));
  return source;
}

}  // namespace stencil_tune
