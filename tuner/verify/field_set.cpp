#include "tuner/verify/field_set.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/verify/reference/device_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

constexpr double kShareOfMemory = 0.9;  // the context, the modules and the small grids need some

double gib(std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(kGiB); }

/// A spare buffer has none of the fields' types of its own.
std::size_t buffer_bytes(const Problem& problem, std::int64_t cells) {
  const std::size_t widest = std::max(widest_cell_bytes(problem), size_of(problem.type));
  return static_cast<std::size_t>(cells) * widest + 2 * kGuardBytes;
}

/// A two-level scheme of many fields returns after as many steps as its longest rotation; beyond this, timing any
/// phases is as good as timing all.
constexpr std::size_t kMostPhases = 12;

}  // namespace

std::vector<int> places_in_use(const Problem& problem) {
  std::set<int> places;
  const auto add = [&](const std::vector<int>& fields) { places.insert(fields.begin(), fields.end()); };
  add(kernel_inputs(problem));
  add(kernel_inputs(problem, problem.steps));
  add(kernel_outputs(problem, 1));
  for (const Rotation& rotation : problem.stencil.rotations) add({rotation.from, rotation.to});
  const int spares = is_whole_step(problem) ? spare_buffers(problem, problem.steps) : 0;
  for (int spare = 0; spare < spares; ++spare) places.insert(static_cast<int>(problem.stencil.fields.size()) + spare);
  return {places.begin(), places.end()};
}

std::size_t field_set_bytes(const Problem& problem) {
  return places_in_use(problem).size() * buffer_bytes(problem, problem.allocated_cells());
}

void require_memory(const Problem& problem, std::size_t free_bytes, std::size_t total_bytes) {
  const std::size_t needed = field_set_bytes(problem);
  if (needed <= free_bytes) return;
  throw Error(ErrorCode::exceeds_device_memory,
              fmt::format("{} {} needs {:.2f} GiB of device memory for {} fields; {:.2f} of the GPU's {:.2f} GiB are "
                          "free. Use a smaller grid, a smaller element type, or a GPU with more memory",
                          to_string(problem.extents), name(problem.type), gib(needed), places_in_use(problem).size(),
                          gib(free_bytes), gib(total_bytes)));
}

std::size_t fused_reference_bytes(const Problem& problem) {
  const auto cells = static_cast<std::size_t>(updated_box(problem).cells());
  // Those after one sweep, those that lead from a number of steps to the next, and those that they lead to.
  std::size_t count = problem.step.left.size() + (problem.stage == kWholeStep ? 0 : problem.facts.outputs.size());
  for (const StepStage& stage : problem.step.stages) count += stage.facts.outputs.size();
  return count * cells * DeviceReference::kBytesPerCell;
}

bool may_check_in_slabs(const Problem& problem) {
  const int last = problem.extents.rank - 1;
  return last > 0 && problem.boundaries[static_cast<std::size_t>(last)] != Boundary::periodic;
}

bool checks_in_slabs(const Problem& problem, std::size_t memory_bytes) {
  constexpr std::int64_t kMostCheckedWhole = std::int64_t{1} << 30;  // cells: a reference of them takes a second or two
  const auto references = static_cast<double>(fused_reference_bytes(problem));
  return may_check_in_slabs(problem) && (updated_box(problem).cells() > kMostCheckedWhole ||
                                         references > kShareOfMemory * static_cast<double>(memory_bytes));
}

std::optional<std::string> obstacle_to_fused_checks(const Problem& problem, std::size_t memory_bytes) {
  const std::size_t needed = field_set_bytes(problem) + fused_reference_bytes(problem);
  if (may_check_in_slabs(problem) || static_cast<double>(needed) <= kShareOfMemory * static_cast<double>(memory_bytes))
    return std::nullopt;
  return fmt::format(
      "kernels of {} were left out: verifying them on {} needs {:.0f} GiB of device memory, the GPU has {:.0f}",
      problem.steps > 1 ? "several steps" : "whole steps", to_string(problem.extents), gib(needed), gib(memory_bytes));
}

FieldSet::FieldSet(Driver& driver, const Problem& problem, std::vector<int> places, std::int64_t cells)
    : places_(std::move(places)) {
  const std::size_t bytes = buffer_bytes(problem, cells);
  for (std::size_t i = 0; i < places_.size(); ++i) buffers_.emplace_back(driver, bytes);
}

DevicePointer FieldSet::field(int place) const {
  const auto found = std::find(places_.begin(), places_.end(), place);
  if (found == places_.end()) {
    throw Error(ErrorCode::internal, fmt::format("field {} has no buffer: the problem does not touch it", place));
  }
  return buffers_[static_cast<std::size_t>(found - places_.begin())].address() + kGuardBytes;
}

std::vector<DevicePointer> FieldSet::addresses(const std::vector<int>& places) const {
  std::vector<DevicePointer> result;
  for (int place : places) result.push_back(field(place));
  return result;
}

std::vector<Phase> phases(const LaunchBuffers& buffers) {
  Phase first(buffers.next.size());
  std::iota(first.begin(), first.end(), 0);
  std::vector<Phase> all{first};
  for (;;) {
    Phase next;
    for (const int place : buffers.next) next.push_back(all.back()[static_cast<std::size_t>(place)]);
    if (next == first || all.size() == kMostPhases) return all;
    all.push_back(std::move(next));
  }
}

}  // namespace stencil_tune
