// Device memory for the fields of a problem, with guard bands around each, and how the buffers rotate from step to
// step.
#pragma once

#include "generator/stencil/buffers.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/cuda/module.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// Poisoned bytes before and after each field: a multiple of all alignments that kernels count on.
inline constexpr std::size_t kGuardBytes = std::size_t{1} << 20;

/// The places of the buffers that launches of the problem touch, and those that take turns with them, in order:
/// fields of the stencil, then spare ones (generator/stencil/buffers.hpp).
std::vector<int> places_in_use(const Problem& problem);

/// Device bytes for them, guard bands included: what tuning the problem needs at least.
std::size_t field_set_bytes(const Problem& problem);

/// Throws Error(exceeds_device_memory) with what is needed and what there is.
void require_memory(const Problem& problem, std::size_t free_bytes, std::size_t total_bytes);

/// Device bytes for the references of fused steps on the whole grid.
std::size_t fused_reference_bytes(const Problem& problem);

/// Whether parts of the grid along its last axis can be compared one after the other: each knows its ends.
bool may_check_in_slabs(const Problem& problem);

/// Whether candidates are checked in slabs, where so much memory is left for references: each in some, the fastest of a
/// race in all of them.
bool checks_in_slabs(const Problem& problem, std::size_t memory_bytes);

/// Why a device of so much memory cannot verify fused steps; nothing when it can.
std::optional<std::string> obstacle_to_fused_checks(const Problem& problem, std::size_t memory_bytes);

/// Buffers of one problem. Each is guard | field | guard, and has room for the widest cells of a field.
class FieldSet {
 public:
  /// Room for several problems of the same stencil and element type: `cells` is the largest allocation among them.
  FieldSet(Driver& driver, const Problem& problem, std::int64_t cells)
      : FieldSet(driver, problem, places_in_use(problem), cells) {}
  FieldSet(Driver& driver, const Problem& problem, std::vector<int> places, std::int64_t cells);

  DevicePointer field(int place) const;  ///< throws Error(internal) for one not in use
  DevicePointer whole(int place) const { return field(place) - kGuardBytes; }
  /// How many cells of that type a guard band has.
  static std::int64_t guard_cells(ElementType type) noexcept {
    return static_cast<std::int64_t>(kGuardBytes / size_of(type));
  }

  std::vector<DevicePointer> addresses(const std::vector<int>& places) const;

 private:
  std::vector<int> places_;
  std::vector<DeviceBuffer> buffers_;
};

/// Which buffer stands at each place at a launch: phase[place] is the place where it stood at first.
using Phase = std::vector<int>;

/// The phases that repeated launches go through before the first returns: two for in <-> out, three for single steps of
/// a two-level scheme, one without rotations.
std::vector<Phase> phases(const LaunchBuffers& buffers);

}  // namespace stencil_tune
