// The reference, computed on the device by the interpreter of reference programs, and room to keep it.
#pragma once

#include "tuner/verify/check_case.hpp"
#include "tuner/verify/check_kernels.hpp"
#include "tuner/verify/field_set.hpp"

#include <memory>
#include <span>
#include <utility>

namespace stencil_tune {

/// Rows of a box, numbered along y, then z.
struct Slab {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
};

/// Cells of a row of the box, and how many rows it has.
std::int64_t row_cells(const Box& box);
std::int64_t row_count(const Box& box);

class DeviceReference;

/// All cells of a box, which a level computed, from cell 0 on.
struct ComputedCells {
  std::shared_ptr<const DeviceReference> by{};  ///< null: none were computed
  Box box{};
};

/// What a field holds: memory, but for the cells that levels computed.
struct FieldContents {
  int layers = 0;  ///< the field whose memory it is
  ComputedCells computed{};
  ComputedCells beneath{};  ///< what the field held whose layers an intermediate has
};

/// Values before they are stored, and bounds of their errors, of as many cells as it has room for. Works on the
/// kernels' stream.
class DeviceReference {
 public:
  static constexpr std::size_t kBytesPerCell = sizeof(double) + sizeof(float);

  /// Throws Error(exceeds_device_memory).
  DeviceReference(const CheckKernels& kernels, std::int64_t capacity);

  std::int64_t capacity() const noexcept { return capacity_; }

  /// Which output of a stage, and what is known of it.
  struct Output {
    const Problem& stage;
    const OutputCase& how;
    bool exact = false;
    std::int64_t step = kCheckPlace.step;  ///< its number
  };

  /// One output's slab, stored from cell `at` on. `contents`: of each field of the stencil; empty: all as in memory.
  void compute(const Output& output, const FieldSet& fields, std::span<const FieldContents> contents, const Slab& slab,
               std::int64_t at = 0);

  /// The slab of the box, stored from cell `at` on, against the field that a kernel wrote; counts into the report.
  /// output: the field's number.
  void compare(const Problem& problem, int output, const Box& box, bool exact, DevicePointer field, const Slab& slab,
               std::int64_t at, DevicePointer report) const;

  /// Forgets how many cells may hold anything.
  void reset() { unbounded_.fill(0, kernels_.stream()); }

  /// Cells computed so far that may hold anything. Waits for the device.
  std::uint64_t unbounded() const;

  /// Value and error of a stored cell. Waits for the device.
  std::pair<double, double> read(std::int64_t at) const;

 private:
  static check::ComputedBox argument_of(const ComputedCells& cells);

  const CheckKernels& kernels_;
  std::int64_t capacity_;
  DeviceBuffer values_;
  DeviceBuffer errors_;
  DeviceBuffer unbounded_;
};

/// An address as the device code's pointers.
template <class T = void>
T* device_pointer(DevicePointer address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

/// Copies one value back and waits for it.
template <class T>
T read_device(const CheckKernels& kernels, DevicePointer from) {
  T value{};
  kernels.driver().copy_to_host(&value, from, sizeof value, kernels.stream());
  kernels.driver().synchronize_stream(kernels.stream());
  return value;
}

}  // namespace stencil_tune
