#include "generator/stencil/describe.hpp"

#include "generator/stencil/coefficient_roles.hpp"
#include "generator/stencil/indices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostPlanesDrawn = 5;

/// The points of one field.
struct FieldShape {
  std::set<Offset> points;
  std::array<Reach, kMaxRank> reach;
};

FieldShape shape_of(const StageFacts& facts, int field) {
  FieldShape shape;
  for (const Tap& tap : facts.taps) {
    if (tap.field == field) shape.points.insert(tap.offset);
  }
  const auto input = std::find(facts.inputs.begin(), facts.inputs.end(), field);
  if (input != facts.inputs.end()) shape.reach = facts.reach[static_cast<std::size_t>(input - facts.inputs.begin())];
  return shape;
}

std::vector<std::string> draw_plane(const FieldShape& shape, int z) {
  std::vector<std::string> rows;
  for (int y = shape.reach[1].high; y >= shape.reach[1].low; --y) {
    std::string row;
    for (int x = shape.reach[0].low; x <= shape.reach[0].high; ++x) {
      const bool read = shape.points.contains({x, y, z});
      const bool centre = x == 0 && y == 0 && z == 0;
      if (!row.empty()) row += ' ';
      row += centre ? (read ? 'O' : '+') : (read ? 'o' : '.');
    }
    rows.push_back(row);
  }
  return rows;
}

/// Planes in order of z; a run of planes that look alike is one, titled with its range.
struct Plane {
  int first;
  int last;
  std::vector<std::string> rows;

  std::string title() const {
    return first == last ? fmt::format("z={}", first) : fmt::format("z={}..{}", first, last);
  }
};

std::vector<Plane> draw_planes(const FieldShape& shape) {
  std::vector<Plane> planes;
  for (int z = shape.reach[2].low; z <= shape.reach[2].high; ++z) {
    std::vector<std::string> rows = draw_plane(shape, z);
    if (!planes.empty() && planes.back().rows == rows) {
      planes.back().last = z;
    } else {
      planes.push_back({z, z, std::move(rows)});
    }
  }
  return planes;
}

std::string side_by_side(const std::vector<Plane>& planes) {
  std::string text;
  const std::size_t height = planes[0].rows.size();
  for (std::size_t row = 0; row <= height; ++row) {
    std::string line;
    for (const Plane& plane : planes) {
      const std::size_t width = std::max(plane.rows[0].size(), plane.title().size()) + 3;
      line += fmt::format("{:<{}}", row == 0 ? plane.title() : plane.rows[row - 1], width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string indent(const std::string& text, std::string_view by) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    result += fmt::format("{}{}", by, text.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

std::string reach_text(const Reach& reach) {
  return -reach.low == reach.high ? fmt::format("{}", reach.high) : fmt::format("{}..{}", reach.low, reach.high);
}

std::string describe_inputs(const Stencil& stencil, const StageFacts& facts) {
  std::string text;
  for (std::size_t i = 0; i < facts.inputs.size(); ++i) {
    const int field = facts.inputs[i];
    const auto points =
        std::count_if(facts.taps.begin(), facts.taps.end(), [&](const Tap& t) { return t.field == field; });
    text += fmt::format("  reads {}: {} point{}", stencil.fields[at(field)], points, points == 1 ? "" : "s");
    const std::array<Reach, kMaxRank>& reach = facts.reach[i];
    if (std::all_of(reach.begin(), reach.end(), [](const Reach& r) { return r == Reach{}; })) {
      text += " (the centre)\n";
      continue;
    }
    text += ", reach";
    for (int axis = 0; axis < stencil.rank; ++axis)
      text += fmt::format(" {} {}", "xyz"[axis], reach_text(reach[at(axis)]));
    text += "\n" + indent(picture(facts, stencil.rank, field), "    ");
  }
  return text;
}

std::string describe_stage(const Stencil& stencil, int stage) {
  const StageFacts facts = analyse(stencil, stage);
  std::vector<std::string> outputs;
  for (const int field : facts.outputs) outputs.push_back(stencil.fields[at(field)]);
  std::string text = fmt::format("stage {}: writes {}\n", stage, fmt::join(outputs, ", "));
  text += describe_inputs(stencil, facts);
  std::vector<int> radius(facts.radius.begin(), facts.radius.begin() + stencil.rank);
  text += fmt::format("  points      {}\n", facts.taps.size());
  text += fmt::format("  radius      {}\n", fmt::join(radius, " x "));
  text += fmt::format("  shape       {}\n", facts.star ? "star (every point on an axis)" : "points off the axes");
  text += fmt::format("  linear      {}\n", facts.linear ? "yes, a weighted sum" : "no");
  text += fmt::format("  operations  {} per update\n", facts.operations);
  text += fmt::format("  bytes       {} (f32), {} (f64) per update at least: {} read, {} written\n",
                      least_bytes(stencil, facts, ElementType::f32), least_bytes(stencil, facts, ElementType::f64),
                      facts.inputs.size(), facts.outputs.size());
  return text;
}

std::string describe_coefficients(const Stencil& stencil) {
  constexpr std::size_t kMostShown = 512;
  const std::vector<Coefficient>& all = stencil.coefficients;
  if (all.empty()) return "";
  const std::vector<std::string> roles = coefficient_roles(stencil);
  std::size_t width = 0;
  for (const Coefficient& coefficient : all) width = std::max(width, coefficient.name.size());
  std::string text = "coefficients, in the order in which launches take them:\n";
  for (std::size_t i = 0; i < std::min(all.size(), kMostShown); ++i) {
    text += fmt::format("  {:<{}} = {:<12.6g} {}\n", all[i].name, width, all[i].value, roles[i]);
  }
  if (all.size() > kMostShown) text += fmt::format("  ... {} in all\n", all.size());
  return text;
}

/// What the definition says of its edges: in the axes' own words, and whether updates say more.
std::string boundary_text(const Stencil& stencil) {
  std::vector<std::string> axes;
  for (std::size_t axis = 0; axis < at(stencil.rank); ++axis) {
    if (stencil.boundary[axis]) axes.push_back(fmt::format("{} {}", "xyz"[axis], name(*stencil.boundary[axis])));
  }
  if (axes.empty()) return "";
  const bool more = std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [](const Node& node) {
    return node.op == Operation::before || node.op == Operation::after;
  });
  return fmt::format("beyond the edges: {}{}\n", fmt::join(axes, ", "),
                     more ? "; the updates change what some reads find there" : "");
}

}  // namespace

std::size_t least_bytes(const Stencil& stencil, const StageFacts& facts, ElementType type) {
  std::size_t bytes = 0;
  for (const std::vector<int>* fields : {&facts.inputs, &facts.outputs}) {
    for (const int field : *fields) bytes += size_of(storage_of(stencil, field, type));
  }
  return bytes;
}

std::string declared_name(const Stencil& stencil, int field) {
  if (const int axis = layer_axis(stencil, field); axis >= 0) {
    return fmt::format("{}({} in layer)", stencil.fields[at(field)], "xyz"[axis]);
  }
  const Along along = profile_along(stencil, field);
  return along == 0 ? stencil.fields[at(field)] : fmt::format("{}({})", stencil.fields[at(field)], along_text(along));
}

std::string picture(const StageFacts& facts, int rank, int field) {
  const FieldShape shape = shape_of(facts, field);
  std::vector<Plane> planes = draw_planes(shape);
  if (rank == 3 && planes.size() <= kMostPlanesDrawn) return side_by_side(planes);
  const auto middle =
      std::find_if(planes.begin(), planes.end(), [](const Plane& p) { return p.first <= 0 && p.last >= 0; });
  if (rank == 3) {
    return side_by_side({*middle}) +
           fmt::format("({} more planes, z from {} to {})\n",
                       shape.reach[2].high - shape.reach[2].low - (middle->last - middle->first), shape.reach[2].low,
                       shape.reach[2].high);
  }
  std::string text;
  for (const std::string& row : planes[0].rows) text += row + "\n";
  return text;
}

std::string describe(const Stencil& stencil) {
  std::string text = fmt::format("{}: rank {}, {} stage{}, key {}\n", stencil.name, stencil.rank, stencil.stages.size(),
                                 stencil.stages.size() == 1 ? "" : "s", stencil_key(stencil));
  std::vector<std::string> fields;
  for (std::size_t field = 0; field < stencil.fields.size(); ++field) {
    fields.push_back(declared_name(stencil, static_cast<int>(field)));
  }
  text += fmt::format("fields: {}\n", fmt::join(fields, ", "));
  for (const FieldStorage& storage : stencil.storages) {
    text += fmt::format("{} is stored as {}\n", declared_name(stencil, storage.field), name(storage.type));
  }
  text += describe_coefficients(stencil);
  if (stencil.element) text += fmt::format("element type: {}\n", name(*stencil.element));
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) text += describe_stage(stencil, stage);
  text += boundary_text(stencil);
  if (const std::string rotations = rotations_text(stencil); !rotations.empty()) text += rotations + "\n";
  for (const Hold& hold : stencil.holds) {
    text += fmt::format("held layers of {} are those of {}\n", stencil.fields[at(hold.field)],
                        stencil.fields[at(hold.layers_of)]);
  }
  const std::vector<std::string> measures = measure_names(stencil);
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const std::string_view how = name(stencil.measures->reductions[i]);
    text += fmt::format("{}{} ({})", i == 0 ? "measures: " : ", ", measures[i], how);
  }
  return measures.empty() ? text : text + "\n";
}

std::string rotations_text(const Stencil& stencil) {
  std::string text;
  for (const auto& [from, to] : stencil.rotations) {
    text += fmt::format("{} {} becomes {}", text.empty() ? "after a step:" : ",", stencil.fields[at(from)],
                        stencil.fields[at(to)]);
  }
  return text;
}

std::string held_text(const Problem& problem) {
  std::vector<std::string> axes;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.extents.rank); ++axis) {
    const auto [low, high] = held_layers(problem, axis);
    if (low == 0 && high == 0) continue;
    std::string ends = fmt::format("{} at the low and {} at the high end", low, high);
    if (low == high) ends = fmt::format("{} at each end", low);
    if (high == 0) ends = fmt::format("{} at the low end", low);
    if (low == 0) ends = fmt::format("{} at the high end", high);
    axes.push_back(fmt::format("{} of {}", ends, "xyz"[axis]));
  }
  return fmt::format("{}", fmt::join(axes, ", "));
}

}  // namespace stencil_tune
