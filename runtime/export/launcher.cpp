#include "generator/kernel_source/launch.hpp"
#include "runtime/export/export.hpp"
#include "runtime/export/launch_axes.hpp"
#include "runtime/export/text.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {

namespace {

std::string stride_checks(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const int rank = problem.extents.rank;
  if (rank == 1) return "";
  const std::size_t cells = required_alignment(candidate) / widest_cell_bytes(problem);
  std::string wrong = "stride_y < nx";
  if (rank > 2) wrong += " || stride_z < stride_y * ny";
  if (cells > 1) wrong += fmt::format(" || stride_y % {} != 0", cells);
  if (cells > 1 && rank > 2) wrong += fmt::format(" || stride_z % {} != 0", cells);
  return fmt::format("  if ({}) return cudaErrorInvalidValue;\n", wrong);
}

/// What is changed beyond an edge is mirrored once.
std::string mirror_checks(const Problem& problem) {
  std::string text;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.extents.rank); ++axis) {
    const std::int64_t least = least_extent(problem.stencil, axis);
    if (least > 1) text += fmt::format("  if (n{} < {}) return cudaErrorInvalidValue;\n", "xyz"[axis], least);
  }
  return text;
}

std::string longer_checks(const KernelShape& shape) {
  std::string text;
  for (const LongerAxis& axis : longer_axes(shape)) {
    text += fmt::format("  if (n{} <= {}) return cudaErrorInvalidValue;\n", axis.name, axis.cells);
  }
  return text;
}

std::string coefficient_lines(const Problem& problem, std::string_view plain) {
  if (problem.stencil.coefficients.empty()) return "";
  constexpr std::size_t kWidth = 120;
  std::string values, line = "      ";
  for (const Coefficient& c : problem.stencil.coefficients) {
    const std::string value = fmt::format("{},", c.value);
    if (line.size() + value.size() > kWidth) values += std::exchange(line, "      ") + '\n';
    line += (line.ends_with(' ') ? "" : " ") + value;
  }
  return fmt::format(
      "  static const double kDefaults[S::{1}] = {{\n{0}}};\n"
      "  for (int i = 0; i < S::{1}; ++i) {{\n"
      "    {2}.coefficients[i] = static_cast<S::Value>(coefficients != nullptr ? coefficients[i] : kDefaults[i]);\n"
      "  }}\n",
      values + line, problem.facts.placed ? "kPlace" : "kCoefficients", plain);
}

/// Cells from one row to the next, of each profile along two axes.
std::string row_numbers(const Problem& problem) {
  std::string numbers;
  for (const Profile& profile : problem.stencil.profiles) {
    const std::vector<int> axes = axes_of(profile.along);
    if (axes.size() == 2) numbers += fmt::format(", n{}", "xyz"[axes.front()]);
  }
  return numbers;
}

/// For each of the kernel's axes, the cells that lie in no layer.
std::string layer_numbers(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  if (!asks_layers(problem)) return "";
  std::string numbers;
  const LayerWidths widths = problem.stencil.layers.value_or(LayerWidths{});
  const auto between = between_layers(problem);
  for (const int axis : candidate.shape().axes.grid_axis) {
    const auto a = static_cast<std::size_t>(std::max(axis, 0));
    const std::int64_t high = widths.high[a];
    const std::string end = high > 0 ? fmt::format("n{} - {}", "xyz"[a], high) : fmt::format("{}", between[a].high);
    numbers += axis < 0 ? ", 0, 0" : fmt::format(", {}, {}", between[a].low, end);
  }
  return numbers;
}

/// Behind the coefficients, along the kernel's axes.
std::string place_lines(const Candidate& candidate, const ExportSignature& signature, std::string_view plain) {
  if (!candidate.problem().facts.placed) return "";
  std::string numbers;
  for (const int axis : candidate.shape().axes.grid_axis) {
    numbers += axis < 0 ? "0, " : fmt::format("grid_origin != nullptr ? grid_origin[{}] : 0, ", axis);
  }
  numbers += "first_step";
  std::string checks;
  for (const std::string& profile : signature.profiles) {
    checks += fmt::format("  if ({} == nullptr) return cudaErrorInvalidValue;\n", profile);
    numbers += fmt::format(", reinterpret_cast<long long>({})", profile);
  }
  numbers += row_numbers(candidate.problem()) + layer_numbers(candidate);
  return fmt::format(
      "{}  const long long place[] = {{{}}};\n"
      "  std::memcpy({}.coefficients + S::kPlace, place, sizeof(place));\n",
      checks, numbers, plain);
}

/// Descriptions of the inputs for the TMA; the driver's function comes from the runtime library, so that
/// nothing else needs linking.
std::string tensor_map_lines(const Candidate& candidate, const ExportSignature& signature, const AxisTexts& axes) {
  const KernelShape& shape = candidate.shape();
  if (!shape.uses_tensor_maps) return "";
  const CopiedBox& box = shape.copied_box;
  constexpr std::array<const char*, 4> kTypes{"FLOAT64", "FLOAT32", "FLOAT16", "BFLOAT16"};
  const std::size_t cell_bytes = size_of(candidate.problem().type);
  const bool several = signature.inputs.size() > 1;
  const auto extent = [&](std::size_t a) {
    return axes[a].there ? fmt::format("cuuint64_t({})", axes[a].extent) : "1";
  };
  const auto stride = [&](std::size_t a) { return fmt::format("{} * cuuint64_t({})", cell_bytes, axes[a].stride); };
  return fmt::format(
      R"(  // One map an input: {box_x} x {box_y} x 1 cells a copy, cells outside arrive as 0.
  decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  cudaDriverEntryPointQueryResult query;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", reinterpret_cast<void**>(&encode), 12000, cudaEnableDefault, &query);
  if (error != cudaSuccess) return error;
  if (query != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const cuuint64_t extents[3] = {{{x}, {y}, {z}}};
  const cuuint64_t strides[2] = {{{row}, {plane}}};
  const cuuint32_t box[3] = {{{box_x}, {box_y}, 1}}, every_cell[3] = {{1, 1, 1}};
  static_assert(sizeof(CUtensorMap) == sizeof(arguments.maps[0]), "a tensor map has 128 bytes");
{open}{in}  const CUresult answer = encode(
{in}      reinterpret_cast<CUtensorMap*>(&arguments.maps[{i}]), CU_TENSOR_MAP_DATA_TYPE_{type}, 3,
{in}      const_cast<S::Storage*>(arguments.plain.in[{i}]), extents, strides, box, every_cell, CU_TENSOR_MAP_INTERLEAVE_NONE,
{in}      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
{in}  if (answer != CUDA_SUCCESS) return cudaErrorInvalidValue;
{close})",
      fmt::arg("open", several ? "  for (int i = 0; i < S::kInputs; ++i) {\n" : ""),
      fmt::arg("close", several ? "  }\n" : ""), fmt::arg("in", several ? "  " : ""),
      fmt::arg("i", several ? "i" : "0"), fmt::arg("box_x", box.cells), fmt::arg("box_y", box.rows),
      fmt::arg("x", extent(0)), fmt::arg("y", extent(1)), fmt::arg("z", extent(2)),
      fmt::arg("row", stride(axes[1].there ? 1 : 2)), fmt::arg("plane", stride(2)),
      fmt::arg("type", kTypes[static_cast<std::size_t>(candidate.problem().type)]));
}

std::string pointer_checks(const Candidate& candidate, const ExportSignature& signature) {
  std::vector<std::string> all = signature.inputs;
  for (const std::string& output : signature.outputs) {  // a system may read their held layers
    if (std::find(all.begin(), all.end(), output) == all.end()) all.push_back(output);
  }
  const std::size_t cell = widest_cell_bytes(candidate.problem());
  const std::size_t bytes = required_alignment(candidate);
  if (all.size() == 2) {
    const std::string& in = all[0];
    const std::string& out = all[1];
    std::string text =
        fmt::format("  if ({0} == nullptr || {1} == nullptr || {0} == {1}) return cudaErrorInvalidValue;\n", in, out);
    if (bytes == cell) return text;
    return text +
           fmt::format(
               "  const auto is_aligned = [](const void* p) {{ return reinterpret_cast<std::uintptr_t>(p) % {} == "
               "0; }};\n"
               "  if (!is_aligned({}) || !is_aligned({})) return cudaErrorMisalignedAddress;\n",
               bytes, in, out);
  }
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

/// Where layers are held at no end there is a cell to update.
std::string nothing_inside_check(const AxisTexts& axes) {
  const auto held = [](const AxisText& axis) { return axis.held.low + axis.held.high; };
  if (std::none_of(axes.begin(), axes.end(), [&](const AxisText& axis) { return axis.there && held(axis) > 0; }))
    return "";
  const auto condition = [&](const AxisText& axis) { return fmt::format("{} <= {}", axis.extent, held(axis)); };
  return fmt::format("  if ({}) return cudaSuccess;  // nothing inside\n", of_axes(axes, " || ", condition));
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
  const KernelShape& shape = candidate.shape();
  const AxisTexts axes = axis_texts(candidate);
  const auto block = launch_geometry(candidate, updated_box(problem)).block;
  const std::string plain = shape.uses_tensor_maps ? "arguments.plain" : "arguments";
  return fmt::format(
      R"({declaration} {{
  using S = {kernel}_candidate::Stencil;
{pointer_checks}  if ({no_cells}) return cudaErrorInvalidValue;
{index_check}{stride_checks}{nothing_inside}{size_check}
{arguments}{coefficients}{tensor_maps}{shared}  const dim3 grid{grid};
  {kernel}<<<grid, dim3({block}), {shared_bytes}, stream>>>(arguments);
  return cudaGetLastError();
}}
)",
      fmt::arg("declaration", signature.declaration("extern \"C\" ")), fmt::arg("kernel", kernel),
      fmt::arg("pointer_checks", pointer_checks(candidate, signature)),
      fmt::arg("no_cells", of_axes(axes, " || ", [](const AxisText& axis) { return axis.extent + " < 1"; })),
      fmt::arg("stride_checks", stride_checks(candidate) + mirror_checks(problem) + longer_checks(shape)),
      fmt::arg("index_check", index_check(candidate, axes)), fmt::arg("nothing_inside", nothing_inside_check(axes)),
      fmt::arg("size_check", size_check(candidate, axes)),
      fmt::arg("arguments", argument_lines(candidate, signature, axes, detail)),
      fmt::arg("coefficients", coefficient_lines(problem, plain) + place_lines(candidate, signature, plain)),
      fmt::arg("tensor_maps", tensor_map_lines(candidate, signature, axes)),
      fmt::arg("shared", shared_memory_lines(shape.shared.bytes, kernel)),
      fmt::arg("grid", grid_text(candidate.tuning(), plain + ".tiles")), fmt::arg("block", fmt::join(block, ", ")),
      fmt::arg("shared_bytes", shape.shared.bytes));
}

}  // namespace stencil_tune
