#include "tuner/verify/reference/device_reference.hpp"

#include "tuner/verify/reference/reference.hpp"

#include <algorithm>

namespace stencil_tune {

static_assert(check::kAlongTime == kAlongTime);

std::int64_t row_cells(const Box& box) { return box.high[0] - box.low[0]; }

std::int64_t row_count(const Box& box) { return (box.high[1] - box.low[1]) * (box.high[2] - box.low[2]); }

DeviceReference::DeviceReference(const CheckKernels& kernels, std::int64_t capacity)
    : kernels_(kernels),
      capacity_(capacity),
      values_(kernels.driver(), static_cast<std::size_t>(capacity) * sizeof(double)),
      errors_(kernels.driver(), static_cast<std::size_t>(capacity) * sizeof(float)),
      unbounded_(kernels.driver(), sizeof(unsigned long long)) {
  reset();
}

check::ComputedBox DeviceReference::argument_of(const ComputedCells& cells) {
  check::ComputedBox box{};
  if (!cells.by) return box;
  box.values = device_pointer<const double>(cells.by->values_.address());
  box.errors = device_pointer<const float>(cells.by->errors_.address());
  std::copy(cells.box.low.begin(), cells.box.low.end(), box.low);
  std::copy(cells.box.high.begin(), cells.box.high.end(), box.high);
  return box;
}

void DeviceReference::compute(const Output& output, const FieldSet& fields, std::span<const FieldContents> contents,
                              const Slab& slab, std::int64_t at) {
  const auto& [stage, how, exact, step] = output;
  check::ReferenceArguments arguments{};
  arguments.program = device_pointer<const check::Instruction>(how.instructions.address());
  const std::vector<int> read = reference_inputs(stage);
  for (std::size_t i = 0; i < read.size(); ++i) {
    const int field = read[i];
    check::ReferenceInput& input = arguments.inputs[i];
    input.along = static_cast<int>(profile_along(stage.stencil, field));
    input.type = static_cast<int>(storage_of(stage, field));
    if (contents.empty() || input.along > 0) {
      input.cells = device_pointer(fields.field(field));
      continue;
    }
    const FieldContents& now = contents[static_cast<std::size_t>(field)];
    input.cells = device_pointer(fields.field(now.layers));
    input.computed[0] = argument_of(now.computed);
    input.computed[1] = argument_of(now.beneath);
  }
  if (how.weights) arguments.weights = device_pointer<const check::ErrorWeight>(how.weights->address());
  arguments.weight_count = how.weight_count;
  arguments.values = device_pointer<double>(values_.address()) + at;
  arguments.errors = device_pointer<float>(errors_.address()) + at;
  arguments.unbounded = device_pointer<unsigned long long>(unbounded_.address());
  arguments.layout = layout_of(stage, updated_box(stage), stage.type);
  arguments.rounding = rounding_of(stage, how.field, exact);
  arguments.first_row = slab.first_row;
  arguments.rows = slab.rows;
  arguments.step = step;
  arguments.instructions = static_cast<int>(how.program.instructions.size());
  kernels_.reference(arguments);
}

void DeviceReference::compare(const Problem& problem, int output, const Box& box, bool exact, DevicePointer field,
                              const Slab& slab, std::int64_t at, DevicePointer report) const {
  kernels_.compare({device_pointer(field), device_pointer<const double>(values_.address()) + at,
                    device_pointer<const float>(errors_.address()) + at, device_pointer<check::Report>(report),
                    layout_of(problem, box, storage_of(problem, output)), rounding_of(problem, output, exact),
                    slab.first_row, slab.rows, exact ? 1 : 0, 0});
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
