#include "generator/stencil/coefficient_roles.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostPointsNamed = 6;

/// Where one coefficient stands.
struct CoefficientRole {
  std::vector<std::string> points;       ///< those whose weight it is
  std::vector<std::string> part_points;  ///< those whose weight it is a part of
  std::vector<std::string> updates;      ///< fields whose updates are no weighted sums
};

std::vector<int> coefficients_in(const Stencil& stencil, NodeId root) {
  const std::vector<bool> used = reachable(stencil, {root});
  std::vector<int> found;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] && stencil.nodes[i].op == Operation::coefficient) found.push_back(stencil.nodes[i].index);
  }
  return found;
}

void add_weights(const Stencil& stencil, const StageFacts& facts, std::vector<CoefficientRole>& roles) {
  for (const LinearTap& weighted : facts.linear_taps) {
    if (weighted.weight < 0) continue;
    const std::string point = read_text(stencil, weighted.tap);
    const Node& weight = stencil.nodes[at(weighted.weight)];
    if (weight.op == Operation::coefficient) {
      roles[at(weight.index)].points.push_back((weighted.negative ? "-" : "") + point);
    } else {
      for (const int index : coefficients_in(stencil, weighted.weight)) roles[at(index)].part_points.push_back(point);
    }
  }
}

void add_updates(const Stencil& stencil, const Stage& stage, std::vector<CoefficientRole>& roles) {
  for (const Update& update : stage.updates) {
    for (const int index : coefficients_in(stencil, update.expression)) {
      roles[at(index)].updates.push_back(stencil.fields[at(update.output)]);
    }
  }
}

std::string points_text(const std::vector<std::string>& points) {
  const auto named = points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), kMostPointsNamed));
  std::string text = fmt::format("{}", fmt::join(points.begin(), named, ", "));
  if (points.size() > kMostPointsNamed) text += fmt::format(" ... {} points", points.size());
  return text;
}

std::string role_text(const CoefficientRole& role) {
  std::vector<std::string> parts;
  if (!role.points.empty()) parts.push_back("weighs " + points_text(role.points));
  if (!role.part_points.empty()) parts.push_back("in the weights of " + points_text(role.part_points));
  if (!role.updates.empty()) parts.push_back(fmt::format("in the update of {}", fmt::join(role.updates, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string read_text(const Stencil& stencil, const Tap& tap) {
  std::string axes;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (tap.offset[axis] != 0) axes += fmt::format("{}{}{:+}", axes.empty() ? "" : ",", "xyz"[axis], tap.offset[axis]);
  }
  const std::string& field = stencil.fields[at(tap.field)];
  return axes.empty() ? field : fmt::format("{}[{}]", field, axes);
}

std::vector<std::string> coefficient_roles(const Stencil& stencil) {
  std::vector<CoefficientRole> roles(stencil.coefficients.size());
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
    const StageFacts facts = analyse(stencil, stage);
    if (facts.linear_taps.empty()) {
      add_updates(stencil, stencil.stages[at(stage)], roles);
    } else {
      add_weights(stencil, facts, roles);
    }
  }
  std::vector<std::string> texts;
  for (const CoefficientRole& role : roles) texts.push_back(role_text(role));
  return texts;
}

}  // namespace stencil_tune
