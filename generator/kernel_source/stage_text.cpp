#include "generator/kernel_source/stage_text.hpp"

#include "generator/kernel_source/launch.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace stencil_tune {
namespace {

std::string boundary_text(Boundary boundary) { return fmt::format("stencil_tune::Boundary::{}", name(boundary)); }

}  // namespace

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
    default:
      return "stencil_tune::AnyCell";
  }
}

AxisMap axis_map_of(const KernelAxes& axes) {
  AxisMap axis_map{0, 1, 2};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (axes.grid_axis[axis] >= 0) axis_map[static_cast<std::size_t>(axes.grid_axis[axis])] = static_cast<int>(axis);
  }
  return axis_map;
}

std::string type_members(const Candidate& candidate) {
  const ElementType type = candidate.problem().type;
  const bool is_mixed = has_storage_types(candidate.problem());
  return fmt::format(
      "  using Storage = {};\n"
      "  using Value = {};\n"
      "  using Index = {};\n",
      is_mixed ? "stencil_tune::AnyCell" : storage_type(type), type == ElementType::f64 ? "double" : "float",
      candidate.shape().wide_index ? "long long" : "int");
}

std::string storage_members(const Problem& problem, const std::vector<int>& inputs, const std::vector<int>& outputs) {
  if (!has_storage_types(problem)) return {};
  const auto member = [&](std::string_view name, const std::vector<int>& fields) {
    std::string types;
    for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
      types += fmt::format("i == {} ? CellType::{} : ", i, stencil_tune::name(storage_of(problem, fields[i])));
    }
    const ElementType last = fields.empty() ? problem.type : storage_of(problem, fields.back());
    return fmt::format(
        "  STENCIL_DEVICE static constexpr stencil_tune::CellType {}_type([[maybe_unused]] int i) {{\n"
        "    using stencil_tune::CellType;\n"
        "    return {}CellType::{};\n"
        "  }}\n",
        name, types, stencil_tune::name(last));
  };
  std::vector<int> profiles;
  for (const Profile& profile : problem.stencil.profiles) profiles.push_back(profile.field);
  return "  // What cells of each array are stored in.\n" + member("input", inputs) + member("output", outputs) +
         member("profile", profiles);
}

std::string coefficient_constants(const Problem& problem) {
  const std::size_t own = problem.stencil.coefficients.size();
  if (!problem.facts.placed) return fmt::format("kCoefficients = {}", own);
  const std::size_t place = place_bytes(problem) / (problem.type == ElementType::f64 ? sizeof(double) : sizeof(float));
  return fmt::format("kPlace = {}, kCoefficients = {}", own, own + place);
}

std::string axis_read_members(const Problem& problem, const AxisMap& axis_map) {
  if (!problem.facts.placed) return {};
  std::set<std::string> reads;
  for (const Node& node : problem.stencil.nodes) {
    if (node.op != Operation::profile && node.op != Operation::in_layer) continue;
    const bool is_layer = node.op == Operation::in_layer;
    const std::vector<int> along =
        is_layer ? std::vector<int>{node.index} : axes_of(profile_along(problem.stencil, node.index));
    if (along.size() != 1) continue;
    const std::size_t axis = at(along.front());
    const std::string profile =
        is_layer ? "stencil_tune::kLayer" : std::to_string(profile_number(problem.stencil, node.index));
    reads.insert(fmt::format("{{{}, {}, {}}}", profile, axis_map[axis], node.offset[axis]));
  }
  const std::size_t count = reads.size(), profiles = problem.stencil.profiles.size();
  if (reads.empty()) reads.insert("{0, 2, 0}");  // an array of none has one
  return fmt::format(
      "  // What updates read along axes: of which profile, along which axis, how far from the cell.\n"
      "  static constexpr stencil_tune::AxisRead kAxisReads[] = {{{}}};\n"
      "  static constexpr int kAxisReadCount = {}, kBeforeLayers = {};\n",
      fmt::join(reads, ", "), count, profiles + rows_before(problem.stencil, profiles));
}

std::string layer_array_members(const Problem& problem, const std::vector<int>& inputs, const std::vector<int>& outputs,
                                const AxisMap& axis_map) {
  if (!has_slabs(problem)) return {};
  const auto axes = [&](const std::vector<int>& fields) {
    std::vector<int> of_fields;
    for (const int field : fields) {
      const int axis = layer_axis(problem.stencil, field);
      of_fields.push_back(axis < 0 ? -1 : axis_map[at(axis)]);
    }
    return of_fields;
  };
  return fmt::format(
      "  // The axis in whose layers an input, an output exists, whose array holds these alone; -1: it is the whole "
      "grid's.\n"
      "  static constexpr int kInputLayers[] = {{{}}};\n"
      "  static constexpr int kOutputLayers[] = {{{}}};\n",
      fmt::join(axes(inputs), ", "), fmt::join(axes(outputs), ", "));
}

std::string reach_members(const std::array<Reach, kMaxRank>& reach) {
  return fmt::format(
      "  // How far the taps reach below and above a cell on each axis.\n"
      "  static constexpr int kLowX = {}, kHighX = {}, kLowY = {}, kHighY = {}, kLowZ = {}, kHighZ = {};\n",
      -reach[0].low, reach[0].high, -reach[1].low, reach[1].high, -reach[2].low, reach[2].high);
}

std::string boundary_members(const KernelAxes& axes) {
  return fmt::format("  static constexpr stencil_tune::Boundary kBoundaryX = {}, kBoundaryY = {}, kBoundaryZ = {};\n",
                     boundary_text(axes.boundaries[0]), boundary_text(axes.boundaries[1]),
                     boundary_text(axes.boundaries[2]));
}

std::string using_directive(std::string_view statements) {
  for (std::size_t open = statements.find('('); open != std::string_view::npos; open = statements.find('(', open + 1)) {
    std::size_t name = open;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (name > 0 && is_word(statements[name - 1])) --name;
    if (name < open && statements.substr(name, open - name) != "u") return "    using namespace stencil_tune;\n";
  }
  return {};
}

std::string update_member(const Stencil& stencil, int stage, const StageFacts& facts, const AxisMap& axis_map) {
  const std::string statements = update_text(stencil, stage, facts, axis_map);
  const bool weighs = statements.find("c[") != std::string::npos;
  return fmt::format(
      R"(  // u(input, dx, dy, dz) is a cell of an input, c[i] a coefficient.
  template <class Cells>
  STENCIL_DEVICE static void update(const Cells& u, const Value* c, Value (&out)[kOutputs]) {{
{}{}{}  }}
)",
      using_directive(statements), statements, weighs ? "" : "    (void)c;\n");
}

}  // namespace stencil_tune
