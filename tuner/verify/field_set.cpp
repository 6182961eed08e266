#include "tuner/verify/field_set.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/verify/device_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace stencil_tune {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

/// Of the grid, at one time: after one sweep, and the two that each lead from a number of sweeps to the next.
constexpr std::size_t kReferencesOfFusedChecks = 3;
constexpr double kShareOfMemory = 0.9;  // the context, the modules and the small grids need some

double gib(std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(kGiB); }

/// A two-level scheme of many fields returns after as many steps as its longest rotation; beyond this, timing any
/// phases is as good as timing all.
constexpr std::size_t kMostPhases = 12;

Phase next_phase(const Stencil& stencil, const Phase& now) {
  Phase next = now;
  std::vector<int> given_up;
  std::set<int> moved_from;
  std::set<int> moved_to;
  for (const Rotation& rotation : stencil.rotations) {
    moved_from.insert(rotation.from);
    moved_to.insert(rotation.to);
  }
  for (const Rotation& rotation : stencil.rotations) {
    next[static_cast<std::size_t>(rotation.to)] = now[static_cast<std::size_t>(rotation.from)];
    if (!moved_from.contains(rotation.to)) given_up.push_back(now[static_cast<std::size_t>(rotation.to)]);
  }
  // What nobody holds any more is free for the fields that gave theirs away: the next outputs.
  for (int field : moved_from) {
    if (moved_to.contains(field) || given_up.empty()) continue;
    next[static_cast<std::size_t>(field)] = given_up.back();
    given_up.pop_back();
  }
  return next;
}

}  // namespace

std::vector<int> fields_in_use(const Problem& problem) {
  std::set<int> fields(problem.facts.inputs.begin(), problem.facts.inputs.end());
  fields.insert(problem.facts.outputs.begin(), problem.facts.outputs.end());
  for (const Rotation& rotation : problem.stencil.rotations) {
    fields.insert(rotation.from);
    fields.insert(rotation.to);
  }
  return {fields.begin(), fields.end()};
}

std::size_t field_set_bytes(const Problem& problem) {
  return fields_in_use(problem).size() * (problem.field_bytes() + 2 * kGuardBytes);
}

void require_memory(const Problem& problem, std::size_t free_bytes, std::size_t total_bytes) {
  const std::size_t needed = field_set_bytes(problem);
  if (needed <= free_bytes) return;
  throw Error(ErrorCode::exceeds_device_memory,
              fmt::format("{} {} needs {:.2f} GiB of device memory for {} fields; {:.2f} of the GPU's {:.2f} GiB are "
                          "free. Use a smaller grid, a smaller element type, or a GPU with more memory",
                          to_string(problem.extents), name(problem.type), gib(needed), fields_in_use(problem).size(),
                          gib(free_bytes), gib(total_bytes)));
}

std::optional<std::string> obstacle_to_fused_checks(const Problem& problem, std::size_t memory_bytes) {
  const auto cells = static_cast<std::size_t>(updated_box(problem).cells());
  const std::size_t references = kReferencesOfFusedChecks * cells * DeviceReference::kBytesPerCell;
  const std::size_t needed = field_set_bytes(problem) + references;
  if (static_cast<double>(needed) <= kShareOfMemory * static_cast<double>(memory_bytes)) return std::nullopt;
  return fmt::format(
      "kernels of several steps were left out: verifying them on {} needs {:.0f} GiB of device memory, the "
      "GPU has {:.0f}",
      to_string(problem.extents), gib(needed), gib(memory_bytes));
}

FieldSet::FieldSet(Driver& driver, const Problem& problem, std::int64_t cells)
    : fields_(fields_in_use(problem)), guard_cells_(static_cast<std::int64_t>(kGuardBytes / size_of(problem.type))) {
  const std::size_t bytes = static_cast<std::size_t>(cells) * size_of(problem.type) + 2 * kGuardBytes;
  for (std::size_t i = 0; i < fields_.size(); ++i) buffers_.emplace_back(driver, bytes);
}

DevicePointer FieldSet::field(int index) const {
  const auto found = std::find(fields_.begin(), fields_.end(), index);
  if (found == fields_.end()) {
    throw Error(ErrorCode::internal, fmt::format("field {} has no buffer: the problem does not touch it", index));
  }
  return buffers_[static_cast<std::size_t>(found - fields_.begin())].address() + kGuardBytes;
}

std::vector<DevicePointer> FieldSet::addresses(const std::vector<int>& fields) const {
  std::vector<DevicePointer> result;
  for (int index : fields) result.push_back(field(index));
  return result;
}

std::vector<Phase> phases(const Stencil& stencil) {
  Phase first(stencil.fields.size());
  std::iota(first.begin(), first.end(), 0);
  std::vector<Phase> all{first};
  for (Phase next = next_phase(stencil, first); next != first && all.size() < kMostPhases;
       next = next_phase(stencil, next)) {
    all.push_back(next);
  }
  return all;
}

std::vector<int> rotation_classes(const Stencil& stencil) {
  std::vector<int> classes(stencil.fields.size());
  std::iota(classes.begin(), classes.end(), 0);
  for (std::size_t round = 0; round < stencil.rotations.size(); ++round) {
    for (const Rotation& rotation : stencil.rotations) {
      int& from = classes[static_cast<std::size_t>(rotation.from)];
      int& to = classes[static_cast<std::size_t>(rotation.to)];
      from = to = std::min(from, to);
    }
  }
  return classes;
}

}  // namespace stencil_tune
