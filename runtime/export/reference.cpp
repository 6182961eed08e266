#include "runtime/export/text.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

namespace stencil_tune {

namespace {

std::string operand(const Node& node, std::size_t i) { return fmt::format("v[{}]", node.operands[i]); }

/// The node's value in C++, over the values v[] of the nodes before it.
std::string expression(const Stencil& stencil, const Node& node, const std::vector<int>& input_of_field) {
  const auto a = [&] { return operand(node, 0); };
  const auto b = [&] { return operand(node, 1); };
  switch (node.op) {
    case Operation::number:
      return fmt::format("{:a}", node.value);
    case Operation::coefficient:
      return fmt::format("c[{}]", node.index);
    case Operation::read:
      return fmt::format("read(in[{}], n, x + {}, y + {}, z + {})",
                         input_of_field[static_cast<std::size_t>(node.index)], node.offset[0], node.offset[1],
                         node.offset[2]);
    case Operation::negate:
      return "-" + a();
    case Operation::absolute:
      return fmt::format("std::fabs({})", a());
    case Operation::square_root:
      return fmt::format("std::sqrt({})", a());
    case Operation::exponential:
      return fmt::format("std::exp({})", a());
    case Operation::add:
      return a() + " + " + b();
    case Operation::subtract:
      return a() + " - " + b();
    case Operation::multiply:
      return a() + " * " + b();
    case Operation::divide:
      return a() + " / " + b();
    case Operation::minimum:
      return fmt::format("std::fmin({}, {})", a(), b());
    case Operation::maximum:
      return fmt::format("std::fmax({}, {})", a(), b());
    case Operation::less:
      return fmt::format("{} < {} ? 1.0 : 0.0", a(), b());
    case Operation::less_equal:
      return fmt::format("{} <= {} ? 1.0 : 0.0", a(), b());
    case Operation::equal:
      return fmt::format("{} == {} ? 1.0 : 0.0", a(), b());
    case Operation::select:
      return fmt::format("{} != 0 ? {} : {}", a(), b(), operand(node, 2));
    case Operation::sine:
      return fmt::format("std::sin({})", a());
    case Operation::cosine:
      return fmt::format("std::cos({})", a());
    case Operation::tangent:
      return fmt::format("std::tan({})", a());
    case Operation::hyperbolic_tangent:
      return fmt::format("std::tanh({})", a());
    case Operation::logarithm:
      return fmt::format("std::log({})", a());
    case Operation::power:
      return fmt::format("std::pow({}, {})", a(), b());
    case Operation::coordinate:
      return fmt::format("static_cast<double>(kOrigin[{}] + {} + {})", node.index, "xyz"[node.index],
                         node.offset[static_cast<std::size_t>(node.index)]);
    case Operation::step:
      return "static_cast<double>(kFirstStep)";
    case Operation::before:
      return fmt::format("std::fmax(0.0, static_cast<double>(-({} + {})))", "xyz"[node.index],
                         node.offset[static_cast<std::size_t>(node.index)]);
    case Operation::after:
      return fmt::format("std::fmax(0.0, static_cast<double>({} + {} - (n[{}] - 1)))", "xyz"[node.index],
                         node.offset[static_cast<std::size_t>(node.index)], node.index);
    case Operation::profile:
      break;  // there is no self-check of these
  }
  throw Error(ErrorCode::internal, fmt::format("stencil '{}' has an operation unknown here", stencil.name));
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

std::string reference_text(const Problem& problem) {
  const Stencil& stencil = problem.stencil;
  const Stage& stage = stencil.stages[static_cast<std::size_t>(problem.stage)];
  std::vector<int> input_of_field(stencil.fields.size(), -1);
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) {
    input_of_field[static_cast<std::size_t>(problem.facts.inputs[i])] = static_cast<int>(i);
  }

  std::string nodes;
  const std::vector<bool> used = used_nodes(stencil, stage);
  for (std::size_t i = 0; i < stencil.nodes.size(); ++i) {
    if (used[i]) nodes += fmt::format("  v[{}] = {};\n", i, expression(stencil, stencil.nodes[i], input_of_field));
  }
  std::string outputs;
  for (std::size_t i = 0; i < stage.updates.size(); ++i) {
    outputs += fmt::format("  out[{}] = v[{}];\n", i, stage.updates[i].expression);
  }
  return fmt::format(
      R"(// What cell (x, y, z) becomes, one operation a line, in double precision. Returns the largest magnitude met on the way.
double reference(const std::vector<double>* in, const long long (&n)[3], long long x, long long y, long long z,
                 const double* c, double* out) {{
  (void)c;
  static double v[{count}];
{nodes}{outputs}  double largest = 0;
  for (const double value : v) largest = std::fmax(largest, std::fabs(value));
  return largest;
}}
)",
      fmt::arg("count", stencil.nodes.size()), fmt::arg("nodes", nodes), fmt::arg("outputs", outputs));
}

}  // namespace stencil_tune
