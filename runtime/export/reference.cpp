#include "generator/stencil/rewriting/linear.hpp"
#include "runtime/export/text.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace stencil_tune {

namespace {

std::string operand(const Node& node, std::size_t i) { return fmt::format("v[{}]", node.operands[i]); }

std::string random_expression(const Stencil& stencil, const Node& node) {
  std::string counter;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool there = axis < static_cast<std::size_t>(stencil.rank);
    counter += there ? fmt::format("kOrigin[{}] + {} + {}, ", axis, "xyz"[axis], node.offset[axis]) : "0, ";
  }
  const auto key = static_cast<unsigned long long>(node.value);
  const std::string seed = node.index < 0
                               ? fmt::format("{}", key & 0xffffffffu)
                               : fmt::format("static_cast<long long>(as_computed(kCoefficients[{}]))", node.index);
  return fmt::format("random_number({{{}t}}, {}, {})", counter, seed, key >> 32);
}

/// What the node reads: a field's cell or a number that follows from the cell's place.
std::string place_expression(const Stencil& stencil, const Node& node) {
  const int axis = node.index;
  const auto index = [&](int on) {
    return fmt::format("{} + {}", "xyz"[on], node.offset[static_cast<std::size_t>(on)]);
  };
  const auto along = [&] { return index(axis); };
  switch (node.op) {
    case Operation::read:
      return fmt::format("read(f[{}], n, x + {}, y + {}, z + {})", node.index, node.offset[0], node.offset[1],
                         node.offset[2]);
    case Operation::profile: {
      const Along profile = profile_along(stencil, node.index);
      if (profile == kAlongTime) return fmt::format("f[{}][static_cast<std::size_t>(t)]", node.index);
      const std::vector<int> axes = axes_of(profile);
      std::vector<std::string> places;
      for (const int on : axes) places.push_back(index(on));
      return fmt::format("read_along({}, f[{}], n, {})", fmt::join(axes, ", "), node.index, fmt::join(places, ", "));
    }
    case Operation::coordinate:
      return fmt::format("static_cast<double>(kOrigin[{}] + {})", axis, along());
    case Operation::step:
      return "static_cast<double>(t)";
    case Operation::random:
      return random_expression(stencil, node);
    case Operation::before:
      return fmt::format("std::fmax(0.0, static_cast<double>(-({})))", along());
    case Operation::after:
      return fmt::format("std::fmax(0.0, static_cast<double>({} - (n[{}] - 1)))", along(), axis);
    case Operation::outside:
      return node.value == 0 ? "0.0" : place_expression(stencil, settled_outside(node));
    case Operation::in_layer: {
      const auto at = static_cast<std::size_t>(axis);
      const LayerWidths widths = stencil.layers.value_or(LayerWidths{});
      std::vector<std::string> ends;
      if (widths.low[at] > 0) ends.push_back(fmt::format("{} < {}", along(), widths.low[at]));
      if (widths.high[at] > 0) ends.push_back(fmt::format("{} >= n[{}] - {}", along(), axis, widths.high[at]));
      return ends.empty() ? "0.0" : fmt::format("({} ? 1.0 : 0.0)", fmt::join(ends, " || "));
    }
    default:
      throw Error(ErrorCode::internal, fmt::format("stencil '{}' has an operation unknown here", stencil.name));
  }
}

/// The node's value in C++, over the values v[] of the nodes before it. What a kernel rounds goes through op().
std::string expression(const Stencil& stencil, const Node& node) {
  const auto a = [&] { return operand(node, 0); };
  const auto b = [&] { return operand(node, 1); };
  const auto rounded = [](const std::string& text) { return fmt::format("op({})", text); };
  const auto compared = [&](const char* sign) { return fmt::format("decided({0} {1} {2}, {0}, {2})", a(), sign, b()); };
  switch (node.op) {
    case Operation::number:
      return fmt::format("as_computed({:a})", node.value);
    case Operation::coefficient:
      return fmt::format("as_computed(kCoefficients[{}])", node.index);
    case Operation::negate:
      return "-" + a();
    case Operation::absolute:
      return fmt::format("std::fabs({})", a());
    case Operation::square_root:
      return rounded(fmt::format("std::sqrt({})", a()));
    case Operation::exponential:
      return rounded(fmt::format("std::exp({})", a()));
    case Operation::add:
      return rounded(a() + " + " + b());
    case Operation::subtract:
      return rounded(a() + " - " + b());
    case Operation::multiply:
      return rounded(a() + " * " + b());
    case Operation::divide:
      return rounded(a() + " / " + b());
    case Operation::minimum:
      return fmt::format("least({}, {})", a(), b());
    case Operation::maximum:
      return fmt::format("most({}, {})", a(), b());
    case Operation::less:
      return compared("<");
    case Operation::less_equal:
      return compared("<=");
    case Operation::equal:
      return compared("==");
    case Operation::select:
      return fmt::format("chosen({}, {}, {})", a(), b(), operand(node, 2));
    case Operation::sine:
      return rounded(fmt::format("std::sin({})", a()));
    case Operation::cosine:
      return rounded(fmt::format("std::cos({})", a()));
    case Operation::tangent:
      return rounded(fmt::format("std::tan({})", a()));
    case Operation::hyperbolic_tangent:
      return rounded(fmt::format("std::tanh({})", a()));
    case Operation::logarithm:
      return rounded(fmt::format("std::log({})", a()));
    case Operation::power:
      return rounded(fmt::format("std::pow({}, {})", a(), b()));
    case Operation::floor:
      return fmt::format("floored({})", a());
    case Operation::round:
      return fmt::format("nearest({})", a());
    case Operation::modulo:
      return rounded(fmt::format("modulo({}, {})", a(), b()));
    default:
      return place_expression(stencil, node);
  }
}

/// Nodes that the stage's updates use, in the order they are evaluated.
std::vector<bool> used_nodes(const Stencil& stencil, const Stage& stage) {
  std::vector<bool> used(stencil.nodes.size(), false);
  for (const Update& update : stage.updates) used[static_cast<std::size_t>(update.expression)] = true;
  for (std::size_t i = used.size(); i-- > 0;) {
    if (!used[i]) continue;
    for (int o = 0; o < operand_count(stencil.nodes[i].op); ++o) {
      used[static_cast<std::size_t>(stencil.nodes[i].operands[static_cast<std::size_t>(o)])] = true;
    }
  }
  return used;
}

}  // namespace

std::string reference_text(const Stencil& stencil, int stage) {
  const Stage& updated = stencil.stages[static_cast<std::size_t>(stage)];
  std::string nodes;
  const std::vector<bool> used = used_nodes(stencil, updated);
  for (std::size_t i = 0; i < stencil.nodes.size(); ++i) {
    if (used[i]) nodes += fmt::format("  v[{}] = {};\n", i, expression(stencil, stencil.nodes[i]));
  }
  std::string outputs;
  for (std::size_t i = 0; i < updated.updates.size(); ++i) {
    outputs += fmt::format("  out[{}] = v[{}];\n", i, updated.updates[i].expression);
  }
  return fmt::format(
      R"(
// What cell (x, y, z) becomes in stage {stage}, one operation a line.
void stage_{stage}([[maybe_unused]] const Fields& f, [[maybe_unused]] const long long (&n)[3],
             [[maybe_unused]] long long x, [[maybe_unused]] long long y, [[maybe_unused]] long long z,
             [[maybe_unused]] long long t, double* out) {{
  static double v[{count}];
{nodes}{outputs}}}
)",
      fmt::arg("stage", stage), fmt::arg("count", stencil.nodes.size()), fmt::arg("nodes", nodes),
      fmt::arg("outputs", outputs));
}

}  // namespace stencil_tune
