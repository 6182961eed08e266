#include "generator/kernel_source/source.hpp"

#include "generator/candidates/families/families.hpp"
#include "generator/candidates/family.hpp"
#include "generator/kernel_source/launch.hpp"
#include "generator/kernel_source/plane_sums.hpp"
#include "generator/kernel_source/stage_text.hpp"
#include "generator/kernel_source/system_text.hpp"
#include "generator/points/point_checks.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "generator/stencil/rewriting/sum_parts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>

namespace stencil_tune {
namespace {

/// Which inputs wait for the output to be finished: none where outputs are not made of sums.
std::string late_member(const Problem& problem, bool takes_sums) {
  std::string condition;
  for (std::size_t input = 0; takes_sums && input < problem.facts.inputs.size(); ++input) {
    if (!is_late(problem.facts, input)) continue;
    condition += fmt::format("{}f == {}", condition.empty() ? "" : " || ", input);
  }
  return fmt::format(
      "  // Inputs that are only read where an output is finished from sums.\n"
      "  STENCIL_DEVICE static constexpr bool is_late([[maybe_unused]] int f) {{ return {}; }}\n"
      "  static constexpr bool kHasLate = {};\n\n",
      condition.empty() ? "false" : condition, !condition.empty());
}

std::string stencil_text(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const KernelTemplate kernel = candidate.family().kernel_template(candidate.tuning());
  const KernelAxes& axes = candidate.shape().axes;
  const StageFacts& facts = problem.facts;
  const AxisMap axis_map = axis_map_of(axes);
  const std::vector<int> outputs = kernel_outputs(problem, sweeps_per_launch(candidate.tuning()));
  return fmt::format(
      R"(struct Stencil {{
{types}  static constexpr int kInputs = {inputs}, kOutputs = {outputs}, {coefficients};
{storages}{axis_reads}{arrays}{reach}{boundaries}
{late}{update}{sums}}};
)",
      fmt::arg("types", type_members(candidate)), fmt::arg("inputs", facts.inputs.size()),
      fmt::arg("outputs", outputs.size()), fmt::arg("coefficients", coefficient_constants(problem)),
      fmt::arg("storages", storage_members(problem, facts.inputs, outputs)),
      fmt::arg("axis_reads", axis_read_members(problem, axis_map)),
      fmt::arg("arrays", layer_array_members(problem, facts.inputs, outputs, axis_map)),
      fmt::arg("reach", reach_members(axes.reach)), fmt::arg("boundaries", boundary_members(axes)),
      fmt::arg("update", update_member(problem.stencil, problem.stage, facts, axis_map)),
      fmt::arg("late", kernel.asks_late ? late_member(problem, kernel.takes_sums) : std::string()),
      fmt::arg("sums", kernel.takes_sums ? plane_sums_text(problem, axis_map) : std::string()));
}

/// What templates ask of every tuning, and holds where its family neither has such a parameter nor sets it.
struct DefaultConstant {
  std::string_view name, line;
};
constexpr DefaultConstant kDefaults[]{
    {"kBlockZ", "  static constexpr int kBlockZ = 1;\n"},
    {"kRegisterZ", "  static constexpr int kRegisterZ = 1;\n"},
    {"kPrefetch", "  static constexpr int kPrefetch = 0;\n"},
    {"kTiles", "  static constexpr int kTiles = 1;\n"},
    {"kLoad", "  static constexpr stencil_tune::LoadHint kLoad = stencil_tune::LoadHint::cached;\n"},
    {"kNeighbours", "  static constexpr stencil_tune::Neighbours kNeighbours = stencil_tune::Neighbours::cache;\n"},
    {"kInsideX", "  static constexpr bool kInsideX = false, kInsideY = false, kInsideZ = false;\n"},
};

bool is_set_by(const Candidate& candidate, std::string_view constant) {
  const Family& family = candidate.family();
  const auto sets = family.kernel_template(candidate.tuning()).sets;
  const auto is_its_constant = [&](const Parameter& parameter) { return parameter.constant == constant; };
  return std::find(sets.begin(), sets.end(), constant) != sets.end() ||
         std::any_of(family.parameters.begin(), family.parameters.end(), is_its_constant);
}

/// Constants of one type that follow each other share lines.
std::string joined(std::string_view text) {
  constexpr std::size_t kWidth = 120;
  std::string result;
  std::string_view type;  // the last line's type, where more constants may join it
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    const std::string_view line = text.substr(at, end - at);
    const std::size_t name = line.rfind(' ', line.find('=') - 2) + 1;
    const bool constant = line.starts_with("  static constexpr ") && line.ends_with(";\n");
    const std::string_view own_type = constant ? line.substr(0, name) : std::string_view();
    const std::size_t last_line = result.size() - (result.empty() ? 0 : result.rfind('\n', result.size() - 2) + 1);
    if (constant && own_type == type && last_line + line.size() - name + 1 <= kWidth) {
      result.replace(result.size() - 2, 2, ", ");
      result += line.substr(name);
    } else {
      result += line;
    }
    type = own_type;
    at = end;
  }
  return result;
}

/// The numbers that points have for the advanced field, in kernels whose levels all advance one.
std::string point_constants(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const int source = problem.facts.outputs.front();
  int receiver = source;
  for (const int field : problem.step.state) {
    if (recorded_output(problem.step, field) == source) receiver = field;
  }
  return fmt::format("  static constexpr int kSourceField = {}, kReceiverField = {};  // as points call the field\n",
                     source, receiver);
}

/// Whether an axis is periodic or reflects, and the template has no division for it.
bool turns_once(const KernelShape& shape) {
  const KernelAxes& axes = shape.axes;
  return shape.turns_once && axes.turned_reach(0) + axes.turned_reach(1) + axes.turned_reach(2) > 0;
}

/// Each parameter of the family, and what else its template needs.
std::string tuning_text(const Candidate& candidate, bool with_points) {
  std::string text;
  for (const Parameter& parameter : candidate.family().parameters) {
    text += constant_text(parameter, parameter.get(candidate.tuning()));
  }
  for (const DefaultConstant& each : kDefaults) {
    if (!is_set_by(candidate, each.name)) text += each.line;
  }
  // kPlaced: the update asks for coordinates or the step's number. kSlabs: arrays of fields in layers hold these alone.
  text += fmt::format("  static constexpr bool kTurnsOnce = {}, kPlaced = {}, kSlabs = {};\n",
                      turns_once(candidate.shape()), candidate.problem().facts.placed, has_slabs(candidate.problem()));
  text += candidate.family().constants(candidate);
  if (with_points && !candidate.family().advances_all_fields) text += point_constants(candidate);
  // Named without its launch: binaries are kept by their text.
  return fmt::format("// {}\nstruct Tuning {{\n{}}};\n", code(without_launch(candidate.tuning())), joined(text));
}

}  // namespace

std::span<const TemplateFile> template_files() {
  static const std::vector<TemplateFile> files = [] {
    const auto shipped = shipped_template_files();
    std::vector<TemplateFile> all(shipped.begin(), shipped.end());
    for (const Family* family : families()) all.insert(all.end(), family->files.begin(), family->files.end());
    return all;
  }();
  return files;
}

std::string_view template_of(const Tuning& tuning) { return tuning.family->kernel_template(tuning).file; }

namespace {

void require_identifier(std::string_view entry) {
  const bool identifier =
      !entry.empty() && std::isdigit(static_cast<unsigned char>(entry[0])) == 0 &&
      std::all_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!identifier) {
    throw Error(ErrorCode::invalid_argument, fmt::format("kernel name '{}' is not a C identifier", entry));
  }
}

/// What the kernel is written with besides its stencil and tuning.
struct KernelForm {
  std::string_view file, function;
  std::string parameter;  ///< its type
  std::string call;       ///< what the function is given
  bool with_points = false;
};

KernelSource write_kernel(const Candidate& candidate, std::string_view entry, const KernelForm& form) {
  const Tuning& tuning = candidate.tuning();
  KernelSource source;
  source.entry = entry;
  source.text = fmt::format(
      R"({typed}#include "stencil_tune/{file}"

namespace {entry}_candidate {{

{stencil}
{tuning}
}}  // namespace {entry}_candidate

STENCIL_KERNEL void {cluster}__launch_bounds__({threads}{min_blocks})
{entry}(const __grid_constant__ {parameter} arguments) {{
  stencil_tune::{function}<{entry}_candidate::Stencil, {entry}_candidate::Tuning>({call});
}}
)",
      fmt::arg("typed", has_storage_types(candidate.problem()) ? "#include \"stencil_tune/typed_cells.cuh\"\n" : ""),
      fmt::arg("file", form.file), fmt::arg("entry", entry),
      fmt::arg("stencil", candidate.family().advances_all_fields ? system_text(candidate, form.with_points)
                                                                 : stencil_text(candidate)),
      fmt::arg("tuning", tuning_text(candidate, form.with_points)), fmt::arg("parameter", form.parameter),
      fmt::arg("cluster", tuning.cluster > 1           ? fmt::format("STENCIL_CLUSTER({}) ", tuning.cluster)
                          : candidate.shape().together ? std::string("STENCIL_TOGETHER ")
                                                       : std::string()),
      fmt::arg("threads", candidate.shape().threads),
      fmt::arg("min_blocks", tuning.min_blocks > 0 ? fmt::format(", {}", tuning.min_blocks) : std::string()),
      fmt::arg("function", form.function), fmt::arg("call", form.call));
  return source;
}

std::string parameter_type(const Candidate& candidate, std::string_view entry) {
  const KernelShape& shape = candidate.shape();
  return fmt::format("stencil_tune::{}<{}_candidate::Stencil>",
                     shape.uses_tensor_maps ? "CopyArguments"
                     : shape.together       ? "ResidentArguments"
                                            : "Arguments",
                     entry);
}

std::string reductions_text(std::span<const Reduction> reductions) {
  constexpr std::string_view kNames[]{"sum", "minimum", "maximum"};
  std::string list;
  for (const Reduction each : reductions) {
    list += fmt::format("{}stencil_tune::Reduction::{}", list.empty() ? "" : ", ", kNames[static_cast<int>(each)]);
  }
  return fmt::format("stencil_tune::Reductions<{}>{{}}", list);
}

}  // namespace

KernelSource generate(const Candidate& candidate, std::string_view entry) {
  require_identifier(entry);
  const KernelTemplate kernel = candidate.family().kernel_template(candidate.tuning());
  return write_kernel(candidate, entry,
                      {.file = kernel.file,
                       .function = kernel.function,
                       .parameter = parameter_type(candidate, entry),
                       .call = "arguments"});
}

KernelSource generate_with_points(const Candidate& candidate, std::string_view entry) {
  require_identifier(entry);
  const KernelTemplate kernel = candidate.family().kernel_template(candidate.tuning());
  return write_kernel(candidate, entry,
                      {.file = kernel.points_file,
                       .function = kernel.points_function,
                       .parameter = fmt::format("stencil_tune::PointArguments<{}, {}_candidate::Stencil::Value>",
                                                parameter_type(candidate, entry), entry),
                       .call = "arguments.kernel, arguments.points",
                       .with_points = true});
}

Tuning measuring_tuning(const Problem& measured) {
  Tuning tuning = direct_family().defaults(measured).front();
  if (measured.extents.rank > 1) tuning.register_y = 8;
  return tuning;
}

KernelSource generate_measuring(const Candidate& candidate, std::span<const Reduction> reductions) {
  constexpr std::string_view kEntry = "stencil_measure";
  return write_kernel(candidate, kEntry,
                      {.file = "measure.cuh",
                       .function = "measure",
                       .parameter = parameter_type(candidate, kEntry),
                       .call = "arguments, " + reductions_text(reductions)});
}

KernelSource gather_source(std::span<const Reduction> reductions) {
  return {.text = fmt::format(R"(#include "stencil_tune/measure.cuh"

STENCIL_KERNEL void __launch_bounds__({})
stencil_gather(const __grid_constant__ stencil_tune::GatherArguments arguments) {{
  stencil_tune::gather(arguments, {});
}}
)",
                              kGatherThreads, reductions_text(reductions)),
          .entry = "stencil_gather"};
}

}  // namespace stencil_tune
