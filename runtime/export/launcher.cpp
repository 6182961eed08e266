#include "generator/candidates/temporal.hpp"
#include "generator/candidates/tile.hpp"
#include "runtime/export/export.hpp"
#include "runtime/export/text.hpp"
#include "runtime/library/lookup.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {

namespace {

struct KernelAxisTexts {
  std::array<std::string, kMaxRank> extent;
  std::array<std::string, kMaxRank> stride;
  std::array<int, kMaxRank> held{0, 0, 0};
};

/// The grid's parameters as the kernel's axes.
KernelAxisTexts kernel_axis_texts(const Problem& problem, const Tuning& tuning) {
  constexpr std::array<const char*, kMaxRank> kExtents{"nx", "ny", "nz"};
  constexpr std::array<const char*, kMaxRank> kStrides{"1", "stride_y", "stride_z"};
  const KernelAxes axes = kernel_axes(problem, tuning);
  KernelAxisTexts texts;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    const int grid_axis = axes.grid_axis[a];
    const auto g = static_cast<std::size_t>(std::max(grid_axis, 0));
    texts.extent[a] = grid_axis < 0 ? "1" : kExtents[g];
    texts.stride[a] = grid_axis < 0 ? "0" : kStrides[g];
    if (grid_axis >= 0 && problem.boundaries[g] == Boundary::hold) texts.held[a] = problem.facts.radius[g];
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

std::string last_stride(const Problem& problem) {
  constexpr std::array<const char*, kMaxRank> kCells{"nx", "stride_y * ny", "stride_z * nz"};
  return kCells[static_cast<std::size_t>(problem.extents.rank - 1)];
}

std::string row_check(const Problem& problem, const Tuning& tuning) {
  if (tuning.family != Family::temporal || row_multiple(problem, tuning) == 1) return "";
  return fmt::format("  if (nx % {} != 0) return cudaErrorInvalidValue;\n", row_multiple(problem, tuning));
}

std::string stride_alignment_checks(const Problem& problem, const Tuning& tuning) {
  const std::size_t cells = required_alignment(problem.type, tuning) / size_of(problem.type);
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
      "  static const double kDefaults[S::kCoefficients] = {{\n{}  }};\n"
      "  for (int i = 0; i < S::kCoefficients; ++i) {{\n"
      "    {}.coefficients[i] = static_cast<S::Value>(coefficients != nullptr ? coefficients[i] : kDefaults[i]);\n"
      "  }}\n",
      values, plain);
}

/// Descriptions of the inputs for the copy engine; the driver's function comes from the runtime library, so that
/// nothing else needs linking.
std::string tensor_map_lines(const Problem& problem, const Tuning& tuning, const ExportSignature& signature) {
  if (!uses_tensor_maps(tuning)) return "";
  const CopiedBox box = copied_box(problem, tuning);
  const bool has_rows = kernel_axes(problem, tuning).grid_axis[1] >= 0;
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
      fmt::arg("type", kTypes[static_cast<std::size_t>(problem.type)]));
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

std::string pointer_checks(const Problem& problem, const Tuning& tuning, const ExportSignature& signature) {
  std::vector<std::string> all = signature.inputs;
  all.insert(all.end(), signature.outputs.begin(), signature.outputs.end());
  const std::size_t bytes = required_alignment(problem.type, tuning);
  const std::string misaligned = bytes == size_of(problem.type)
                                     ? ""
                                     : fmt::format(
                                           "    // Cells are moved {} at a time.\n"
                                           "    if (reinterpret_cast<std::uintptr_t>(pointers[i]) % {} != 0) return "
                                           "cudaErrorMisalignedAddress;\n",
                                           bytes / size_of(problem.type), bytes);
  return fmt::format(
      R"(  const void* const pointers[] = {{{}}};  // the inputs, then the outputs
  for (int i = 0; i < S::kInputs + S::kOutputs; ++i) {{
    if (pointers[i] == nullptr) return cudaErrorInvalidValue;
    for (int j = 0; j < i && i >= S::kInputs; ++j) {{
      if (pointers[i] == pointers[j]) return cudaErrorInvalidValue;
    }}
{}  }}
)",
      fmt::join(all, ", "), misaligned);
}

/// Tiles along axis a of a grid of n[a] cells, low[a] to high[a] of which are updated.
std::string tile_lines(const Tuning& tuning, std::string_view plain) {
  if (tuning.family != Family::temporal) {
    return fmt::format(R"(    // Tiles start on a 128-byte line along x.
    const long long line = a == 0 ? static_cast<long long>(128 / sizeof(S::Storage)) : 1;
    {0}.origin[a] = low / line * line;
    tiles[a] = static_cast<unsigned>((high - {0}.origin[a] + tile[a] - 1) / tile[a]);
)",
                       plain);
  }
  return fmt::format(R"(    // Tiles overlap by their halos, and the last one ends with the grid; planes are shared out.
    if (a == 2 ? high - low < {chunks} : n[a] < whole[a]) return cudaErrorInvalidValue;
    {plain}.origin[a] = low;
    const long long beyond = wraps[a] ? n[a] : n[a] - whole[a];
    const unsigned more = static_cast<unsigned>((beyond + tile[a] - 1) / tile[a]);
    tiles[a] = a == 2 ? {chunks} : wraps[a] ? more : more + 1;
)",
                     fmt::arg("chunks", tuning.chunks), fmt::arg("plain", plain));
}

/// What tile_lines() counts with.
std::string tile_constants(const Problem& problem, const Tuning& tuning) {
  if (tuning.family != Family::temporal) {
    const auto tile = cluster_tile(problem, tuning);
    return fmt::format("  const int tile[3] = {{{}, {}, {}}};{}\n", tile[0], tile[1], tile[2],
                       tuning.cluster > 1 ? fmt::format("  // of {} blocks", tuning.cluster) : std::string());
  }
  const TemporalShape shape = temporal_shape(problem, tuning);
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto wraps = [&](std::size_t axis) {
    return axes.grid_axis[axis] >= 0 &&
           problem.boundaries[static_cast<std::size_t>(axes.grid_axis[axis])] == Boundary::periodic;
  };
  return fmt::format(
      "  const int whole[3] = {{{}, {}, 1}};  // a tile with its halo\n"
      "  const int tile[3] = {{{}, {}, 1}};   // the cells of it that no other tile stores\n"
      "  const bool wraps[3] = {{{}, {}, false}};\n",
      shape.width, shape.height, shape.width - shape.left - shape.right, shape.height - shape.above - shape.below,
      wraps(0), wraps(1));
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

std::string grid_text(const Tuning& tuning) {
  const std::string cluster = tuning.cluster > 1 ? fmt::format("{} * ", tuning.cluster) : std::string();
  if (numbers_blocks_by_axis(tuning)) return fmt::format("({}tiles[0], tiles[1], tiles[2])", cluster);
  const std::string_view all = "tiles[0] * tiles[1] * tiles[2]";
  if (tuning.tiles == 1) return fmt::format("({}{})", cluster, all);
  return fmt::format("({}(({} + {}) / {}))", cluster, all, tuning.tiles - 1, tuning.tiles);
}

}  // namespace

std::string launcher_text(const Problem& problem, const Tuning& tuning, const ExportSignature& signature,
                          const std::string& detail, const std::string& kernel) {
  const KernelAxisTexts axes = kernel_axis_texts(problem, tuning);
  const std::size_t shared = shared_tile(problem, tuning).bytes;
  const auto block = launch_geometry(problem, tuning, updated_box(problem)).block;
  const std::string plain = uses_tensor_maps(tuning) ? "arguments.plain" : "arguments";
  return fmt::format(
      R"({declaration} {{
  using S = {kernel}_candidate::Stencil;
{tuning}{pointer_checks}  // The grid along the kernel's own axes, which has an extent of 1 where the grid has no axis.
  const long long n[3] = {{{n}}};
  const long long stride[3] = {{{stride}}};
  const long long held[3] = {{{held}}};  // layers on each side that boundary hold keeps
{tile}  if (n[0] < 1 || n[1] < 1 || n[2] < 1) return cudaErrorInvalidValue;
{stride_checks}  if (sizeof(S::Index) == 4 && {cells} > 0x7fffffff) return cudaErrorInvalidValue;
{stride_alignment_checks}
  {detail}::{arguments}<S> arguments = {{}};
{addresses}  unsigned tiles[3];
  for (int a = 0; a < 3; ++a) {{
    const long long low = held[a] < n[a] ? held[a] : n[a];
    const long long high = n[a] - held[a];
    if (high <= low) return cudaSuccess;  // nothing inside
    {plain}.low[a] = low;
    {plain}.high[a] = high;
    {plain}.n[a] = n[a];
{tiles}    {plain}.tiles[a] = tiles[a];
  }}
  {plain}.stride_y = stride[1];
  {plain}.stride_z = stride[2];
{coefficients}{tensor_maps}{shared}  const dim3 grid{grid};
  const dim3 block({block});
  {kernel}<<<grid, block, {shared_bytes}, stream>>>(arguments);
  return cudaGetLastError();
}}
)",
      fmt::arg("declaration", signature.declaration("extern \"C\" ")), fmt::arg("kernel", kernel),
      fmt::arg("detail", detail), fmt::arg("pointer_checks", pointer_checks(problem, tuning, signature)),
      fmt::arg("n", fmt::join(axes.extent, ", ")), fmt::arg("stride", fmt::join(axes.stride, ", ")),
      fmt::arg("held", fmt::join(axes.held, ", ")), fmt::arg("stride_checks", stride_checks(problem)),
      fmt::arg("cells", last_stride(problem)),
      fmt::arg("stride_alignment_checks", stride_alignment_checks(problem, tuning) + row_check(problem, tuning)),
      fmt::arg("arguments", uses_tensor_maps(tuning) ? "CopyArguments" : "Arguments"),
      fmt::arg("addresses", address_lines(signature, plain)), fmt::arg("plain", plain),
      fmt::arg("coefficients", coefficient_lines(problem, plain)),
      fmt::arg("tensor_maps", tensor_map_lines(problem, tuning, signature)),
      fmt::arg("shared", shared_memory_lines(shared, kernel)), fmt::arg("tile", tile_constants(problem, tuning)),
      fmt::arg("tiles", tile_lines(tuning, plain)),
      fmt::arg("tuning", tuning.family == Family::temporal
                             ? std::string()
                             : fmt::format("  using T = {}_candidate::Tuning;\n", kernel)),
      fmt::arg("grid", grid_text(tuning)), fmt::arg("block", fmt::join(block, ", ")), fmt::arg("shared_bytes", shared));
}

}  // namespace stencil_tune
