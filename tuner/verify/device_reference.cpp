#include "tuner/verify/device_reference.hpp"

#include "tuner/verify/reference.hpp"

namespace stencil_tune {

std::int64_t row_cells(const Problem& problem) {
  const Box box = updated_box(problem);
  return box.high[0] - box.low[0];
}

std::int64_t row_count(const Problem& problem) {
  const Box box = updated_box(problem);
  return (box.high[1] - box.low[1]) * (box.high[2] - box.low[2]);
}

DeviceReference::DeviceReference(const CheckKernels& kernels, std::int64_t capacity)
    : kernels_(kernels),
      capacity_(capacity),
      values_(kernels.driver(), static_cast<std::size_t>(capacity) * sizeof(double)),
      errors_(kernels.driver(), static_cast<std::size_t>(capacity) * sizeof(float)),
      unbounded_(kernels.driver(), sizeof(unsigned long long)) {
  unbounded_.fill(0, kernels.stream());
}

void DeviceReference::compute(const Problem& problem, const FieldSet& fields, const CheckCase& how, std::size_t output,
                              const Slab& slab, std::int64_t at, const DeviceReference* earlier) {
  check::ReferenceArguments arguments{};
  arguments.program = device_pointer<const check::Instruction>(how.instructions[output].address());
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) {
    arguments.inputs[i] = device_pointer(fields.field(problem.facts.inputs[i]));
  }
  if (earlier != nullptr) {
    arguments.advanced = static_cast<int>(advanced_input(problem).value());
    arguments.earlier_values = device_pointer<const double>(earlier->values_.address());
    arguments.earlier_errors = device_pointer<const float>(earlier->errors_.address());
    if (how.weights) arguments.weights = device_pointer<const check::ErrorWeight>(how.weights->address());
    arguments.weight_count = how.weight_count;
  }
  arguments.values = device_pointer<double>(values_.address()) + at;
  arguments.errors = device_pointer<float>(errors_.address()) + at;
  arguments.unbounded = device_pointer<unsigned long long>(unbounded_.address());
  arguments.layout = layout_of(problem);
  arguments.rounding = rounding_of(problem.type, how.numbers.exact);
  arguments.first_row = slab.first_row;
  arguments.rows = slab.rows;
  arguments.instructions = static_cast<int>(how.programs[output].instructions.size());
  kernels_.reference(arguments);
}

void DeviceReference::compare(const Problem& problem, const CheckCase& how, DevicePointer output, const Slab& slab,
                              std::int64_t at, DevicePointer report) const {
  kernels_.compare({device_pointer(output), device_pointer<const double>(values_.address()) + at,
                    device_pointer<const float>(errors_.address()) + at, device_pointer<check::Report>(report),
                    layout_of(problem), rounding_of(problem.type, how.numbers.exact), slab.first_row, slab.rows,
                    how.numbers.exact ? 1 : 0, 0});
}

std::uint64_t DeviceReference::unbounded() const {
  return read_device<unsigned long long>(kernels_, unbounded_.address());
}

std::pair<double, double> DeviceReference::read(std::int64_t at) const {
  const auto index = static_cast<std::size_t>(at);
  return {read_device<double>(kernels_, values_.address() + index * sizeof(double)),
          read_device<float>(kernels_, errors_.address() + index * sizeof(float))};
}

}  // namespace stencil_tune
