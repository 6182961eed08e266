// Device memory for the fields of a problem, with guard bands around each, and how the buffers rotate from step to
// step.
#pragma once

#include "generator/stencil/problem.hpp"
#include "runtime/cuda/module.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// Poisoned bytes before and after each field: a multiple of all alignments that kernels count on.
inline constexpr std::size_t kGuardBytes = std::size_t{1} << 20;

/// The fields that a problem's stage and its rotations touch, in order of index.
std::vector<int> fields_in_use(const Problem& problem);

/// Device bytes for them, guard bands included: what tuning the problem needs at least.
std::size_t field_set_bytes(const Problem& problem);

/// Throws Error(exceeds_device_memory) with what is needed and what there is.
void require_memory(const Problem& problem, std::size_t free_bytes, std::size_t total_bytes);

/// Why a device of so much memory cannot verify fused steps on the whole grid; nothing when it can.
std::optional<std::string> obstacle_to_fused_checks(const Problem& problem, std::size_t memory_bytes);

/// Buffers of one problem. Each is guard | field | guard.
class FieldSet {
 public:
  /// Room for several problems of the same stencil and element type: `cells` is the largest allocation among them.
  FieldSet(Driver& driver, const Problem& problem, std::int64_t cells);

  DevicePointer field(int index) const;  ///< of stencil.fields; throws Error(internal) for one not in use
  DevicePointer whole(int index) const { return field(index) - kGuardBytes; }
  std::int64_t guard_cells() const noexcept { return guard_cells_; }

  std::vector<DevicePointer> addresses(const std::vector<int>& fields) const;

 private:
  std::vector<int> fields_;
  std::vector<DeviceBuffer> buffers_;
  std::int64_t guard_cells_;
};

/// Which buffer each field has at a step: phase[field] is the field whose buffer it was at first.
using Phase = std::vector<int>;

/// The phases that repeated steps go through before the first returns: two for in <-> out, three for a two-level
/// scheme, one without rotations.
std::vector<Phase> phases(const Stencil& stencil);

/// Fields whose buffers come to the same places: their held layers must be equal. Gives each field the least of its
/// class.
std::vector<int> rotation_classes(const Stencil& stencil);

}  // namespace stencil_tune
