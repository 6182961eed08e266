#include "generator/kernel/source.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel/plane_sums.hpp"
#include "generator/kernel/stage_text.hpp"
#include "generator/kernel/system_text.hpp"
#include "generator/stencil/sum_parts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>

namespace stencil_tune {
namespace {

/// C++ condition on f: whether input f waits for the output to be finished.
std::string late_text(const Problem& problem, const Tuning& tuning) {
  std::string condition;
  for (std::size_t input = 0; tuning.keeps == Keeps::sums && input < problem.facts.inputs.size(); ++input) {
    if (!is_late(problem.facts, input)) continue;
    condition += fmt::format("{}f == {}", condition.empty() ? "" : " || ", input);
  }
  return condition.empty() ? "false" : condition;
}

std::string stencil_text(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const Tuning& tuning = candidate.tuning();
  const KernelAxes& axes = candidate.shape().axes;
  const StageFacts& facts = problem.facts;
  const AxisMap axis_map = axis_map_of(axes);
  return fmt::format(
      R"(struct Stencil {{
{types}  static constexpr int kInputs = {inputs};
  static constexpr int kOutputs = {outputs};
  static constexpr int kCoefficients = {coefficients};
{reach}{boundaries}
{taps}
  // Inputs that are only read where an output is finished from sums.
  STENCIL_DEVICE static constexpr bool late([[maybe_unused]] int f) {{ return {late}; }}

{update}{sums}}};
)",
      fmt::arg("types", type_members(candidate)), fmt::arg("inputs", facts.inputs.size()),
      fmt::arg("outputs", facts.outputs.size()), fmt::arg("coefficients", problem.stencil.coefficients.size()),
      fmt::arg("reach", reach_members(axes.reach)), fmt::arg("boundaries", boundary_members(axes)),
      fmt::arg("taps", tap_members(facts, axes.reach, axis_map)),
      fmt::arg("update", update_member(problem.stencil, problem.stencil.stages[static_cast<std::size_t>(problem.stage)],
                                       facts, axis_map)),
      fmt::arg("late", late_text(problem, tuning)),
      fmt::arg("sums", tuning.keeps == Keeps::sums ? plane_sums_text(problem, axis_map) : std::string()));
}

/// Each parameter of the family, and what else its template needs.
std::string tuning_text(const Candidate& candidate) {
  std::string text = fmt::format("// {}\nstruct Tuning : stencil_tune::TuningDefaults {{\n", code(candidate.tuning()));
  for (const Parameter& parameter : candidate.family().parameters) {
    text += constant_text(parameter, parameter.get(candidate.tuning()));
  }
  return text + candidate.family().constants(candidate) + "};\n";
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

KernelSource generate(const Candidate& candidate, std::string_view entry) {
  const bool identifier =
      !entry.empty() && std::isdigit(static_cast<unsigned char>(entry[0])) == 0 &&
      std::all_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!identifier) {
    throw Error(ErrorCode::invalid_argument, fmt::format("kernel name '{}' is not a C identifier", entry));
  }
  const Tuning& tuning = candidate.tuning();
  const KernelTemplate kernel = candidate.family().kernel_template(tuning);
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
      fmt::arg("file", kernel.file), fmt::arg("entry", entry),
      fmt::arg("stencil", candidate.shape().system.levels.empty() ? stencil_text(candidate) : system_text(candidate)),
      fmt::arg("tuning", tuning_text(candidate)),
      fmt::arg("arguments", candidate.shape().uses_tensor_maps ? "CopyArguments" : "Arguments"),
      fmt::arg("cluster", tuning.cluster > 1 ? fmt::format("STENCIL_CLUSTER({}) ", tuning.cluster) : std::string()),
      fmt::arg("threads", candidate.shape().threads),
      fmt::arg("min_blocks", tuning.min_blocks > 0 ? fmt::format(", {}", tuning.min_blocks) : std::string()),
      fmt::arg("function", kernel.function));
  return source;
}

}  // namespace stencil_tune
