// Kernels that fill inputs, poison outputs, compute the reference and compare with it, all over whole arrays.
//
// Compiled at run time: STENCIL_TUNE_SLOTS is the reference program's number of slots.
#include "tuner/verify/device/arguments.h"
#include "tuner/verify/device/storage.h"

#ifndef STENCIL_TUNE_SLOTS
#define STENCIL_TUNE_SLOTS 8
#endif

namespace stencil_tune::check {

/// A NaN that no arithmetic makes; of whole numbers one that is as good as any.
__device__ unsigned long long poison_of(int type) {
  constexpr unsigned long long kPoison[] = {0x7ff8dead5eedbeefull, 0x7fc5dead, 0x7ead, 0x7fed,    0xb7,
                                            0xb7,                  0x9ead,     0x9ead, 0x9ead5eed};
  return kPoison[type];
}

__device__ long long first_column() { return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ long long column_step() { return static_cast<long long>(gridDim.x) * blockDim.x; }

/// This thread's number and the number of threads, over the whole launch.
__device__ long long thread_number() { return blockIdx.y * column_step() + first_column(); }
__device__ long long thread_count() { return gridDim.y * column_step(); }

/// Calls visit(x, y, z) for this thread's share of the box's rows first_row .. first_row + rows.
template <class Visit>
__device__ void for_cells(const long long (&low)[3], const long long (&high)[3], long long first_row, long long rows,
                          const Visit& visit) {
  const long long height = high[1] - low[1];
  for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
    const long long z = low[2] + (first_row + row) / height;
    const long long y = low[1] + (first_row + row) % height;
    for (long long x = low[0] + first_column(); x < high[0]; x += column_step()) visit(x, y, z);
  }
}

__device__ long long place_of(const Layout& layout, long long x, long long y, long long z) {
  return (z * layout.n[1] + y) * layout.pitch + x;
}

/// The cell's number with dense rows: inputs are the same whatever the pitch.
__device__ unsigned long long number_of(const Layout& layout, long long x, long long y, long long z) {
  return static_cast<unsigned long long>((z * layout.n[1] + y) * layout.n[0] + x);
}

__device__ bool in_box(const Layout& layout, long long x, long long y, long long z) {
  return x >= layout.low[0] && x < layout.high[0] && y >= layout.low[1] && y < layout.high[1] && z >= layout.low[2] &&
         z < layout.high[2];
}

__device__ void count(unsigned long long* counter, long long* first, long long place) {
  atomicAdd(counter, 1ull);
  atomicMin(first, place);
}

/// Calls visit(x, y, z) for every cell allocated to the field, row padding included.
template <class Visit>
__device__ void for_allocated(const Layout& layout, const Visit& visit) {
  const long long low[3] = {0, 0, 0};
  const long long high[3] = {layout.pitch, layout.n[1], layout.n[2]};
  for_cells(low, high, 0, layout.n[1] * layout.n[2], visit);
}

/// Calls visit(place) for the guard cells before and after the field.
template <class Visit>
__device__ void for_guards(const Layout& layout, long long guard, const Visit& visit) {
  const long long cells = layout.pitch * layout.n[1] * layout.n[2];
  for (long long i = thread_number(); i < 2 * guard; i += thread_count())
    visit(i < guard ? i - guard : cells + i - guard);
}

/// What fill() writes to a cell.
__device__ unsigned long long input_bits(const Layout& layout, long long x, long long y, long long z,
                                         unsigned long long seed, const Input& input) {
  const double value = input_value(seed, number_of(layout, x, y, z), {x, y, z}, input);
  return bits_of_value(input_as_stored(value, input, layout.type), layout.type);
}

extern "C" __global__ void fill(FillArguments arguments) {
  const Layout& layout = arguments.layout;
  const long long low[3] = {0, 0, 0};
  for_cells(low, layout.n, 0, layout.n[1] * layout.n[2], [&](long long x, long long y, long long z) {
    set_cell_bits(arguments.cells, place_of(layout, x, y, z), layout.type,
                  input_bits(layout, x, y, z, arguments.seed, arguments.input));
  });
}

extern "C" __global__ void poison(PoisonArguments arguments) {
  for (long long i = thread_number(); i < arguments.count; i += thread_count()) {
    set_cell_bits(arguments.cells, i, arguments.type, poison_of(arguments.type));
  }
}

struct ReadCell {
  const ReferenceArguments& arguments;
  long long cell[3];

  __device__ Bounded operator()(int input, const int (&offset)[3]) const {
    const ReferenceInput& from = arguments.inputs[input];
    if (from.along > 0) return entry(from, offset);
    long long at[3];
    if (!find(offset, at)) return exactly(0);
    const ComputedBox* box = box_with(from, at);
    if (box == nullptr) {
      return in_memory(from, place_of(arguments.layout, at[0], at[1], at[2]));
    }
    const long long number = number_in(*box, at);
    return arguments.weight_count > 0 ? enclosed(box->values[number], box->errors[number])
                                      : opaque(box->values[number], box->errors[number], 0);
  }

  /// What the errors of earlier levels add to a linear update's.
  __device__ double inherited_error() const {
    double error = 0;
    for (int i = 0; i < arguments.weight_count; ++i) {
      const ErrorWeight tap = arguments.weights[i];
      long long at[3];
      if (!find(tap.offset, at)) continue;
      const ComputedBox* box = box_with(arguments.inputs[tap.input], at);
      if (box != nullptr) error += scaled(box->errors[number_in(*box, at)], tap.weight);
    }
    return error;
  }

 private:
  __device__ static Bounded in_memory(const ReferenceInput& from, long long place) {
    return exactly(value_of_bits(cell_bits(from.cells, place, from.type), from.type));
  }

  /// Where the read finds its value; false for the 0 outside.
  __device__ bool find(const int (&offset)[3], long long (&at)[3]) const {
    const Layout& layout = arguments.layout;
    for (int axis = 0; axis < 3; ++axis) {
      at[axis] = mapped_index(cell[axis] + offset[axis], layout.n[axis], layout.boundary[axis]);
      if (at[axis] < 0) return false;
    }
    return true;
  }

  /// The entry of a profile at the step's number or at the cell's place along its axes. Under hold the nearest entry
  /// answers beyond an edge.
  __device__ Bounded entry(const ReferenceInput& from, const int (&offset)[3]) const {
    const Layout& layout = arguments.layout;
    long long place = from.along == kAlongTime ? arguments.step : 0;
    long long apart = 1;
    for (int axis = 0; axis < 3; ++axis) {
      if ((from.along & (1 << axis)) == 0) continue;
      const long long at = profile_index(cell[axis] + offset[axis], layout.n[axis], layout.boundary[axis]);
      if (at < 0) return exactly(0);
      place += at * apart;
      apart *= layout.n[axis];
    }
    return in_memory(from, place);
  }

  /// The box of the level that computed the cell; null where it is as in memory.
  __device__ static const ComputedBox* box_with(const ReferenceInput& from, const long long (&at)[3]) {
    for (const ComputedBox& box : from.computed) {
      if (box.values == nullptr) continue;
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) inside = inside && at[axis] >= box.low[axis] && at[axis] < box.high[axis];
      if (inside) return &box;
    }
    return nullptr;
  }

  __device__ static long long number_in(const ComputedBox& box, const long long (&at)[3]) {
    const long long row = (at[2] - box.low[2]) * (box.high[1] - box.low[1]) + (at[1] - box.low[1]);
    return row * (box.high[0] - box.low[0]) + (at[0] - box.low[0]);
  }
};

/// To f32 so that no error becomes smaller; 0 stays 0.
__device__ float rounded_up(double error) { return error == 0 ? 0.0f : __double2float_ru(error) + 1.4e-45f; }

extern "C" __global__ void reference(const __grid_constant__ ReferenceArguments arguments) {
  const Layout& layout = arguments.layout;
  const long long width = layout.high[0] - layout.low[0];
  const long long height = layout.high[1] - layout.low[1];
  Bounded slots[STENCIL_TUNE_SLOTS];
  for_cells(layout.low, layout.high, arguments.first_row, arguments.rows, [&](long long x, long long y, long long z) {
    const ReadCell read{arguments, {x, y, z}};
    Bounded result = run_program(arguments.program, arguments.instructions, slots, arguments.rounding,
                                 {{x, y, z}, arguments.step, {layout.n[0], layout.n[1], layout.n[2]}}, read);
    result.error += read.inherited_error();
    const double error = kept_error(result, arguments.rounding);
    if (stored_error(result.value, error, arguments.rounding) == infinity()) atomicAdd(arguments.unbounded, 1ull);
    const long long row = (z - layout.low[2]) * height + (y - layout.low[1]) - arguments.first_row;
    const long long at = row * width + (x - layout.low[0]);
    arguments.values[at] = result.value;
    arguments.errors[at] = rounded_up(error);
  });
}

extern "C" __global__ void compare(CompareArguments arguments) {
  const Layout& layout = arguments.layout;
  const long long width = layout.high[0] - layout.low[0];
  const long long height = layout.high[1] - layout.low[1];
  for_cells(layout.low, layout.high, arguments.first_row, arguments.rows, [&](long long x, long long y, long long z) {
    const long long row = (z - layout.low[2]) * height + (y - layout.low[1]) - arguments.first_row;
    const long long at = row * width + (x - layout.low[0]);
    const long long place = place_of(layout, x, y, z);
    const unsigned long long bits = cell_bits(arguments.output, place, layout.type);
    const double value = arguments.values[at];
    const double allowed = stored_error(value, arguments.errors[at], arguments.rounding);
    const double expected =
        arguments.exact ? value_of_bits(bits_of_value(value, layout.type), layout.type) : value;
    const bool poisoned = bits == poison_of(layout.type) && !is_whole_type(layout.type);
    if (poisoned || !accepts(expected, allowed, value_of_bits(bits, layout.type))) {
      count(&arguments.report->mismatches, &arguments.report->first_mismatch, place);
    }
  });
}

extern "C" __global__ void untouched(UntouchedArguments arguments) {
  const Layout& layout = arguments.layout;
  const auto expect_poison = [&](long long place) {
    const bool is_poison = cell_bits(arguments.field, place, layout.type) == poison_of(layout.type);
    if (!is_poison) count(&arguments.report->touched, &arguments.report->first_touched, place);
  };
  for_allocated(layout, [&](long long x, long long y, long long z) {
    if (!in_box(layout, x, y, z)) expect_poison(place_of(layout, x, y, z));
  });
  for_guards(layout, arguments.guard, expect_poison);
}

extern "C" __global__ void unchanged(UnchangedArguments arguments) {
  const Layout& layout = arguments.layout;
  const auto expect = [&](long long place, unsigned long long bits) {
    const bool is_there = cell_bits(arguments.field, place, layout.type) == bits;
    if (!is_there) count(&arguments.report->changed, &arguments.report->first_changed, place);
  };
  for_allocated(layout, [&](long long x, long long y, long long z) {
    if (arguments.outside_alone && in_box(layout, x, y, z)) return;
    expect(place_of(layout, x, y, z), x < layout.n[0]
                                          ? input_bits(layout, x, y, z, arguments.seed, arguments.input)
                                          : poison_of(layout.type));
  });
  for_guards(layout, arguments.guard, [&](long long place) { expect(place, poison_of(layout.type)); });
}

}  // namespace stencil_tune::check
