// The problem's reference after one or several whole steps, level after level: a level is one stage of one step.
#pragma once

#include "tuner/verify/reference/device_reference.hpp"

#include <map>
#include <memory>
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

/// Which of the numbers of steps that were passed on the way are kept.
enum class Keep { all, last };

/// The fields after so many steps: each is computed from those a step before it, which are kept as far as memory
/// allows. All that it is given must outlive it.
class StepReferences {
 public:
  /// stages: of the problem, in order. The pool's references have room for the updated cells of each.
  StepReferences(std::span<const Problem> stages, const FieldSet& fields, const CheckCase& how, ReferencePool& pool,
                 Keep keep = Keep::all);

  /// What each field of the stencil holds after that many steps, of 1 or more, under the names before the rotation of
  /// the last one: as kernel_outputs() counts. What a step neither writes nor keeps is of no meaning. The fields'
  /// inputs must be as the case says. Throws Error(exceeds_device_memory).
  const std::vector<FieldContents>& after(int steps);

 private:
  std::vector<FieldContents> first_contents() const;
  std::vector<FieldContents> rotated(const std::vector<FieldContents>& contents) const;
  std::vector<FieldContents> make_step(std::vector<FieldContents> contents, int done);
  std::shared_ptr<DeviceReference> take(int kept);

  std::span<const Problem> stages_;
  const FieldSet& fields_;
  const CheckCase& how_;
  ReferencePool& pool_;
  Keep keep_;
  std::map<int, std::vector<FieldContents>> known_;  ///< by steps
};

/// Cells of the stage that updates most.
std::int64_t most_updated_cells(std::span<const Problem> stages);

}  // namespace stencil_tune
