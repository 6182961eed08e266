#include "tuner/verify/check_case.hpp"

#include "tuner/verify/reference/error_weights.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace stencil_tune {
namespace {

template <class T>
DeviceBuffer on_device(Driver& driver, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  DeviceBuffer buffer(driver, bytes.size());
  buffer.write(bytes);
  return buffer;
}

OutputCase make_output(Driver& driver, const Problem& stage, std::size_t output_index,
                       const std::vector<double>& coefficients) {
  ReferenceProgram program = compile_reference(stage, reference_expression(stage, output_index), coefficients);
  DeviceBuffer instructions = on_device(driver, program.instructions);
  OutputCase output{updates_of(stage)[output_index].output, std::move(program), std::move(instructions), std::nullopt,
                    0};
  const std::vector<check::ErrorWeight> weights = error_weights(stage, output_index, coefficients);
  if (weights.empty()) return output;
  output.weight_count = static_cast<int>(weights.size());
  output.weights.emplace(on_device(driver, weights));
  driver.synchronize_context();  // the host's copy goes
  return output;
}

}  // namespace

int CheckCase::slots() const {
  int most = 1;
  for (const auto& outputs : stages) {
    for (const OutputCase& output : outputs) most = std::max(most, output.program.slots);
  }
  return most;
}

CheckCase make_case(Driver& driver, const std::vector<Problem>& stages, CheckNumbers numbers) {
  CheckCase how{std::move(numbers), {}};
  for (const Problem& stage : stages) {
    std::vector<OutputCase>& outputs = how.stages.emplace_back();
    for (std::size_t output = 0; output < updates_of(stage).size(); ++output) {
      outputs.push_back(make_output(driver, stage, output, how.numbers.coefficients));
    }
  }
  driver.synchronize_context();  // the host's copies may move from here on
  return how;
}

}  // namespace stencil_tune
