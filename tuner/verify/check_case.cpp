#include "tuner/verify/check_case.hpp"

#include "tuner/verify/reference.hpp"

#include <span>
#include <utility>

namespace stencil_tune {

CheckCase make_case(Driver& driver, const Problem& problem, CheckNumbers numbers) {
  CheckCase how{std::move(numbers), {}, {}, {}, 0};
  const std::vector<double>& coefficients = how.numbers.coefficients;
  for (std::size_t output = 0; output < updates_of(problem).size(); ++output) {
    how.programs.push_back(compile_reference(problem, reference_expression(problem, output), coefficients));
    const auto bytes = std::as_bytes(std::span(how.programs.back().instructions));
    how.instructions.emplace_back(driver, bytes.size());
    how.instructions.back().write(bytes);
  }
  const std::vector<check::ErrorWeight> weights = error_weights(problem, coefficients);
  if (!weights.empty()) {
    how.weight_count = static_cast<int>(weights.size());
    how.weights.emplace(driver, weights.size() * sizeof(check::ErrorWeight));
    how.weights->write(std::as_bytes(std::span(weights)));
  }
  driver.synchronize_context();  // the host's copies may move from here on
  return how;
}

}  // namespace stencil_tune
