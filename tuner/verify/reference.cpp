#include "tuner/verify/reference.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/verify/device/storage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

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

/// Evaluates the nodes an expression needs, each once, operands first: the arena's own order.
class CellEvaluator {
 public:
  CellEvaluator(const Problem& problem, NodeId expression, std::span<const std::vector<double>> inputs,
                std::span<const double> coefficients, const check::Rounding& rounding,
                const ReferenceField* earlier = nullptr)
      : problem_(problem),
        inputs_(inputs),
        earlier_(earlier),
        advanced_(advanced_input(problem)),
        rounding_(rounding),
        results_(problem.stencil.nodes.size()) {
    std::vector<bool> needed(problem.stencil.nodes.size(), false);
    needed[static_cast<std::size_t>(expression)] = true;
    for (NodeId id = expression; id >= 0; --id) {
      if (!needed[static_cast<std::size_t>(id)]) continue;
      for (NodeId operand : node(id).operands) {
        if (operand >= 0) needed[static_cast<std::size_t>(operand)] = true;
      }
    }
    for (NodeId id = 0; id <= expression; ++id) {
      if (needed[static_cast<std::size_t>(id)]) order_.push_back(id);
    }
    for (double value : coefficients) coefficients_.push_back(round_to_compute(value, problem.type));
  }

  check::Bounded operator()(const std::array<std::int64_t, kMaxRank>& cell) {
    for (NodeId id : order_) results_[static_cast<std::size_t>(id)] = evaluate(node(id), cell);
    return results_[static_cast<std::size_t>(order_.back())];
  }

 private:
  const Node& node(NodeId id) const { return problem_.stencil.nodes[static_cast<std::size_t>(id)]; }

  const check::Bounded& operand(const Node& of, std::size_t i) const {
    return results_[static_cast<std::size_t>(of.operands[i])];
  }

  check::Bounded read(int field, const Offset& offset, const std::array<std::int64_t, kMaxRank>& cell) const {
    const std::optional<std::size_t> at = place_read(problem_, offset, cell);
    if (!at) return check::exactly(0);
    const auto& fields = problem_.facts.inputs;
    const auto input = static_cast<std::size_t>(std::find(fields.begin(), fields.end(), field) - fields.begin());
    const bool updated = input == advanced_ && earlier_ != nullptr && earlier_->tolerance[*at] >= 0;
    if (updated) return check::opaque(earlier_->value[*at], earlier_->tolerance[*at], 0);
    return check::exactly(inputs_[input][*at]);
  }

  check::Bounded literal(double value) const {
    const double rounded = round_to_compute(value, problem_.type);
    check::Bounded result = check::exactly(rounded);
    if (rounded != value) result.factors = 1;  // the generator may fold it with others before rounding
    return result;
  }

  check::Bounded evaluate(const Node& n, const std::array<std::int64_t, kMaxRank>& cell) const {
    const auto a = [&]() -> const check::Bounded& { return operand(n, 0); };
    const auto b = [&]() -> const check::Bounded& { return operand(n, 1); };
    switch (n.op) {
      case Operation::number:
        return literal(n.value);
      case Operation::coefficient:
        return check::exactly(coefficients_[static_cast<std::size_t>(n.index)]);
      case Operation::read:
        return read(n.index, n.offset, cell);
      case Operation::negate:
        return check::negate(a());
      case Operation::absolute:
        return check::absolute(a(), rounding_);
      case Operation::square_root:
        return check::square_root(a(), rounding_);
      case Operation::exponential:
        return check::exponential(a(), rounding_);
      case Operation::add:
        return check::add(a(), b());
      case Operation::subtract:
        return check::subtract(a(), b());
      case Operation::multiply:
        return check::multiply(a(), b());
      case Operation::divide:
        return check::divide(a(), b(), rounding_);
      case Operation::minimum:
        return check::minimum(a(), b(), rounding_);
      case Operation::maximum:
        return check::maximum(a(), b(), rounding_);
      case Operation::less:
        return check::compared(a().value < b().value, a(), b(), rounding_);
      case Operation::less_equal:
        return check::compared(a().value <= b().value, a(), b(), rounding_);
      case Operation::equal:
        return check::compared(a().value == b().value, a(), b(), rounding_);
      case Operation::select:
        return check::select(a(), b(), operand(n, 2), rounding_);
    }
    throw Error(ErrorCode::internal, "the reference does not know operation " + std::to_string(static_cast<int>(n.op)) +
                                         "; add it to CellEvaluator");
  }

  const Problem& problem_;
  std::span<const std::vector<double>> inputs_;
  const ReferenceField* earlier_;
  std::optional<std::size_t> advanced_;  ///< input that earlier_ stands for
  check::Rounding rounding_;
  std::vector<NodeId> order_;
  std::vector<double> coefficients_;
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
  if (tolerance[index] < 0 || std::isinf(tolerance[index])) return true;
  if (std::isnan(value[index])) return std::isnan(result);
  return std::fabs(result - value[index]) <= tolerance[index] || result == value[index];
}

check::Bounded evaluate_cell(const Problem& problem, NodeId expression, std::span<const std::vector<double>> inputs,
                             std::span<const double> coefficients, const std::array<std::int64_t, kMaxRank>& cell,
                             const check::Rounding& rounding) {
  check_sizes(problem, inputs, coefficients);
  return CellEvaluator(problem, expression, inputs, coefficients, rounding)(cell);
}

namespace {

ReferenceField sweep(const Problem& problem, const Update& update, std::span<const std::vector<double>> inputs,
                     std::span<const double> coefficients, bool exact, const ReferenceField* earlier) {
  const check::Rounding rounding = rounding_of(problem.type, exact);
  const auto cells = static_cast<std::size_t>(problem.allocated_cells());
  const Box box = updated_box(problem);
  ReferenceField field{update.output, std::vector<double>(cells, 0.0), std::vector<double>(cells, -1.0)};
  CellEvaluator evaluate(problem, update.expression, inputs, coefficients, rounding, earlier);
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
        const check::Bounded result = evaluate({x, y, z});
        const std::size_t index = place(problem, {x, y, z});
        field.value[index] = exact ? round_to_storage(result.value, problem.type) : result.value;
        field.tolerance[index] = check::tolerance(result, rounding);
      }
    }
  }
  return field;
}

}  // namespace

std::vector<ReferenceField> evaluate_reference(const Problem& problem, std::span<const std::vector<double>> inputs,
                                               std::span<const double> coefficients, bool exact, int sweeps) {
  check_sizes(problem, inputs, coefficients);
  std::vector<ReferenceField> fields;
  for (const Update& update : problem.stencil.stages[static_cast<std::size_t>(problem.stage)].updates) {
    ReferenceField field = sweep(problem, update, inputs, coefficients, exact, nullptr);
    for (int done = 1; done < sweeps; ++done) field = sweep(problem, update, inputs, coefficients, exact, &field);
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace stencil_tune
