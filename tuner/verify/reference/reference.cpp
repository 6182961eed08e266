#include "tuner/verify/reference/reference.hpp"

#include "generator/stencil/stage_problems.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/device/program.h"
#include "tuner/verify/device/storage.h"
#include "tuner/verify/reference/error_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

using Cell = std::array<std::int64_t, kMaxRank>;

std::size_t place(const Problem& problem, const Cell& cell) {
  return static_cast<std::size_t>((cell[2] * problem.extents.n[1] + cell[1]) * problem.pitch + cell[0]);
}

/// What a level computed of an output field, in the compute type.
struct ComputedField {
  std::vector<double> value;
  std::vector<double> error;   ///< may be NaN where the value is
  std::vector<bool> computed;  ///< by the level
};

/// What a field of the stencil holds: memory, but for the cells that a level computed.
struct Contents {
  const std::vector<double>* memory = nullptr;  ///< null: the problem does not read it
  std::shared_ptr<const ComputedField> computed{};
};

/// As many cells of a row as are evaluated together: nodes are told apart once for all of them.
constexpr std::int64_t kStripCells = 16;

/// Evaluates the nodes of an expression, each once, operands first: the order they are in.
class StripEvaluator {
 public:
  /// contents: of each field of the stencil. Errors enter linear updates by their weights (error_weights.hpp), none
  /// where `weights` is empty: then they travel with the values.
  StripEvaluator(const Problem& problem, const ReferenceExpression& expression, std::span<const Contents> contents,
                 std::span<const double> coefficients, const check::Rounding& rounding, const Place& place,
                 std::vector<check::ErrorWeight> weights = {})
      : problem_(problem),
        expression_(expression),
        contents_(contents),
        rounding_(rounding),
        place_(place),
        weights_(std::move(weights)),
        results_(expression.nodes.size()) {
    for (double value : coefficients) coefficients_.push_back(round_to_compute(value, problem.type));
  }

  /// Results for the cell and those that follow it in x, at most kStripCells.
  std::span<const check::Bounded> operator()(const Cell& first, std::size_t cells) {
    for (std::size_t id = 0; id < results_.size(); ++id) {
      evaluate_node(id, first, {results_[id].data(), cells});
    }
    for (const check::ErrorWeight& tap : weights_) {
      const Contents& from = of(problem_.facts.inputs[static_cast<std::size_t>(tap.input)]);
      if (!from.computed) continue;
      for_each_read({tap.offset[0], tap.offset[1], tap.offset[2]}, first, cells, [&](std::size_t i, std::int64_t at) {
        if (at < 0 || !from.computed->computed[static_cast<std::size_t>(at)]) return;
        results_.back()[i].error += check::scaled(from.computed->error[static_cast<std::size_t>(at)], tap.weight);
      });
    }
    return {results_.back().data(), cells};
  }

 private:
  using Strip = std::array<check::Bounded, static_cast<std::size_t>(kStripCells)>;

  const Contents& of(int field) const { return contents_[static_cast<std::size_t>(field)]; }

  std::int64_t mapped(std::int64_t index, std::size_t axis) const {
    return check::mapped_index(index, problem_.extents.n[axis], static_cast<int>(problem_.boundaries[axis]));
  }

  /// Calls found(i, place) for each cell of the strip, with the place in memory where it reads; < 0: the 0 outside.
  template <class Found>
  void for_each_read(const Offset& offset, const Cell& first, std::size_t cells, Found found) const {
    const std::int64_t y = mapped(first[1] + offset[1], 1), z = mapped(first[2] + offset[2], 2);
    const auto row = static_cast<std::int64_t>(place(problem_, {0, y, z}));
    for (std::size_t i = 0; i < cells; ++i) {
      const std::int64_t x = mapped(first[0] + static_cast<std::int64_t>(i) + offset[0], 0);
      found(i, x < 0 || y < 0 || z < 0 ? -1 : row + x);
    }
  }

  void read(int field, const Offset& offset, const Cell& first, std::span<check::Bounded> results) const {
    const Contents& from = of(field);
    for_each_read(offset, first, results.size(), [&](std::size_t i, std::int64_t at) {
      results[i] = at < 0 ? check::exactly(0) : content(from, static_cast<std::size_t>(at));
    });
  }

  check::Bounded content(const Contents& from, std::size_t at) const {
    if (!from.computed || !from.computed->computed[at]) return check::exactly((*from.memory)[at]);
    const auto [value, error] = std::pair(from.computed->value[at], from.computed->error[at]);
    return weights_.empty() ? check::opaque(value, error, 0) : check::enclosed(value, error);
  }

  /// The entry of a profile.
  check::Bounded entry(const Node& node, const Cell& cell) const {
    const Along along = profile_along(problem_.stencil, node.index);
    std::int64_t entry = along == kAlongTime ? place_.step : 0;
    std::int64_t apart = 1;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if ((along & along_axis(static_cast<int>(axis))) == 0) continue;
      const std::int64_t at = check::profile_index(cell[axis] + node.offset[axis], problem_.extents.n[axis],
                                                   static_cast<int>(problem_.boundaries[axis]));
      if (at < 0) return check::exactly(0);
      entry += at * apart;
      apart *= problem_.extents.n[axis];
    }
    return check::exactly(of(node.index).memory->at(static_cast<std::size_t>(entry)));
  }

  /// A kernel has it rounded, or what it is carried out to with others.
  check::Bounded literal(double value) const {
    check::Bounded result = check::exactly(value);
    if (round_to_compute(value, problem_.type) != value) result.factors = 1;
    return result;
  }

  /// The value of a node without operands that reads no whole field.
  check::Bounded leaf(const Node& node, const Cell& cell) const {
    switch (node.op) {
      case Operation::number:
        return literal(node.value);
      case Operation::coefficient:
        return check::exactly(coefficients_[static_cast<std::size_t>(node.index)]);
      case Operation::coordinate: {
        const auto axis = static_cast<std::size_t>(node.index);
        return literal(static_cast<double>(place_.origin[axis] + cell[axis] + node.offset[axis]));
      }
      case Operation::step:
        return literal(static_cast<double>(place_.step));
      case Operation::before:
      case Operation::after: {
        const auto axis = static_cast<std::size_t>(node.index);
        const std::int64_t index = cell[axis] + node.offset[axis];
        const std::int64_t beyond = node.op == Operation::before ? -index : index - (problem_.extents.n[axis] - 1);
        return check::exactly(static_cast<double>(std::max<std::int64_t>(beyond, 0)));
      }
      case Operation::random:
        return check::exactly(random(node, cell));
      default:
        return entry(node, cell);
    }
  }

  double random(const Node& node, const Cell& cell) const {
    long long counter[4] = {0, 0, 0, place_.step};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem_.extents.rank); ++axis) {
      counter[axis] = place_.origin[axis] + cell[axis] + node.offset[axis];
    }
    const double key = node.index < 0
                           ? node.value
                           : check::random_key(node.value, coefficients_[static_cast<std::size_t>(node.index)]);
    return check::random_number(counter, key, problem_.type != ElementType::f64);
  }

  void evaluate_node(std::size_t id, const Cell& first, std::span<check::Bounded> results) const {
    const Node& node = expression_.nodes[id];
    if (node.op == Operation::read) return read(node.index, node.offset, first, results);
    const auto operands = static_cast<std::size_t>(operand_count(node.op));
    if (operands == 0) {
      for (std::size_t i = 0; i < results.size(); ++i) {
        results[i] = leaf(node, {first[0] + static_cast<std::int64_t>(i), first[1], first[2]});
      }
      return;
    }
    std::array<const check::Bounded*, 3> values{};
    for (std::size_t i = 0; i < operands; ++i) values[i] = results_[static_cast<std::size_t>(node.operands[i])].data();
    evaluate(node.op, expression_.whole[id], values, rounding_, results);
  }

  const Problem& problem_;
  const ReferenceExpression& expression_;
  std::span<const Contents> contents_;
  check::Rounding rounding_;
  Place place_;  ///< place of the step that is made
  std::vector<double> coefficients_;
  std::vector<check::ErrorWeight> weights_;
  std::vector<Strip> results_;  ///< one for each node
};

/// Each field as in memory: one of `fields` an input.
std::vector<Contents> as_in_memory(const Stencil& stencil, const std::vector<int>& fields,
                                   std::span<const std::vector<double>> inputs) {
  std::vector<Contents> contents(stencil.fields.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) contents[static_cast<std::size_t>(fields[i])].memory = &inputs[i];
  return contents;
}

void check_sizes(const Problem& problem, const std::vector<int>& fields, std::span<const std::vector<double>> inputs,
                 std::span<const double> coefficients) {
  const auto cells = static_cast<std::size_t>(problem.allocated_cells());
  bool sized = inputs.size() == fields.size();
  for (std::size_t i = 0; sized && i < fields.size(); ++i) {
    const bool of_time = profile_along(problem.stencil, fields[i]) == kAlongTime;
    sized = of_time ? inputs[i].size() >= cells : inputs[i].size() == cells;
  }
  if (sized && coefficients.size() == problem.stencil.coefficients.size()) {
    return;
  }
  throw Error(ErrorCode::invalid_argument,
              "the reference needs " + std::to_string(fields.size()) + " inputs of " + std::to_string(cells) +
                  " cells and " + std::to_string(problem.stencil.coefficients.size()) + " coefficients, but got " +
                  std::to_string(inputs.size()) + " inputs and " + std::to_string(coefficients.size()) +
                  " coefficients, or inputs of another size");
}

}  // namespace

check::Rounding rounding_of(ElementType type, bool exact) {
  check::Rounding rounding;
  // f64: the reference is computed in f64 itself, so its own rounding counts too.
  rounding.unit = type == ElementType::f64 ? 0x1p-52 : 0x1p-24;
  rounding.tiny = type == ElementType::f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  rounding.largest_computed =
      type == ElementType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  rounding.largest = rounding.largest_computed;
  switch (type) {
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
    default:
      break;
  }
  if (exact) rounding.unit = rounding.tiny = rounding.storage_unit = rounding.storage_tiny = 0;
  return rounding;
}

check::Rounding rounding_of(const Problem& problem, int field, bool exact) {
  const ElementType type = storage_of(problem, field);
  if (type == problem.type) return rounding_of(type, exact);
  check::Rounding rounding = rounding_of(is_half(problem.type) ? ElementType::f32 : problem.type, exact);
  const check::Rounding stored = rounding_of(type, exact);
  if (is_whole(type) || type == ElementType::f64) return rounding;
  rounding.largest = stored.largest;
  if (exact || (type == ElementType::f32 && problem.type != ElementType::f64)) return rounding;
  // f64 goes through f32 to 16 bits: what is rounded twice may be off by a little more.
  constexpr double kF32 = 0x1p-24;
  rounding.storage_unit = stored.storage_unit + (problem.type == ElementType::f64 ? kF32 : 0);
  rounding.storage_tiny = std::max(stored.storage_tiny, static_cast<double>(std::numeric_limits<float>::min()));
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
    default:
      return check::to_whole(value, static_cast<int>(type));
  }
}

bool ReferenceField::accepts(std::size_t index, double result) const {
  return tolerance[index] < 0 || check::accepts(value[index], tolerance[index], result);
}

std::int64_t ReferenceField::unbounded_cells() const {
  return std::count_if(tolerance.begin(), tolerance.end(), [](double t) { return std::isinf(t); });
}

check::Bounded evaluate_cell(const Problem& stage, const ReferenceExpression& expression,
                             std::span<const std::vector<double>> inputs, std::span<const double> coefficients,
                             const std::array<std::int64_t, kMaxRank>& cell, const check::Rounding& rounding) {
  const std::vector<int> fields = kernel_inputs(stage);
  check_sizes(stage, fields, inputs, coefficients);
  const std::vector<Contents> contents = as_in_memory(stage.stencil, fields, inputs);
  return StripEvaluator(stage, expression, contents, coefficients, rounding, kCheckPlace)(cell, 1).front();
}

namespace {

/// The cells of one of the stage's outputs.
ComputedField sweep(const Problem& stage, std::size_t output, std::span<const Contents> contents,
                    std::span<const double> coefficients, const check::Rounding& rounding, const Place& at) {
  const auto cells = static_cast<std::size_t>(stage.allocated_cells());
  const Box box = updated_box(stage);
  ComputedField field{std::vector<double>(cells, 0.0), std::vector<double>(cells, 0.0), std::vector<bool>(cells)};
  const bool inherits = std::any_of(stage.facts.inputs.begin(), stage.facts.inputs.end(),
                                    [&](int input) { return contents[static_cast<std::size_t>(input)].computed; });
  std::vector<check::ErrorWeight> weights;
  if (inherits) weights = error_weights(stage, output, coefficients);
  const ReferenceExpression expression = reference_expression(stage, output);
  StripEvaluator evaluate(stage, expression, contents, coefficients, rounding, at, std::move(weights));
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      for (std::int64_t x = box.low[0]; x < box.high[0]; x += kStripCells) {
        std::size_t index = place(stage, {x, y, z});
        const auto strip = static_cast<std::size_t>(std::min(kStripCells, box.high[0] - x));
        for (const check::Bounded& result : evaluate({x, y, z}, strip)) {
          field.value[index] = result.value;
          field.error[index] = check::kept_error(result, rounding);
          field.computed[index] = true;
          ++index;
        }
      }
    }
  }
  return field;
}

ReferenceField stored(const Problem& problem, int output, const ComputedField& computed, bool exact) {
  const check::Rounding rounding = rounding_of(problem, output, exact);
  ReferenceField field{output, computed.value, std::vector<double>(computed.value.size(), -1.0)};
  for (std::size_t i = 0; i < computed.value.size(); ++i) {
    if (!computed.computed[i]) continue;
    if (exact) field.value[i] = round_to_storage(computed.value[i], storage_of(problem, output));
    field.tolerance[i] = check::stored_error(computed.value[i], computed.error[i], rounding);
  }
  return field;
}

/// Cells that the level did not compute are those of an earlier one.
void lay_beneath(ComputedField& field, const ComputedField& earlier) {
  for (std::size_t i = 0; i < field.value.size(); ++i) {
    if (field.computed[i] || !earlier.computed[i]) continue;
    field.value[i] = earlier.value[i];
    field.error[i] = earlier.error[i];
    field.computed[i] = true;
  }
}

/// All stages of a step, or the problem's own, each from what the ones before left.
void make_step(std::span<const Problem> stages, std::span<const double> coefficients, const check::Rounding& rounding,
               const Place& at, std::vector<Contents>& contents) {
  for (const Problem& stage : stages) {
    const std::vector<Update>& updates = updates_of(stage);
    const std::vector<Contents> before = contents;
    for (std::size_t output = 0; output < updates.size(); ++output) {
      const int field = updates[output].output;
      const Contents& layers = before[static_cast<std::size_t>(stage.step.layers_at[static_cast<std::size_t>(field)])];
      auto computed = std::make_shared<ComputedField>(sweep(stage, output, contents, coefficients, rounding, at));
      if (layers.computed && find_intermediate(stage.step, field) != nullptr) lay_beneath(*computed, *layers.computed);
      contents[static_cast<std::size_t>(field)] = {layers.memory, std::move(computed)};
    }
  }
}

void rotate(const Stencil& stencil, std::vector<Contents>& contents) {
  const std::vector<Contents> before = contents;
  for (const Rotation& rotation : stencil.rotations) {
    contents[static_cast<std::size_t>(rotation.to)] = before[static_cast<std::size_t>(rotation.from)];
  }
}

}  // namespace

std::vector<std::vector<ReferenceField>> evaluate_steps(const Problem& problem,
                                                        std::span<const std::vector<double>> inputs,
                                                        std::span<const double> coefficients, bool exact, int steps,
                                                        const Place& place) {
  const std::vector<int> fields = kernel_inputs(problem, steps);
  check_sizes(problem, fields, inputs, coefficients);
  const std::vector<Problem> stages = stage_problems(problem);
  std::vector<Contents> contents = as_in_memory(problem.stencil, fields, inputs);
  std::vector<std::vector<ReferenceField>> after;
  for (int step = 1; step <= steps; ++step) {
    if (step > 1) rotate(problem.stencil, contents);
    const Place at{place.origin, place.step + step - 1};
    make_step(stages, coefficients, rounding_of(problem.type, exact), at, contents);
    std::vector<ReferenceField>& stored_now = after.emplace_back();
    for (const int field : kernel_outputs(problem, step)) {
      stored_now.push_back(stored(problem, field, *contents[static_cast<std::size_t>(field)].computed, exact));
    }
  }
  return after;
}

std::vector<ReferenceField> evaluate_reference(const Problem& problem, std::span<const std::vector<double>> inputs,
                                               std::span<const double> coefficients, bool exact, int steps,
                                               const Place& place) {
  return evaluate_steps(problem, inputs, coefficients, exact, steps, place).back();
}

}  // namespace stencil_tune
