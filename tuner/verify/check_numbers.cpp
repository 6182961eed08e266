#include "tuner/verify/check_numbers.hpp"

#include "generator/stencil/rewriting/linear.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace stencil_tune {
namespace {

const Node& node_of(const Problem& problem, NodeId id) { return problem.stencil.nodes[static_cast<std::size_t>(id)]; }

/// The stages that the problem is made of.
std::span<const Stage> stages_of(const Problem& problem) {
  const std::vector<Stage>& all = problem.stencil.stages;
  if (problem.stage == kWholeStep) return all;
  return {&all[static_cast<std::size_t>(problem.stage)], 1};
}

/// The nodes that the updates are made of, operands first.
std::vector<NodeId> nodes_in_use(const Problem& problem) {
  std::vector<NodeId> roots;
  for (const Stage& stage : stages_of(problem)) {
    for (const Update& update : stage.updates) roots.push_back(update.expression);
  }
  const std::vector<bool> marked = reachable(problem.stencil, roots);
  std::vector<NodeId> nodes;
  for (std::size_t id = 0; id < marked.size(); ++id) {
    if (marked[id]) nodes.push_back(static_cast<NodeId>(id));
  }
  return nodes;
}

bool uses(const Problem& problem, std::initializer_list<Operation> operations) {
  const std::vector<NodeId> nodes = nodes_in_use(problem);
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
    return std::find(operations.begin(), operations.end(), node_of(problem, id).op) != operations.end();
  });
}

// ---- exact numbers --------------------------------------------------------------------------------------------------

/// The largest magnitude a value takes and its unit in the last place: all values are multiples of 2^unit.
struct Digits {
  double most = 0;
  int unit = 0;
};

/// The digits of a dyadic number that has few; nothing for others.
std::optional<Digits> digits_of(double value) {
  if (value == 0) return Digits{0, 0};
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent) * 0x1p12;
  if (fraction != std::floor(fraction)) return std::nullopt;
  int unit = exponent - 12;
  while (std::fmod(std::fabs(value), std::exp2(unit + 1)) == 0) ++unit;
  return Digits{std::fabs(value), unit};
}

Digits either(const Digits& a, const Digits& b) { return {std::max(a.most, b.most), std::min(a.unit, b.unit)}; }

std::optional<Digits> combine(const Node& node, const Digits& a, const Digits& b, const Digits& c) {
  switch (node.op) {
    case Operation::negate:
    case Operation::absolute:
      return a;
    case Operation::add:
    case Operation::subtract:
      return Digits{a.most + b.most, std::min(a.unit, b.unit)};
    case Operation::multiply:
      return Digits{a.most * b.most, a.unit + b.unit};
    case Operation::minimum:
    case Operation::maximum:
      return either(a, b);
    case Operation::less:
    case Operation::less_equal:
    case Operation::equal:
      return Digits{1, 0};
    case Operation::select:
      return either(b, c);
    case Operation::floor:
    case Operation::round:
      return Digits{std::floor(a.most) + 1, std::max(a.unit, 0)};
    default:
      return std::nullopt;
  }
}

/// Whether the number only moves the point of what it divides.
bool is_power_of_two(const Node& node) { return node.op == Operation::number && check::is_power_of_two(node.value); }

/// What an expression makes of the fields; nothing where some value does not fit the compute type's digits.
std::optional<Digits> digits_after(const Problem& problem, const ReferenceExpression& expression,
                                   const std::vector<double>& coefficients, std::span<const Digits> fields) {
  const double most_digits = problem.type == ElementType::f64 ? 0x1p52 : 0x1p23;
  std::vector<Digits> digits;
  for (const Node& node : expression.nodes) {
    std::optional<Digits> result;
    if (node.op == Operation::number) {
      result = digits_of(node.value);
    } else if (node.op == Operation::coefficient) {
      result = digits_of(coefficients[static_cast<std::size_t>(node.index)]);
    } else if (node.op == Operation::read) {
      result = fields[static_cast<std::size_t>(node.index)];
    } else {
      const auto at = [&](std::size_t i) {
        return node.operands[i] < 0 ? Digits{} : digits[static_cast<std::size_t>(node.operands[i])];
      };
      const bool moves_point =
          node.op == Operation::divide && is_power_of_two(expression.nodes[static_cast<std::size_t>(node.operands[1])]);
      result =
          moves_point ? Digits{at(0).most / at(1).most, at(0).unit - at(1).unit} : combine(node, at(0), at(1), at(2));
    }
    if (!result || result->most > std::ldexp(most_digits, result->unit)) return std::nullopt;
    digits.push_back(*result);
  }
  return digits.back();
}

/// One of the updates that a step makes.
struct FieldUpdate {
  int field = 0;
  ReferenceExpression expression;
};

/// What kernels are made of.
ReferenceExpression simplified_form(const Problem& stage, std::size_t output) {
  return simplified_expression(stage.stencil, updates_of(stage)[output].expression);
}

/// Those of all stages, in order. form: the expression of a stage's output.
template <class Form>
std::vector<FieldUpdate> updates_of_step(const Problem& problem, const Form& form) {
  std::vector<FieldUpdate> updates;
  for (const Problem& stage : stage_problems(problem)) {
    for (std::size_t output = 0; output < updates_of(stage).size(); ++output) {
      updates.push_back({updates_of(stage)[output].output, form(stage, output)});
    }
  }
  return updates;
}

bool computes_exactly(const Problem& problem, const std::vector<FieldUpdate>& updates, const CheckNumbers& numbers,
                      int steps) {
  const Digits start{numbers.input.pattern == check::Pattern::bits ? 1.0 : 8.0, 0};
  std::vector<Digits> fields(problem.stencil.fields.size(), start);
  for (int step = 0; step < steps; ++step) {
    for (const FieldUpdate& update : updates) {
      const std::optional<Digits> result = digits_after(problem, update.expression, numbers.coefficients, fields);
      if (!result || result->most > rounding_of(problem, update.field).largest) return false;
      fields[static_cast<std::size_t>(update.field)] = either(*result, start);  // cells that hold keeps, too
    }
    const std::vector<Digits> before = fields;
    for (const Rotation& rotation : problem.stencil.rotations) {
      fields[static_cast<std::size_t>(rotation.to)] = before[static_cast<std::size_t>(rotation.from)];
    }
  }
  return true;
}

// ---- other numbers --------------------------------------------------------------------------------------------------

/// Powers of two beyond the constants and coefficients that the stencil compares with.
std::vector<double> scales_of_thresholds(const Problem& problem) {
  std::vector<double> scales;
  for (const NodeId id : nodes_in_use(problem)) {
    const Node& node = node_of(problem, id);
    const bool decides = node.op == Operation::less || node.op == Operation::less_equal ||
                         node.op == Operation::minimum || node.op == Operation::maximum || node.op == Operation::modulo;
    for (std::size_t i = 0; decides && i < 2; ++i) {
      const Node& with = node_of(problem, node.operands[i]);
      double threshold = with.op == Operation::number ? std::fabs(with.value) : 0;
      if (with.op == Operation::coefficient) {
        threshold = std::fabs(problem.stencil.coefficients[static_cast<std::size_t>(with.index)].value);
      }
      const double scale = threshold > 0 ? std::exp2(std::floor(std::log2(threshold)) + 1) : 1;
      if (scale != 1 && std::find(scales.begin(), scales.end(), scale) == scales.end()) scales.push_back(scale);
    }
  }
  return scales;
}

/// From 1/16 to 4 in magnitude, of either sign: another draw for each number.
std::vector<double> drawn_coefficients(const Problem& problem, unsigned long long draw) {
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < problem.stencil.coefficients.size(); ++i) {
    const double unit = check::input_value(draw, i, {0, 0, 0}, {check::Pattern::signed_unit, 0, 1});
    coefficients.push_back(std::copysign(std::exp2(6 * std::fabs(unit) - 4), unit));
  }
  return coefficients;
}

}  // namespace

bool same_numbers(const CheckNumbers& a, const CheckNumbers& b) {
  return a.input.pattern == b.input.pattern && a.input.scale == b.input.scale && a.exact == b.exact &&
         a.coefficients == b.coefficients;
}

CheckNumbers random_numbers(const Problem& problem) {
  CheckNumbers numbers;
  const bool positive =
      uses(problem, {Operation::divide, Operation::square_root, Operation::logarithm, Operation::power});
  numbers.input.pattern = positive ? check::Pattern::positive : check::Pattern::signed_unit;
  const std::vector<Coefficient>& coefficients = problem.stencil.coefficients;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    const double place = static_cast<double>(i * 7 % 16) / 16;  // 0 .. 15/16
    const double value = coefficients[i].value;
    numbers.coefficients.push_back(value == 0 ? 0.01 * (1 + place) : value * (1 - 0.25 * place));
  }
  return numbers;
}

std::optional<CheckNumbers> exact_numbers(const Problem& problem, int sweeps) {
  CheckNumbers numbers;
  numbers.exact = true;
  const bool asks_for_equal = uses(problem, {Operation::equal});
  numbers.input.pattern = asks_for_equal ? check::Pattern::bits : check::Pattern::integers;
  // Sixteen values of alternating sign, all of them eighths.
  for (std::size_t i = 0; i < problem.stencil.coefficients.size(); ++i) {
    const auto eighths = static_cast<double>(i * 5 % 16 + 1);
    numbers.coefficients.push_back((i % 2 == 0 ? 1 : -1) * eighths / 8);
  }
  // What kernels are made of, and what they are checked against.
  if (!computes_exactly(problem, updates_of_step(problem, simplified_form), numbers, sweeps) ||
      !computes_exactly(problem, updates_of_step(problem, reference_expression), numbers, sweeps)) {
    return std::nullopt;
  }
  return numbers;
}

std::vector<CheckNumbers> other_numbers(const Problem& problem, int sweeps) {
  const CheckNumbers random = random_numbers(problem);
  std::vector<CheckNumbers> all;
  if (const auto exact = exact_numbers(problem, sweeps)) all.push_back(*exact);
  for (const double scale : scales_of_thresholds(problem)) {
    all.push_back(random);
    all.back().input.scale = scale;
  }
  for (const check::Pattern pattern : {check::Pattern::slopes, check::Pattern::positive}) {
    if (random.input.pattern == pattern) continue;
    all.push_back(random);
    all.back().input.pattern = pattern;
  }
  if (random.coefficients.empty()) return all;
  for (const double factor : {0.25, 1.0 / 16, 4.0}) {
    all.push_back(random);
    for (double& coefficient : all.back().coefficients) coefficient *= factor;
  }
  constexpr unsigned long long kDraws = 6;
  for (unsigned long long draw = 1; draw <= kDraws; ++draw) {
    all.push_back(random);
    all.back().coefficients = drawn_coefficients(problem, draw);
  }
  return all;
}

std::uint64_t input_seed(std::uint64_t session_seed, int field) {
  return session_seed * 1000003 + static_cast<std::uint64_t>(field);
}

std::vector<double> host_input(const Problem& problem, std::uint64_t session_seed, int field,
                               const check::Input& input) {
  const std::int64_t room = std::max(problem.allocated_cells(), cells_of_field(problem, field));
  std::vector<double> cells(static_cast<std::size_t>(room), 0.0);
  const std::uint64_t seed = input_seed(session_seed, field);
  const ElementType type = storage_of(problem, field);
  const auto stored = [&](double value) {
    return round_to_storage(check::input_as_stored(value, input, static_cast<int>(type)), type);
  };
  if (is_profile(problem.stencil, field)) {  // dense, and the rest is never read
    for (std::int64_t i = 0; i < cells_of_field(problem, field); ++i) {
      const double value = check::input_value(seed, static_cast<unsigned long long>(i), {i, 0, 0}, input);
      cells[static_cast<std::size_t>(i)] = stored(value);
    }
    return cells;
  }
  const std::int64_t height = problem.extents.n[1];
  const std::int64_t rows = height * problem.extents.n[2];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t x = 0; x < problem.extents.n[0]; ++x) {
      const auto number = static_cast<unsigned long long>(row * problem.extents.n[0] + x);
      cells[static_cast<std::size_t>(row * problem.pitch + x)] =
          stored(check::input_value(seed, number, {x, row % height, row / height}, input));
    }
  }
  return cells;
}

std::vector<std::vector<double>> host_inputs(const Problem& problem, std::uint64_t session_seed,
                                             const check::Input& input, int steps) {
  std::vector<std::vector<double>> inputs;
  for (const int field : kernel_inputs(problem, steps)) {
    inputs.push_back(host_input(problem, session_seed, field, input));
  }
  return inputs;
}

const std::vector<Update>& updates_of(const Problem& problem) {
  return problem.stencil.stages[static_cast<std::size_t>(problem.stage)].updates;
}

}  // namespace stencil_tune
