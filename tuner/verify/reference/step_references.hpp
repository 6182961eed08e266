// The problem's reference after one or several whole steps, level after level: a level is one stage of one step.
#pragma once

#include "tuner/verify/reference/device_reference.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace stencil_tune {

/// References of one size, used again when nobody holds them any more.
class ReferencePool {
 public:
  ReferencePool(const CheckKernels& kernels, std::int64_t capacity) : kernels_(kernels), capacity_(capacity) {}

  /// One that nobody holds; null where there is none and the device has no memory for one more.
  std::shared_ptr<DeviceReference> take_if_room();

  /// The same. Throws Error(exceeds_device_memory).
  std::shared_ptr<DeviceReference> take();

 private:
  std::shared_ptr<DeviceReference> find_free();
  std::shared_ptr<DeviceReference> add();

  const CheckKernels& kernels_;
  std::int64_t capacity_;
  std::vector<std::shared_ptr<DeviceReference>> all_;
};

/// A part of a grid along its last axis, planes or rows, that is to be right after so many steps.
struct StepSlab {
  std::int64_t low = 0, high = 0;
  int steps = 1;
};

/// The box's cells in it, and so many on either side.
Box within(const Box& box, const StepSlab& slab, int rank, std::int64_t beside = 0);

/// Rows of the box that lie before those of a part of it along the last axis.
std::int64_t rows_before(const Box& box, const Box& part);

/// How far a step of these stages reads along the last axis.
std::int64_t reach_of_step(std::span<const Problem> stages);

/// Which of the numbers of steps that were passed on the way are kept.
enum class Keep { all, last };

/// The fields after so many steps: each is computed from those a step before it, which are kept as far as memory
/// allows. All that it is given must outlive it.
class StepReferences {
 public:
  /// stages: of the problem, in order. The pool's references have room for the updated cells of each. slab: what of
  /// them after its steps is right; each step before it is computed as much further as the steps after it read.
  StepReferences(std::span<const Problem> stages, const FieldSet& fields, const CheckCase& how, ReferencePool& pool,
                 Keep keep = Keep::all, std::optional<StepSlab> slab = std::nullopt);

  /// What each field of the stencil holds after that many steps, of 1 or more, under the names before the rotation of
  /// the last one: as kernel_outputs() counts. What a step neither writes nor keeps is of no meaning. The fields'
  /// inputs must be as the case says. Throws Error(exceeds_device_memory).
  const std::vector<FieldContents>& after(int steps);

 private:
  std::vector<FieldContents> first_contents() const;
  std::vector<FieldContents> rotated(const std::vector<FieldContents>& contents) const;
  std::vector<FieldContents> make_step(std::vector<FieldContents> contents, int done);
  std::shared_ptr<DeviceReference> take(int kept);
  Box computed_box(const Problem& stage, int done) const;

  std::span<const Problem> stages_;
  const FieldSet& fields_;
  const CheckCase& how_;
  ReferencePool& pool_;
  Keep keep_;
  std::optional<StepSlab> slab_;
  std::map<int, std::vector<FieldContents>> known_;  ///< by steps
};

/// Cells of the stage that updates most.
std::int64_t most_updated_cells(std::span<const Problem> stages);

}  // namespace stencil_tune
