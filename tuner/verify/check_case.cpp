#include "tuner/verify/check_case.hpp"

#include "tuner/verify/reference.hpp"

#include <span>
#include <utility>

namespace stencil_tune {
namespace {

CheckCase make_case(Driver& driver, const Problem& problem, check::Input input, bool exact,
                    std::vector<double> coefficients) {
  CheckCase how{input, exact, std::move(coefficients), {}, {}};
  for (const Update& update : updates_of(problem)) {
    how.programs.push_back(compile_reference(problem, update.expression, how.coefficients));
    const auto bytes = std::as_bytes(std::span(how.programs.back().instructions));
    how.instructions.emplace_back(driver, bytes.size());
    how.instructions.back().write(bytes);
  }
  driver.synchronize_context();  // the host's copies may move from here on
  return how;
}

}  // namespace

CheckCase random_case(Driver& driver, const Problem& problem) {
  return make_case(driver, problem, suitable_input(problem), false, distinct_coefficients(problem.stencil));
}

std::optional<CheckCase> exact_case(Driver& driver, const Problem& problem) {
  std::optional<std::vector<double>> coefficients = exact_coefficients(problem);
  if (!coefficients) return std::nullopt;
  return make_case(driver, problem, exact_input(problem), true, std::move(*coefficients));
}

std::uint64_t input_seed(std::uint64_t session_seed, int field) {
  return session_seed * 1000003 + static_cast<std::uint64_t>(field);
}

std::vector<double> host_input(const Problem& problem, std::uint64_t session_seed, int field, check::Input input) {
  std::vector<double> cells(static_cast<std::size_t>(problem.allocated_cells()), 0.0);
  const std::uint64_t seed = input_seed(session_seed, field);
  const std::int64_t rows = problem.extents.n[1] * problem.extents.n[2];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t x = 0; x < problem.extents.n[0]; ++x) {
      const auto number = static_cast<unsigned long long>(row * problem.extents.n[0] + x);
      cells[static_cast<std::size_t>(row * problem.pitch + x)] =
          round_to_storage(check::input_value(seed, number, input), problem.type);
    }
  }
  return cells;
}

const std::vector<Update>& updates_of(const Problem& problem) {
  return problem.stencil.stages[static_cast<std::size_t>(problem.stage)].updates;
}

}  // namespace stencil_tune
