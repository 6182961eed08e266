#include "generator/kernel_source/plane_sums.hpp"

#include "generator/kernel_source/regroup.hpp"
#include "generator/kernel_source/stage_text.hpp"
#include "generator/kernel_source/update_text.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/sum_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stencil_tune {
namespace {

/// What adds to a sum in one plane.
struct PlaneTerms {
  std::vector<LinearTap> taps;         ///< single cells, row by row
  std::vector<EquallyWeighted> whole;  ///< what weights are not distributed over
};

PlaneTerms terms_of_plane(const Stencil& stencil, const std::vector<LinearTerm>& terms) {
  PlaneTerms plane;
  for (const LinearTerm& term : terms) {
    const Node& node = stencil.nodes[at(term.node)];
    if (node.op == Operation::read) {
      plane.taps.push_back({{node.index, node.offset}, term.weight, term.negative});
    } else {
      plane.whole.push_back({term.weight, term.node, term.negative});
    }
  }
  std::sort(plane.taps.begin(), plane.taps.end(),
            [](const LinearTap& a, const LinearTap& b) { return comes_before(a.tap, b.tap); });
  return plane;
}

/// Whether adding cells of equal weight first takes fewer instructions than a multiply-add a cell: where outputs of a
/// tile, or the outputs in several planes that one plane adds to, then have sums in common. Stars have none, and need
/// fewer registers when they take one row at a time (order 8: 162 and none spilled, for 168 and some; nvcc 13.0).
bool share_sums(StencilBuilder scratch, const std::map<int, PlaneTerms>& planes, std::size_t walked_axis) {
  std::vector<NodeId> roots;
  std::size_t cells = 0;
  for (const auto& [dz, plane] : planes) {
    cells += plane.taps.size();
    std::vector<LinearTap> taps = plane.taps;
    for (LinearTap& tap : taps) tap.tap.offset[walked_axis] = 0;
    for (const EquallyWeighted& part : sum_by_weight(scratch, taps)) roots.push_back(part.sum);
  }
  return at(operations_in_tile(scratch.stencil(), roots)) + roots.size() < cells;
}

std::vector<EquallyWeighted> one_by_one(StencilBuilder& builder, const std::vector<LinearTap>& taps) {
  std::vector<EquallyWeighted> parts;
  for (const LinearTap& tap : taps) {
    parts.push_back({tap.weight, builder.read(tap.tap.field, tap.tap.offset), tap.negative});
  }
  return parts;
}

/// The statements by which the planes at offset dz add to the sums, by dz. In each, single cells come first.
std::map<int, std::vector<Assignment>> plane_statements(SumParts& parts, std::size_t walked_axis) {
  std::map<int, std::vector<Assignment>> statements;
  for (std::size_t k = 0; k < parts.sums.size(); ++k) {
    std::map<int, PlaneTerms> planes;
    for (const auto& [dz, terms] : parts.sums[k]) planes[dz] = terms_of_plane(parts.builder.stencil(), terms);
    const bool grouped = share_sums(parts.builder, planes, walked_axis);
    bool first = true;
    for (const auto& [dz, plane] : planes) {
      auto weighted = grouped ? sum_by_weight(parts.builder, plane.taps) : one_by_one(parts.builder, plane.taps);
      weighted.insert(weighted.end(), plane.whole.begin(), plane.whole.end());
      for (const EquallyWeighted& part : weighted) {
        const NodeId product = times_weight(parts.builder, part.weight, part.sum);
        const NodeId value = first && part.negative ? parts.builder.apply(Operation::negate, product) : product;
        const std::string_view how = first ? "=" : part.negative ? "-=" : "+=";
        statements[dz].push_back({fmt::format("sum[{}] {}", k, how), value});
        first = false;
      }
    }
  }
  return statements;
}

/// Two spaces before each line.
std::string indented(const std::string& lines) {
  std::string result;
  bool at_start = true;
  for (const char c : lines) {
    if (at_start) result += "  ";
    result += c;
    at_start = c == '\n';
  }
  return result;
}

}  // namespace

std::string plane_sums_text(const Problem& problem, const AxisMap& axes) {
  const auto walked = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), 2) - axes.begin());
  SumParts parts = split_into_sums(problem, walked);
  const auto planes = plane_statements(parts, walked);
  const int first_sum = static_cast<int>(problem.stencil.fields.size());

  std::string text = fmt::format(
      R"(  // Sums of taps that lie in several planes, and what is made of them: see PlaneSums.
  static constexpr int kSums = {};
  template <int kDz, class Input>
  STENCIL_DEVICE static void add_plane(const Input& u, [[maybe_unused]] const Value* c, Value (&sum)[kSums]) {{
)",
      parts.sums.size());
  std::string added;
  for (const auto& [dz, statements] : planes) {
    added +=
        fmt::format("    if constexpr (kDz == {}) {{\n{}    }}\n", dz,
                    indented(statements_text(parts.builder.stencil(), statements, problem.facts, axes, first_sum)));
  }
  text += using_directive(added) + added;
  std::vector<Assignment> finish;
  for (std::size_t o = 0; o < parts.finish.size(); ++o) {
    finish.push_back({fmt::format("out[{}] =", o), parts.finish[o].expression});
  }
  const std::string finished = statements_text(parts.builder.stencil(), finish, problem.facts, axes, first_sum);
  const bool reads = finished.find("u(") != std::string::npos || finished.find("u.") != std::string::npos;
  const bool weighs = finished.find("c[") != std::string::npos;
  return text + fmt::format(
                    R"(  }}
  template <class Input>
  STENCIL_DEVICE static void finish(const Input&{}, const Value*{}, const Value (&sum)[kSums], Value (&out)[kOutputs]) {{
{}{}  }}
)",
                    reads ? " u" : "", weighs ? " c" : "", using_directive(finished), finished);
}

}  // namespace stencil_tune
