#include "tuner/verify/reference/error_weights.hpp"

#include "generator/stencil/rewriting/linear.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference/reference.hpp"
#include "tuner/verify/reference/reference_program.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

/// The value of an expression without reads.
check::Bounded constant_value(const Problem& problem, const ReferenceExpression& expression,
                              std::span<const double> coefficients) {
  const ReferenceProgram program = compile_reference(problem, expression, coefficients);
  std::vector<check::Bounded> slots(static_cast<std::size_t>(program.slots));
  return check::run_program(program.instructions.data(), static_cast<int>(program.instructions.size()), slots.data(),
                            rounding_of(problem.type), {}, [](int, const int(&)[3]) { return check::exactly(0); });
}

}  // namespace

std::vector<check::ErrorWeight> error_weights(const Problem& stage, std::size_t output,
                                              std::span<const double> coefficients) {
  std::vector<check::ErrorWeight> weights;
  const NodeId expression = updates_of(stage)[output].expression;
  if (!is_linear(stage.stencil, expression)) return weights;
  StencilBuilder with_weights(stage.stencil);
  const std::vector<LinearTap> taps = distribute_weights(with_weights, expression);
  const std::vector<int>& inputs = stage.facts.inputs;
  for (const LinearTap& tap : taps) {
    const auto input = std::find(inputs.begin(), inputs.end(), tap.tap.field) - inputs.begin();
    check::Bounded weight = check::exactly(1);
    if (tap.weight >= 0) {
      weight = constant_value(stage, simplified_expression(with_weights.stencil(), tap.weight), coefficients);
    }
    const Offset& offset = tap.tap.offset;
    weights.push_back({{offset[0], offset[1], offset[2]},
                       static_cast<int>(input),
                       1.01 * (std::fabs(weight.value) + check::total_error(weight, rounding_of(stage.type)))});
  }
  return weights;
}

}  // namespace stencil_tune
