// The self-check and benchmark of an exported file: constants of the kernel and its plain reference, then code that is
// the same in all files (self_check/).
#include "generator/candidates/family.hpp"
#include "generator/stencil/indices.hpp"
#include "runtime/export/export.hpp"
#include "runtime/export/self_check.hpp"
#include "runtime/export/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace stencil_tune {

namespace {

/// Between the element type and double.
std::string_view conversions(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return "double widen(double cell) { return cell; }\nvoid narrow(double value, double& cell) { cell = value; }\n";
    case ElementType::f32:
      return "double widen(float cell) { return cell; }\n"
             "void narrow(double value, float& cell) { cell = static_cast<float>(value); }\n";
    case ElementType::f16:
      return "double widen(__half cell) { return __half2float(cell); }\n"
             "void narrow(double value, __half& cell) { cell = __float2half(static_cast<float>(value)); }\n";
    case ElementType::bf16:
      return "double widen(__nv_bfloat16 cell) { return __bfloat162float(cell); }\n"
             "void narrow(double value, __nv_bfloat16& cell) { cell = __float2bfloat16(static_cast<float>(value)); }\n";
    default:
      return {};
  }
}

/// Unit roundoff of cells where kernels compute in more; else 0.
std::string_view storage_unit(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return "0x1p-11";
    case ElementType::bf16:
      return "0x1p-8";
    default:
      return "0";
  }
}

constexpr std::string_view kIncludes =
    "#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <memory>\n"
    "#include <random>\n#include <vector>\n";

/// The layers that boundary hold keeps of reads that reach so far, for each axis.
std::string held_text(const Problem& problem, const std::array<Reach, kMaxRank>& farthest) {
  std::vector<std::string> axes;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const bool held = axis < at(problem.extents.rank) && problem.boundaries[axis] == Boundary::hold;
    axes.push_back(fmt::format("{{{}, {}}}", held ? -farthest[axis].low : 0, held ? farthest[axis].high : 0));
  }
  return fmt::format("{{{}}}", fmt::join(axes, ", "));
}

/// What the numbers of the reference are made of.
std::string number_constants(const Problem& problem, const ExportSignature& signature) {
  std::vector<std::string> values, boundaries;
  for (const Coefficient& c : problem.stencil.coefficients) values.push_back(fmt::format("{:a}", c.value));
  if (values.empty()) values.emplace_back("0");
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    boundaries.emplace_back(axis < at(problem.extents.rank) ? name(problem.boundaries[axis]) : "hold");
  }
  const bool doubles = problem.type == ElementType::f64;
  return fmt::format(
      R"(using Cell = {cell};
using Computed = {computed};  // what kernels compute in
{conversions}
constexpr double kUnit = {unit};  // unit roundoff of Computed
constexpr double kStorageUnit = {storage};  // the same of cells, where they have another
[[maybe_unused]] constexpr double kCoefficients[] = {{{values}}};
[[maybe_unused]] constexpr long long kOrigin[3] = {{{origin}}};
constexpr long long kFirstStep = {first_step};

enum Boundary {{ hold, zero, clamp, periodic, reflect }};
constexpr Boundary kBoundaries[3] = {{{boundaries}}};

)",
      fmt::arg("cell", signature.cell), fmt::arg("computed", doubles ? "double" : "float"),
      fmt::arg("conversions", conversions(problem.type)), fmt::arg("unit", doubles ? "0x1p-53" : "0x1p-24"),
      fmt::arg("storage", storage_unit(problem.type)), fmt::arg("values", fmt::join(values, ", ")),
      fmt::arg("origin", problem.facts.placed ? "3, 11, 5" : "0, 0, 0"),
      fmt::arg("first_step", problem.facts.placed ? 7 : 0), fmt::arg("boundaries", fmt::join(boundaries, ", ")));
}

std::string launch_constants(const Candidate& candidate, const ExportSignature& signature, const SelfCheck& check) {
  const Problem& problem = candidate.problem();
  const std::vector<Node>& nodes = problem.stencil.nodes;
  const bool bits =
      std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.op == Operation::equal; });
  std::size_t most = 0;
  for (const int stage : check.stages) most = std::max(most, problem.stencil.stages[at(stage)].updates.size());
  return fmt::format(
      R"(
constexpr int kMostOutputs = {most};  // of a stage
constexpr int kSteps = {steps};  // of a launch
constexpr int kFieldsRead = {read}, kFieldsWritten = {written};  // by a launch, of the whole grid
constexpr long long kHeld[3][2] = {held};  // layers at both ends of an axis that no stage writes
constexpr bool kBits = {bits};  // cells are 0 or 1, for updates that ask whether values are equal
)",
      fmt::arg("most", most), fmt::arg("steps", sweeps_per_launch(candidate.tuning())),
      fmt::arg("read", problem.facts.inputs.size()), fmt::arg("written", signature.outputs.size()),
      fmt::arg("held", held_text(problem, problem.facts.farthest)), fmt::arg("bits", bits));
}

/// "constexpr TYPE NAME[] = {row, row};", a row each.
template <class Row, class Text>
std::string table(std::string_view declaration, const std::vector<Row>& all, Text&& text) {
  std::string result = fmt::format("{}[] = {{\n", declaration);
  for (const Row& row : all) result += fmt::format("    {{{}}},\n", text(row));
  return result + "};\n";
}

std::string tables(const Problem& problem, const SelfCheck& check) {
  const Stencil& stencil = problem.stencil;
  const auto result = [&](const CheckedField& each) {
    return fmt::format("{}, {}, {}, \"{}\"", each.field, each.buffer, each.stage,
                       export_name(stencil.fields[at(each.field)]));
  };
  std::string text = table("const Stage kStages", check.stages, [&](int stage) {
    const StageFacts& facts = problem.step.stages[at(stage)].facts;
    std::vector<int> layers;
    for (const int output : facts.outputs) {
      const Intermediate* between = find_intermediate(problem.step, output);
      layers.push_back(between != nullptr ? between->layers_of : output);
    }
    return fmt::format("stage_{}, {}, {{{}}}, {{{}}}, {}", stage, facts.outputs.size(), fmt::join(facts.outputs, ", "),
                       fmt::join(layers, ", "), held_text(problem, facts.farthest));
  });
  text += table("constexpr Place kPlaces", check.places,
                [](const CheckedPlace& place) { return fmt::format("{}, {}", place.along, place.layers_of); });
  text += table("constexpr Buffer kBuffers", check.buffers, [](const CheckedBuffer& buffer) {
    return fmt::format("{}, {}, {}", buffer.place, buffer.is_read, buffer.next);
  });
  text += table("constexpr Result kLaunched", check.launched, result);
  if (!check.advanced.empty()) text += table("constexpr Result kAdvanced", check.advanced, result);
  return text;
}

/// Extents, strides, coefficients and place, as the launcher and NAME_advance take them.
std::string grid_arguments(const Problem& problem) {
  std::string arguments = "n[0], ";
  if (problem.extents.rank >= 2) arguments += "n[1], ";
  if (problem.extents.rank >= 3) arguments += "n[2], ";
  if (problem.extents.rank >= 2) arguments += "pitch, ";
  if (problem.extents.rank >= 3) arguments += "pitch * n[1], ";
  if (!problem.stencil.coefficients.empty()) arguments += "nullptr, ";
  if (problem.facts.placed) arguments += "kOrigin, kFirstStep, ";
  return arguments;
}

std::string calls(const Problem& problem, const ExportSignature& signature, const SelfCheck& check) {
  std::string moves = check.rotations.empty() ? "" : "  const Fields before = fields;\n";
  for (const Rotation& rotation : check.rotations) {
    moves += fmt::format("  fields[{}] = before[{}];\n", rotation.to, rotation.from);
  }
  std::string pointers;
  for (std::size_t i = 0; i < check.buffers.size(); ++i) pointers += fmt::format("buffers[{}], ", i);
  const std::string arguments = grid_arguments(problem);
  std::string text = fmt::format(
      R"(
// After a step some fields become others.
void rotate([[maybe_unused]] Fields& fields) {{
{}}}

cudaError_t launch(Cell* const* buffers, const long long (&n)[3], [[maybe_unused]] long long pitch) {{
  return ::{}({}{}nullptr);
}}
)",
      moves, signature.name, pointers, arguments);
  if (check.advanced.empty()) return text;
  return text + fmt::format(
                    R"(
// The launcher's buffers, in the order of NAME_advance.
cudaError_t advance(Cell** buffers, const long long (&n)[3], [[maybe_unused]] long long pitch, long long steps) {{
  Cell* all[sizeof(kPlaces) / sizeof(kPlaces[0])] = {{}};
  constexpr int count = sizeof(kBuffers) / sizeof(kBuffers[0]);
  for (int i = 0; i < count; ++i) all[kBuffers[i].place] = buffers[i];
  const cudaError_t error = ::{}_advance(all, {}steps, nullptr);
  for (int i = 0; i < count; ++i) buffers[i] = all[kBuffers[i].place];
  return error;
}}
)",
                    signature.name, arguments);
}

std::string entry(const Problem& problem, const ExportSignature& signature, const SelfCheck& check) {
  std::string advance;
  if (!check.advanced.empty()) {
    advance = fmt::format(
        R"(  right = check("{name}_advance", {{{launches}}}, kAdvanced, small, pitch,
                [&](Cell** buffers) {{ return advance(buffers, small, pitch, {steps}); }}) && right;
)",
        fmt::arg("name", signature.name), fmt::arg("launches", fmt::join(check.launches, ", ")),
        fmt::arg("steps", std::accumulate(check.launches.begin(), check.launches.end(), 0)));
  }
  return fmt::format(
      R"(
}}  // namespace

int run() {{
  const long long small[3] = {{{small}}};
  const long long large[3] = {{{large}}};
  constexpr long long pitch = {pitch};
  bool right = check("{name}", {{kSteps}}, kLaunched, small, pitch,
                     [&](Cell** buffers) {{ return launch(buffers, small, pitch); }});
{advance}  if (right) time_launches(large, {large_pitch});
  return right ? 0 : 1;
}}

}}  // namespace {name}_check

int main() {{ return {name}_check::run(); }}
)",
      fmt::arg("name", signature.name), fmt::arg("small", fmt::join(check.extents.n, ", ")),
      fmt::arg("large", fmt::join(problem.extents.n, ", ")), fmt::arg("pitch", round_up(check.extents.n[0], 64)),
      fmt::arg("advance", advance), fmt::arg("large_pitch", problem.pitch));
}

}  // namespace

std::string main_text(const Candidate& candidate, const ExportSignature& signature, const ExportedRun* run) {
  const Problem& problem = candidate.problem();
  const SelfCheck check = self_check(candidate, signature, run);
  // In a namespace of its own: nothing here can be what the launcher is called.
  std::string text = fmt::format("\n{}\nnamespace {}_check {{\nnamespace {{\n\n", kIncludes, signature.name);
  const auto numbers = self_check_files()[0].text, types = self_check_files()[1].text,
             run_text = self_check_files()[2].text;
  text += number_constants(problem, signature) + std::string(numbers);
  for (const int stage : check.stages) text += reference_text(problem.stencil, stage);
  text += launch_constants(candidate, signature, check) + "\n" + std::string(types) + "\n" + tables(problem, check);
  text += calls(problem, signature, check) + "\n" + std::string(run_text);
  return text + entry(problem, signature, check);
}

}  // namespace stencil_tune
