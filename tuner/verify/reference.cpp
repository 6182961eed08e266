#include "tuner/verify/reference.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/verify/device/storage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kAxes = kMaxRank;

std::size_t place(const Problem& problem, const std::array<std::int64_t, kMaxRank>& cell) {
  return static_cast<std::size_t>((cell[2] * problem.extents.n[1] + cell[1]) * problem.pitch + cell[0]);
}

/// Where a read finds its value; nothing for the 0 outside.
std::optional<std::size_t> place_read(const Problem& problem, const Offset& offset,
                                      std::array<std::int64_t, kMaxRank> cell) {
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    cell[axis] = check::mapped_index(cell[axis] + offset[axis], problem.extents.n[axis],
                                     static_cast<int>(problem.boundaries[axis]));
    if (cell[axis] < 0) return {};
  }
  return place(problem, cell);
}

/// One output field after a sweep, in the compute type.
struct ComputedField {
  std::vector<double> value;
  std::vector<double> error;   ///< may be NaN where the value is
  std::vector<bool> computed;  ///< by the sweep
};

/// Evaluates the nodes of an expression, each once, operands first: the order they are in.
class CellEvaluator {
 public:
  CellEvaluator(const Problem& problem, const ReferenceExpression& expression,
                std::span<const std::vector<double>> inputs, std::span<const double> coefficients,
                const check::Rounding& rounding, const ComputedField* earlier = nullptr)
      : problem_(problem),
        expression_(expression),
        inputs_(inputs),
        earlier_(earlier),
        advanced_(advanced_input(problem)),
        rounding_(rounding),
        results_(expression.nodes.size()) {
    for (double value : coefficients) coefficients_.push_back(round_to_compute(value, problem.type));
    if (earlier != nullptr) weights_ = error_weights(problem, coefficients);
  }

  check::Bounded operator()(const std::array<std::int64_t, kMaxRank>& cell) {
    for (std::size_t id = 0; id < results_.size(); ++id) results_[id] = value_of(expression_.nodes[id], cell);
    check::Bounded result = results_.back();
    for (const check::ErrorWeight& tap : weights_) {
      const std::optional<std::size_t> at = place_read(problem_, {tap.offset[0], tap.offset[1], tap.offset[2]}, cell);
      if (at && earlier_->computed[*at]) result.error += check::scaled(earlier_->error[*at], tap.weight);
    }
    return result;
  }

 private:
  check::Bounded read(int field, const Offset& offset, const std::array<std::int64_t, kMaxRank>& cell) const {
    const std::optional<std::size_t> at = place_read(problem_, offset, cell);
    if (!at) return check::exactly(0);
    const auto& fields = problem_.facts.inputs;
    const auto input = static_cast<std::size_t>(std::find(fields.begin(), fields.end(), field) - fields.begin());
    if (input != advanced_ || earlier_ == nullptr || !earlier_->computed[*at]) {
      return check::exactly(inputs_[input][*at]);
    }
    const auto [value, error] = std::pair(earlier_->value[*at], earlier_->error[*at]);
    return weights_.empty() ? check::opaque(value, error, 0) : check::enclosed(value, error);
  }

  /// A kernel has it rounded, or what it is carried out to with others.
  check::Bounded literal(double value) const {
    check::Bounded result = check::exactly(value);
    if (round_to_compute(value, problem_.type) != value) result.factors = 1;
    return result;
  }

  check::Bounded value_of(const Node& node, const std::array<std::int64_t, kMaxRank>& cell) const {
    switch (node.op) {
      case Operation::number:
        return literal(node.value);
      case Operation::coefficient:
        return check::exactly(coefficients_[static_cast<std::size_t>(node.index)]);
      case Operation::read:
        return read(node.index, node.offset, cell);
      default:
        break;
    }
    std::array<check::Bounded, 3> operands{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(operand_count(node.op)); ++i) {
      operands[i] = results_[static_cast<std::size_t>(node.operands[i])];
    }
    return evaluate(node.op, operands, rounding_);
  }

  const Problem& problem_;
  const ReferenceExpression& expression_;
  std::span<const std::vector<double>> inputs_;
  const ComputedField* earlier_;
  std::optional<std::size_t> advanced_;  ///< input that earlier_ stands for
  check::Rounding rounding_;
  std::vector<double> coefficients_;
  std::vector<check::ErrorWeight> weights_;  ///< of the errors of earlier_; empty: they travel with the values
  std::vector<check::Bounded> results_;
};

void check_sizes(const Problem& problem, std::span<const std::vector<double>> inputs,
                 std::span<const double> coefficients) {
  const auto cells = static_cast<std::size_t>(problem.allocated_cells());
  const bool sized = std::all_of(inputs.begin(), inputs.end(), [&](const auto& in) { return in.size() == cells; });
  if (inputs.size() == problem.facts.inputs.size() && sized &&
      coefficients.size() == problem.stencil.coefficients.size()) {
    return;
  }
  throw Error(ErrorCode::invalid_argument,
              "the reference needs " + std::to_string(problem.facts.inputs.size()) + " inputs of " +
                  std::to_string(cells) + " cells and " + std::to_string(problem.stencil.coefficients.size()) +
                  " coefficients, but got " + std::to_string(inputs.size()) + " inputs and " +
                  std::to_string(coefficients.size()) + " coefficients, or inputs of another size");
}

}  // namespace

check::Rounding rounding_of(ElementType type, bool exact) {
  check::Rounding rounding;
  // f64: the reference is computed in f64 itself, so its own rounding counts too.
  rounding.unit = type == ElementType::f64 ? 0x1p-52 : 0x1p-24;
  rounding.tiny = type == ElementType::f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  rounding.largest_computed =
      type == ElementType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  switch (type) {
    case ElementType::f64:
      rounding.largest = std::numeric_limits<double>::max();
      break;
    case ElementType::f32:
      rounding.largest = std::numeric_limits<float>::max();
      break;
    case ElementType::f16:
      rounding.storage_unit = 0x1p-11;
      rounding.storage_tiny = 0x1p-25;
      rounding.largest = 65504;
      break;
    case ElementType::bf16:
      rounding.storage_unit = 0x1p-8;
      rounding.storage_tiny = 0x1p-126;  // flushed subnormal results are accepted
      rounding.largest = 0x1.fep127;
      break;
  }
  if (exact) rounding.unit = rounding.tiny = rounding.storage_unit = rounding.storage_tiny = 0;
  return rounding;
}

double round_to_compute(double value, ElementType type) {
  return type == ElementType::f64 ? value : static_cast<double>(static_cast<float>(value));
}

double round_to_storage(double value, ElementType type) {
  switch (type) {
    case ElementType::f64:
      return value;
    case ElementType::f32:
      return static_cast<float>(value);
    case ElementType::f16:
      return check::from_f16(check::to_f16(static_cast<float>(value)));
    case ElementType::bf16:
      return check::from_bf16(check::to_bf16(static_cast<float>(value)));
  }
  return value;
}

bool ReferenceField::accepts(std::size_t index, double result) const {
  return tolerance[index] < 0 || check::accepts(value[index], tolerance[index], result);
}

std::int64_t ReferenceField::unbounded_cells() const {
  return std::count_if(tolerance.begin(), tolerance.end(), [](double t) { return std::isinf(t); });
}

check::Bounded evaluate_cell(const Problem& problem, const ReferenceExpression& expression,
                             std::span<const std::vector<double>> inputs, std::span<const double> coefficients,
                             const std::array<std::int64_t, kMaxRank>& cell, const check::Rounding& rounding) {
  check_sizes(problem, inputs, coefficients);
  return CellEvaluator(problem, expression, inputs, coefficients, rounding)(cell);
}

namespace {

ComputedField sweep(const Problem& problem, const ReferenceExpression& expression,
                    std::span<const std::vector<double>> inputs, std::span<const double> coefficients,
                    const check::Rounding& rounding, const ComputedField* earlier) {
  const auto cells = static_cast<std::size_t>(problem.allocated_cells());
  const Box box = updated_box(problem);
  ComputedField field{std::vector<double>(cells, 0.0), std::vector<double>(cells, 0.0), std::vector<bool>(cells)};
  CellEvaluator evaluate(problem, expression, inputs, coefficients, rounding, earlier);
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
        const check::Bounded result = evaluate({x, y, z});
        const std::size_t index = place(problem, {x, y, z});
        field.value[index] = result.value;
        field.error[index] = check::kept_error(result, rounding);
        field.computed[index] = true;
      }
    }
  }
  return field;
}

ReferenceField stored(const Problem& problem, int output, const ComputedField& computed, bool exact) {
  const check::Rounding rounding = rounding_of(problem.type, exact);
  ReferenceField field{output, computed.value, std::vector<double>(computed.value.size(), -1.0)};
  for (std::size_t i = 0; i < computed.value.size(); ++i) {
    if (!computed.computed[i]) continue;
    if (exact) field.value[i] = round_to_storage(computed.value[i], problem.type);
    field.tolerance[i] = check::stored_error(computed.value[i], computed.error[i], rounding);
  }
  return field;
}

}  // namespace

std::vector<check::ErrorWeight> error_weights(const Problem& problem, std::span<const double> coefficients) {
  std::vector<check::ErrorWeight> weights;
  const std::optional<std::size_t> advanced = advanced_input(problem);
  if (!problem.facts.linear || !advanced) return weights;
  const check::Rounding rounding = rounding_of(problem.type);
  for (const LinearTap& tap : problem.facts.linear_taps) {
    if (tap.tap.field != problem.facts.inputs[*advanced]) continue;
    check::Bounded weight = check::exactly(1);
    if (tap.weight >= 0) {
      const ReferenceExpression expression = simplified_expression(problem.stencil, tap.weight);
      weight = CellEvaluator(problem, expression, {}, coefficients, rounding)({0, 0, 0});
    }
    const Offset& offset = tap.tap.offset;
    weights.push_back({{offset[0], offset[1], offset[2]},
                       0,
                       1.01 * (std::fabs(weight.value) + check::total_error(weight, rounding))});
  }
  return weights;
}

std::vector<ReferenceField> evaluate_reference(const Problem& problem, std::span<const std::vector<double>> inputs,
                                               std::span<const double> coefficients, bool exact, int sweeps) {
  if (sweeps > 1) return {evaluate_sweeps(problem, inputs, coefficients, exact, sweeps).back()};
  check_sizes(problem, inputs, coefficients);
  std::vector<ReferenceField> fields;
  for (std::size_t output = 0; output < problem.facts.outputs.size(); ++output) {
    const ReferenceExpression expression = reference_expression(problem, output);
    const ComputedField field =
        sweep(problem, expression, inputs, coefficients, rounding_of(problem.type, exact), nullptr);
    fields.push_back(stored(problem, problem.facts.outputs[output], field, exact));
  }
  return fields;
}

std::vector<ReferenceField> evaluate_sweeps(const Problem& problem, std::span<const std::vector<double>> inputs,
                                            std::span<const double> coefficients, bool exact, int sweeps) {
  check_sizes(problem, inputs, coefficients);
  const ReferenceExpression expression = reference_expression(problem, 0);
  const check::Rounding rounding = rounding_of(problem.type, exact);
  std::vector<ReferenceField> fields;
  ComputedField now = sweep(problem, expression, inputs, coefficients, rounding, nullptr);
  for (;;) {
    fields.push_back(stored(problem, problem.facts.outputs.front(), now, exact));
    if (static_cast<int>(fields.size()) == sweeps) return fields;
    now = sweep(problem, expression, inputs, coefficients, rounding, &now);
  }
}

}  // namespace stencil_tune
