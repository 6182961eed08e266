#include "generator/kernel/launch.hpp"
#include "runtime/export/export.hpp"
#include "runtime/export/text.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {

namespace {

struct KernelAxisTexts {
  std::array<std::string, kMaxRank> extent;
  std::array<std::string, kMaxRank> stride;
  Lengths held_low{};  ///< layers that are never written at the axis's two ends
  Lengths held_high{};
};

/// The grid's parameters as the kernel's axes.
KernelAxisTexts kernel_axis_texts(const Candidate& candidate) {
  constexpr std::array<const char*, kMaxRank> kExtents{"nx", "ny", "nz"};
  constexpr std::array<const char*, kMaxRank> kStrides{"1", "stride_y", "stride_z"};
  const Problem& problem = candidate.problem();
  const KernelAxes& axes = candidate.shape().axes;
  KernelAxisTexts texts;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    const int grid_axis = axes.grid_axis[a];
    const auto g = static_cast<std::size_t>(std::max(grid_axis, 0));
    texts.extent[a] = grid_axis < 0 ? "1" : kExtents[g];
    texts.stride[a] = grid_axis < 0 ? "0" : kStrides[g];
    if (grid_axis < 0) continue;
    const HeldLayers held = held_layers(problem, g);
    texts.held_low[a] = held.low;
    texts.held_high[a] = held.high;
  }
  return texts;
}

std::string stride_checks(const Problem& problem) {
  switch (problem.extents.rank) {
    case 1:
      return "";
    case 2:
      return "  if (stride_y < nx) return cudaErrorInvalidValue;\n";
    default:
      return "  if (stride_y < nx || stride_z < stride_y * ny) return cudaErrorInvalidValue;\n";
  }
}

std::string row_check(std::int64_t multiple) {
  return multiple == 1 ? "" : fmt::format("  if (nx % {} != 0) return cudaErrorInvalidValue;\n", multiple);
}

std::string stride_alignment_checks(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const std::size_t cells = required_alignment(candidate) / size_of(problem.type);
  if (cells == 1 || problem.extents.rank == 1) return "";
  if (problem.extents.rank == 2) return fmt::format("  if (stride_y % {} != 0) return cudaErrorInvalidValue;\n", cells);
  return fmt::format("  if (stride_y % {0} != 0 || stride_z % {0} != 0) return cudaErrorInvalidValue;\n", cells);
}

std::string coefficient_lines(const Problem& problem, std::string_view plain) {
  if (problem.stencil.coefficients.empty()) return "";
  std::string values;
  for (const Coefficient& c : problem.stencil.coefficients) {
    values += fmt::format("      {:a},  // {} = {}\n", c.value, comment_text(c.name), c.value);
  }
  return fmt::format(
      "  static const double kDefaults[S::{1}] = {{\n{0}  }};\n"
      "  for (int i = 0; i < S::{1}; ++i) {{\n"
      "    {2}.coefficients[i] = static_cast<S::Value>(coefficients != nullptr ? coefficients[i] : kDefaults[i]);\n"
      "  }}\n",
      values, problem.facts.placed ? "kPlace" : "kCoefficients", plain);
}

/// Behind the coefficients, along the kernel's axes.
std::string place_lines(const Candidate& candidate, std::string_view plain) {
  if (!candidate.problem().facts.placed) return "";
  std::string numbers;
  for (const int axis : candidate.shape().axes.grid_axis) {
    numbers += axis < 0 ? "0, " : fmt::format("grid_origin != nullptr ? grid_origin[{}] : 0, ", axis);
  }
  return fmt::format(
      "  const long long place[4] = {{{}first_step}};\n"
      "  std::memcpy({}.coefficients + S::kPlace, place, sizeof(place));\n",
      numbers, plain);
}

/// Descriptions of the inputs for the TMA; the driver's function comes from the runtime library, so that
/// nothing else needs linking.
std::string tensor_map_lines(const Candidate& candidate, const ExportSignature& signature) {
  const KernelShape& shape = candidate.shape();
  if (!shape.uses_tensor_maps) return "";
  const CopiedBox& box = shape.copied_box;
  const bool has_rows = shape.axes.has(1);
  constexpr std::array<const char*, 4> kTypes{"FLOAT64", "FLOAT32", "FLOAT16", "BFLOAT16"};
  std::string inputs;
  for (const std::string& each : signature.inputs) inputs += each + ", ";
  return fmt::format(
      R"(  // One map an input: {box_x} x {box_y} x 1 cells a copy, cells outside arrive as 0.
  void* found = nullptr;
  cudaDriverEntryPointQueryResult query;
  cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &query);
  if (error != cudaSuccess) return error;
  if (query != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  const {cell}* const fields[] = {{{inputs}}};
  for (int i = 0; i < S::kInputs; ++i) {{
    const cuuint64_t extents[3] = {{static_cast<cuuint64_t>(n[0]), static_cast<cuuint64_t>(n[1]),
                                   static_cast<cuuint64_t>(n[2])}};
    const cuuint64_t strides[2] = {{static_cast<cuuint64_t>({row_stride}) * sizeof(S::Storage),
                                   static_cast<cuuint64_t>(stride[2]) * sizeof(S::Storage)}};
    const cuuint32_t box[3] = {{{box_x}, {box_y}, 1}};
    const cuuint32_t every_cell[3] = {{1, 1, 1}};
    alignas(64) CUtensorMap map;
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_{type}, 3, const_cast<{cell}*>(fields[i]), extents, strides, box, every_cell,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {{
      return cudaErrorInvalidValue;
    }}
    static_assert(sizeof(map) == sizeof(arguments.maps[i]), "a tensor map has 128 bytes");
    std::memcpy(&arguments.maps[i], &map, sizeof(map));
  }}
)",
      fmt::arg("box_x", box.cells), fmt::arg("box_y", box.rows), fmt::arg("cell", signature.cell),
      fmt::arg("inputs", inputs), fmt::arg("row_stride", has_rows ? "stride[1]" : "stride[2]"),
      fmt::arg("type", kTypes[static_cast<std::size_t>(candidate.problem().type)]));
}

std::string address_lines(const ExportSignature& signature, std::string_view plain) {
  std::string text;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    text += fmt::format("  {}.in[{}] = reinterpret_cast<const S::Storage*>({});\n", plain, i, signature.inputs[i]);
  }
  for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
    text += fmt::format("  {}.out[{}] = reinterpret_cast<S::Storage*>({});\n", plain, i, signature.outputs[i]);
  }
  return text;
}

std::string pointer_checks(const Candidate& candidate, const ExportSignature& signature) {
  std::vector<std::string> all = signature.inputs;
  for (const std::string& output : signature.outputs) {  // of which a system may read the held layers
    if (std::find(all.begin(), all.end(), output) == all.end()) all.push_back(output);
  }
  const std::size_t cell = size_of(candidate.problem().type);
  const std::size_t bytes = required_alignment(candidate);
  const std::string misaligned = bytes == cell
                                     ? ""
                                     : fmt::format(
                                           "    // Cells are moved {} at a time.\n"
                                           "    if (reinterpret_cast<std::uintptr_t>(pointers[i]) % {} != 0) return "
                                           "cudaErrorMisalignedAddress;\n",
                                           bytes / cell, bytes);
  return fmt::format(
      R"(  const void* const pointers[] = {{{all}}};  // the inputs, then the outputs
  for (int i = 0; i < {count}; ++i) {{
    if (pointers[i] == nullptr) return cudaErrorInvalidValue;
    for (int j = 0; j < i && i >= S::kInputs; ++j) {{
      if (pointers[i] == pointers[j]) return cudaErrorInvalidValue;
    }}
{misaligned}  }}
)",
      fmt::arg("all", fmt::join(all, ", ")), fmt::arg("count", all.size()), fmt::arg("misaligned", misaligned));
}

/// Refuses grids whose indices would not fit the kernel's.
std::string index_check(const Candidate& candidate, std::string_view detail) {
  const KernelShape& shape = candidate.shape();
  if (shape.wide_index) return "";
  const BeyondGrid beyond = beyond_grid(shape);
  return fmt::format("  if (!{}::fits_32_bits(n, stride[1], stride[2], {{{}, {}}})) return cudaErrorInvalidValue;\n",
                     detail, beyond.rows, beyond.planes);
}

/// Tiles along axis a of a grid of n[a] cells, low[a] to high[a] of which are updated.
std::string tile_lines(const Candidate& candidate, std::string_view detail, std::string_view plain) {
  if (candidate.shape().placement == Placement::aligned) {
    return fmt::format(
        "    {0}.origin[a] = a == 0 ? {1}::line_before(low, sizeof(S::Storage)) : low;\n"
        "    {0}.tiles[a] = static_cast<unsigned>({1}::tiles_between({0}.origin[a], high, tile[a]));\n",
        plain, detail);
  }
  if (candidate.shape().shares > 0) {
    return fmt::format(
        R"(    // Tiles lie inside the grid; {shares} blocks share out the rows of all of them.
    if (n[a] < tile[a]) return cudaErrorInvalidValue;
    {plain}.origin[a] = low;
    {plain}.tiles[a] = a == 0 ? {shares} : 1;
)",
        fmt::arg("shares", candidate.shape().shares), fmt::arg("plain", plain));
  }
  return fmt::format(R"(    // Tiles overlap by their halos, and the last one ends with the grid; planes are shared out.
    if (a == 2 ? high - low < {chunks} : n[a] < tile[a]) return cudaErrorInvalidValue;
    {plain}.origin[a] = low;
    {plain}.tiles[a] =
        a == 2 ? {chunks} : static_cast<unsigned>({detail}::overlapping_tiles(n[a], tile[a], before[a], after[a], shift[a], wraps[a]));
)",
                     fmt::arg("chunks", candidate.tuning().chunks), fmt::arg("plain", plain),
                     fmt::arg("detail", detail));
}

/// What tile_lines() counts with: the kernel's own constants.
std::string tile_constants(const Candidate& candidate, std::string_view detail) {
  if (candidate.shape().placement == Placement::aligned) {
    constexpr std::array<const char*, kMaxRank> kTiles{"T::kTileX", "T::kTileY", "T::kTileZ"};
    std::vector<std::string> lengths(kTiles.begin(), kTiles.end());
    const int cluster = candidate.tuning().cluster;
    if (cluster > 1) lengths[static_cast<std::size_t>(candidate.shape().cluster_axis)] += " * T::kCluster";
    return fmt::format("  const long long tile[3] = {{{}}};{}\n", fmt::join(lengths, ", "),
                       cluster > 1 ? "  // of a cluster's blocks" : "");
  }
  if (candidate.shape().shares > 0) {
    return fmt::format("  const long long tile[3] = {{{}, 1, 1}};  // with its halo\n", candidate.shape().fused.width);
  }
  return fmt::format(
      "  using Tile = {0}::TemporalShape<S, T>;\n"
      "  const long long tile[3] = {{Tile::kWidth, Tile::kHeight, 1}};  // with its halo\n"
      "  const int before[3] = {{T::kLeft, T::kAbove, 0}}, after[3] = {{T::kRight, T::kBelow, 0}};\n"
      "  const int shift[3] = {{T::kShift, 0, 0}};\n"
      "  const bool wraps[3] = {{S::kBoundaryX == {0}::Boundary::periodic, S::kBoundaryY == {0}::Boundary::periodic, "
      "false}};\n",
      detail);
}

/// More than every kernel may have has to be asked for.
std::string shared_memory_lines(std::size_t bytes, const std::string& kernel) {
  constexpr std::size_t kWithoutOptIn = std::size_t{48} << 10;
  if (bytes <= kWithoutOptIn) return "";
  return fmt::format(
      "  const cudaError_t allowed = cudaFuncSetAttribute(\n"
      "      {}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n"
      "  if (allowed != cudaSuccess) return allowed;\n",
      kernel, bytes);
}

/// tiles: the name of their array.
std::string grid_text(const Tuning& tuning, const std::string& tiles) {
  const std::string cluster = tuning.cluster > 1 ? fmt::format("{} * ", tuning.cluster) : std::string();
  if (numbers_blocks_by_axis(tuning)) return fmt::format("({0}{1}[0], {1}[1], {1}[2])", cluster, tiles);
  const std::string all = fmt::format("{0}[0] * {0}[1] * {0}[2]", tiles);
  if (tuning.tiles == 1) return fmt::format("({}{})", cluster, all);
  return fmt::format("({}(({} + {}) / {}))", cluster, all, tuning.tiles - 1, tuning.tiles);
}

}  // namespace

std::string launcher_text(const Candidate& candidate, const ExportSignature& signature, const std::string& detail,
                          const std::string& kernel) {
  const Problem& problem = candidate.problem();
  const Tuning& tuning = candidate.tuning();
  const KernelShape& shape = candidate.shape();
  const KernelAxisTexts axes = kernel_axis_texts(candidate);
  const auto block = launch_geometry(candidate, updated_box(problem)).block;
  const std::string plain = shape.uses_tensor_maps ? "arguments.plain" : "arguments";
  return fmt::format(
      R"({declaration} {{
  using S = {kernel}_candidate::Stencil;
  using T = {kernel}_candidate::Tuning;
{pointer_checks}  // The grid along the kernel's own axes, which has an extent of 1 where the grid has no axis.
  const long long n[3] = {{{n}}};
  const long long stride[3] = {{{stride}}};
  // Layers that boundary hold keeps, before and after the cells that are written.
  const long long held_low[3] = {{{held_low}}}, held_high[3] = {{{held_high}}};
{tile}  if (n[0] < 1 || n[1] < 1 || n[2] < 1) return cudaErrorInvalidValue;
{stride_checks}{index_check}{stride_alignment_checks}
  {detail}::{arguments}<S> arguments = {{}};
{addresses}  for (int a = 0; a < 3; ++a) {{
    const long long low = held_low[a];
    const long long high = n[a] - held_high[a];
    if (high <= low) return cudaSuccess;  // nothing inside
    {plain}.low[a] = low;
    {plain}.high[a] = high;
    {plain}.n[a] = n[a];
{tiles}  }}
  {plain}.stride_y = stride[1];
  {plain}.stride_z = stride[2];
{coefficients}{tensor_maps}{shared}  const dim3 grid{grid};
  const dim3 block({block});
  {kernel}<<<grid, block, {shared_bytes}, stream>>>(arguments);
  return cudaGetLastError();
}}
)",
      fmt::arg("declaration", signature.declaration("extern \"C\" ")), fmt::arg("kernel", kernel),
      fmt::arg("detail", detail), fmt::arg("pointer_checks", pointer_checks(candidate, signature)),
      fmt::arg("n", fmt::join(axes.extent, ", ")), fmt::arg("stride", fmt::join(axes.stride, ", ")),
      fmt::arg("held_low", fmt::join(axes.held_low, ", ")), fmt::arg("held_high", fmt::join(axes.held_high, ", ")),
      fmt::arg("stride_checks", stride_checks(problem)), fmt::arg("index_check", index_check(candidate, detail)),
      fmt::arg("stride_alignment_checks", stride_alignment_checks(candidate) + row_check(shape.row_multiple)),
      fmt::arg("arguments", shape.uses_tensor_maps ? "CopyArguments" : "Arguments"),
      fmt::arg("addresses", address_lines(signature, plain)), fmt::arg("plain", plain),
      fmt::arg("coefficients", coefficient_lines(problem, plain) + place_lines(candidate, plain)),
      fmt::arg("tensor_maps", tensor_map_lines(candidate, signature)),
      fmt::arg("shared", shared_memory_lines(shape.shared.bytes, kernel)),
      fmt::arg("tile", tile_constants(candidate, detail)), fmt::arg("tiles", tile_lines(candidate, detail, plain)),
      fmt::arg("grid", grid_text(tuning, plain + ".tiles")), fmt::arg("block", fmt::join(block, ", ")),
      fmt::arg("shared_bytes", shape.shared.bytes));
}

}  // namespace stencil_tune
