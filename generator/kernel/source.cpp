#include "generator/kernel/source.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel/plane_sums.hpp"
#include "generator/kernel/update_text.hpp"
#include "generator/stencil/sum_parts.hpp"
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

std::string boundary_text(Boundary boundary) { return fmt::format("stencil_tune::Boundary::{}", name(boundary)); }

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
      fmt::arg("index", candidate.shape().wide_index ? "long long" : "int"), fmt::arg("inputs", facts.inputs.size()),
      fmt::arg("outputs", facts.outputs.size()), fmt::arg("coefficients", problem.stencil.coefficients.size()),
      fmt::arg("lx", -reach[0].low), fmt::arg("hx", reach[0].high), fmt::arg("ly", -reach[1].low),
      fmt::arg("hy", reach[1].high), fmt::arg("lz", -reach[2].low), fmt::arg("hz", reach[2].high),
      fmt::arg("bx", boundary_text(axes.boundaries[0])), fmt::arg("by", boundary_text(axes.boundaries[1])),
      fmt::arg("bz", boundary_text(axes.boundaries[2])), fmt::arg("taps", TapTable(problem, axes, axis_map).text()),
      fmt::arg("update", update_text(problem.stencil, problem.stencil.stages[static_cast<std::size_t>(problem.stage)],
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
      fmt::arg("file", kernel.file), fmt::arg("entry", entry), fmt::arg("stencil", stencil_text(candidate)),
      fmt::arg("tuning", tuning_text(candidate)),
      fmt::arg("arguments", candidate.shape().uses_tensor_maps ? "CopyArguments" : "Arguments"),
      fmt::arg("cluster", tuning.cluster > 1 ? fmt::format("STENCIL_CLUSTER({}) ", tuning.cluster) : std::string()),
      fmt::arg("threads", candidate.shape().threads),
      fmt::arg("min_blocks", tuning.min_blocks > 0 ? fmt::format(", {}", tuning.min_blocks) : std::string()),
      fmt::arg("function", kernel.function));
  return source;
}

}  // namespace stencil_tune
