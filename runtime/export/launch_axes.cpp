#include "runtime/export/launch_axes.hpp"

#include "templates/tile_grid.cuh"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace stencil_tune {
namespace {

constexpr std::int64_t kBeyondRow = 1 << 20;  // as fits_32_bits() has it

/// "nx - 2", where there is something to take away.
std::string minus(const std::string& text, std::int64_t amount) {
  return amount == 0 ? text : fmt::format("{} - {}", text, amount);
}

/// "(ny + 10) * stride_y": what rows or planes add to an index.
std::string offset_text(const AxisText& axis, std::int64_t beyond) {
  return beyond == 0 ? fmt::format("{} * {}", axis.extent, axis.stride)
                     : fmt::format("({} + {}) * {}", axis.extent, beyond, axis.stride);
}

/// Tiles of a launch along axis a: the generator's tile_grid() for any extents.
std::string tile_count(const Candidate& candidate, const AxisTexts& axes, std::size_t a) {
  const KernelShape& shape = candidate.shape();
  const AxisText& axis = axes[a];
  if (shape.placement == Placement::aligned) {
    const std::string cells = minus(axis.extent, axis.held.high + axis.origin);
    return axis.there ? fmt::format("tiles({}, {})", cells, shape.cluster_tile[a]) : "1";
  }
  const bool is_chosen = shape.shares > 0 || a == 2;  // shares and chunks are as many for any extents
  if (is_chosen || !axis.there) return std::to_string(shape.tiles[a]);
  const FusedLevels& fused = shape.fused;
  const std::int64_t size = a == 0 ? fused.width : fused.height;
  const std::int64_t own = size - (a == 0 ? fused.left + fused.right : fused.above + fused.below);
  std::string extent = axis.extent;
  if (a == 0 && fused.row_multiple > 1) {
    extent = fmt::format("({} + {}) / {} * {}", extent, fused.row_multiple - 1, fused.row_multiple, fused.row_multiple);
  }
  if (shape.axes.boundaries[a] == Boundary::periodic) return fmt::format("tiles({}, {})", extent, own);
  const std::int64_t shift = a == 0 ? fused.shift : 0;
  if (shift == 0) return fmt::format("1 + tiles({}, {})", minus(extent, size), own);
  return fmt::format("1 + ({0} > {1} ? tiles({2}, {3}) : 0)", extent, size, minus(extent, size - shift), own);
}

/// Whether tile_count() of some axis calls tiles().
std::string tile_function(std::string_view counts) {
  if (counts.find("tiles(") == std::string_view::npos) return "";
  return "  const auto tiles = [](long long cells, long long tile) { return static_cast<unsigned>((cells + tile - 1) / "
         "tile); };\n";
}

}  // namespace

/// The grid's parameters as the kernel's axes.
AxisTexts axis_texts(const Candidate& candidate) {
  constexpr std::array<const char*, kMaxRank> kExtents{"nx", "ny", "nz"};
  constexpr std::array<const char*, kMaxRank> kStrides{"1", "stride_y", "stride_z"};
  const Problem& problem = candidate.problem();
  AxisTexts texts;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    const int grid_axis = candidate.shape().axes.grid_axis[a];
    if (grid_axis < 0) continue;
    const auto g = static_cast<std::size_t>(grid_axis);
    const HeldLayers held = held_layers(problem, g);
    texts[a] = {kExtents[g], kStrides[g], true, held, held.low};
  }
  if (candidate.shape().placement == Placement::aligned) {
    texts[0].origin = line_before(texts[0].held.low, static_cast<long long>(size_of(problem.type)));
  }
  return texts;
}

std::vector<LongerAxis> longer_axes(const KernelShape& shape) {
  std::vector<LongerAxis> longer;
  for (std::size_t axis = 0; axis < kMaxRank && shape.turns_once; ++axis) {
    const int reach = shape.axes.turned_reach(axis);
    if (reach > 0) longer.push_back({"xyz"[shape.axes.grid_axis[axis]], reach});
  }
  return longer;
}

std::string index_check(const Candidate& candidate, const AxisTexts& axes) {
  const KernelShape& shape = candidate.shape();
  if (shape.wide_index) return "";
  const BeyondGrid beyond = beyond_grid(shape);
  std::string farthest = fmt::format("{} + {}", axes[0].extent, kBeyondRow);
  if (axes[1].there) farthest += " + " + offset_text(axes[1], beyond.rows);
  if (axes[2].there) farthest += " + " + offset_text(axes[2], beyond.planes);
  return fmt::format(
      R"(  constexpr long long kEnd = 1LL << 31;  // of the kernel's indices, which count some cells beyond the edges too
  if ({}{}{} ||
      {} >= kEnd) return cudaErrorInvalidValue;
)",
      of_axes(axes, " || ", [](const AxisText& axis) { return axis.extent + " > kEnd / 2"; }),
      axes[1].there ? fmt::format(" || {} >= kEnd", axes[1].stride) : "",
      axes[2].there ? fmt::format(" || {} >= kEnd", axes[2].stride) : "", farthest);
}

std::string size_check(const Candidate& candidate, const AxisTexts& axes) {
  const KernelShape& shape = candidate.shape();
  if (shape.placement == Placement::aligned) return "";
  std::string wrong;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    if (!axes[a].there) continue;
    wrong += fmt::format("{}{} < {}", wrong.empty() ? "" : " || ", axes[a].extent, shape.least_extents[a]);
  }
  if (shape.row_multiple > 1) wrong += fmt::format(" || nx % {} != 0", shape.row_multiple);
  return fmt::format(
      "  // Tiles overlap by their halos, and the last ones end with the grid; the planes of each are shared out.\n"
      "  if ({}) return cudaErrorInvalidValue;\n",
      wrong);
}

std::string argument_lines(const Candidate& candidate, const ExportSignature& signature, const AxisTexts& axes,
                           const std::string& detail) {
  const bool maps = candidate.shape().uses_tensor_maps;
  std::vector<std::string> inputs, outputs, low, high, origin, n, tiles;
  for (const std::string& each : signature.inputs) {
    inputs.push_back(fmt::format("reinterpret_cast<const S::Storage*>({})", each));
  }
  for (const std::string& each : signature.outputs) {
    outputs.push_back(fmt::format("reinterpret_cast<S::Storage*>({})", each));
  }
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    const AxisText& axis = axes[a];
    low.push_back(std::to_string(axis.held.low));
    high.push_back(minus(axis.extent, axis.held.high));
    origin.push_back(std::to_string(axis.origin));
    n.push_back(axis.extent);
    tiles.push_back(tile_count(candidate, axes, a));
  }
  const std::string counts = fmt::format("{}", fmt::join(tiles, ", "));
  constexpr std::size_t kRoom = 100;
  const bool is_short = inputs.size() + outputs.size() == 2 && inputs[0].size() + outputs[0].size() < kRoom;
  return fmt::format(
      R"({function}  {detail}::{type}<S> arguments = {open}{{
      {{{inputs}}},{between}{{{outputs}}},
      {{{low}}}, {{{high}}},  // low, high
      {{{origin}}}, {{{n}}},  // origin, n
      {stride_y}, {stride_z}, {{{tiles}}}, 0, {{}}}}{close};
)",
      fmt::arg("function", tile_function(counts)), fmt::arg("detail", detail),
      fmt::arg("type", maps ? "CopyArguments" : "Arguments"), fmt::arg("open", maps ? "{{}, " : ""),
      fmt::arg("between", is_short ? " " : "\n      "), fmt::arg("inputs", fmt::join(inputs, ",\n       ")),
      fmt::arg("outputs", fmt::join(outputs, ",\n       ")), fmt::arg("low", fmt::join(low, ", ")),
      fmt::arg("high", fmt::join(high, ", ")), fmt::arg("origin", fmt::join(origin, ", ")),
      fmt::arg("n", fmt::join(n, ", ")), fmt::arg("stride_y", axes[1].stride), fmt::arg("stride_z", axes[2].stride),
      fmt::arg("tiles", counts), fmt::arg("close", maps ? "}" : ""));
}

}  // namespace stencil_tune
