#include "tuner/verify/reference/step_references.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stencil_tune {
std::shared_ptr<DeviceReference> ReferencePool::find_free() {
  const auto free = std::find_if(all_.begin(), all_.end(), [](const auto& one) { return one.use_count() == 1; });
  if (free == all_.end()) return nullptr;
  (*free)->reset();
  return *free;
}

std::shared_ptr<DeviceReference> ReferencePool::add() {
  return all_.emplace_back(std::make_shared<DeviceReference>(kernels_, capacity_));
}

std::shared_ptr<DeviceReference> ReferencePool::take_if_room() {
  constexpr double kShareOfFreeMemory = 0.9;
  if (auto free = find_free()) return free;
  const double needed = static_cast<double>(capacity_) * DeviceReference::kBytesPerCell;
  return needed <= kShareOfFreeMemory * static_cast<double>(kernels_.driver().free_memory()) ? add() : nullptr;
}

std::shared_ptr<DeviceReference> ReferencePool::take() {
  auto free = find_free();
  return free ? free : add();
}

Box within(const Box& box, const StepSlab& slab, int rank, std::int64_t beside) {
  const auto axis = static_cast<std::size_t>(rank - 1);
  Box part = box;
  part.low[axis] = std::max(box.low[axis], slab.low - beside);
  part.high[axis] = std::min(box.high[axis], slab.high + beside);
  return part;
}

std::int64_t rows_before(const Box& box, const Box& part) {
  return (part.low[2] - box.low[2]) * (box.high[1] - box.low[1]) + part.low[1] - box.low[1];
}

std::int64_t reach_of_step(std::span<const Problem> stages) {
  std::int64_t reach = 0;
  for (const Problem& stage : stages) {
    const Reach& along = stage.facts.farthest[static_cast<std::size_t>(stage.extents.rank - 1)];
    reach += std::max(-along.low, along.high);
  }
  return reach;
}

StepReferences::StepReferences(std::span<const Problem> stages, const FieldSet& fields, const CheckCase& how,
                               ReferencePool& pool, Keep keep, std::optional<StepSlab> slab)
    : stages_(stages), fields_(fields), how_(how), pool_(pool), keep_(keep), slab_(slab) {}

/// What is wrong near a level's ends, where the one before it was not computed, comes nearer by a step's reach.
Box StepReferences::computed_box(const Problem& stage, int done) const {
  const Box box = updated_box(stage);
  return slab_ ? within(box, *slab_, stage.extents.rank, (slab_->steps - done) * reach_of_step(stages_)) : box;
}

const std::vector<FieldContents>& StepReferences::after(int steps) {
  const auto beyond = known_.upper_bound(steps);
  int done = beyond == known_.begin() ? 0 : std::prev(beyond)->first;
  for (; done < steps; ++done) {
    known_.insert_or_assign(done + 1, make_step(done == 0 ? first_contents() : rotated(known_.at(done)), done));
    if (keep_ == Keep::last) known_.erase(done);
  }
  return known_.at(steps);
}

/// As in memory.
std::vector<FieldContents> StepReferences::first_contents() const {
  std::vector<FieldContents> contents(stages_.front().stencil.fields.size());
  for (std::size_t field = 0; field < contents.size(); ++field) contents[field].layers = static_cast<int>(field);
  return contents;
}

std::vector<FieldContents> StepReferences::rotated(const std::vector<FieldContents>& contents) const {
  std::vector<FieldContents> after = contents;
  for (const Rotation& rotation : stages_.front().stencil.rotations) {
    after[static_cast<std::size_t>(rotation.to)] = contents[static_cast<std::size_t>(rotation.from)];
  }
  return after;
}

std::vector<FieldContents> StepReferences::make_step(std::vector<FieldContents> contents, int done) {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const Problem& stage = stages_[s];
    const Box box = computed_box(stage, done);
    const std::vector<FieldContents> before = contents;
    for (std::size_t output = 0; output < how_.stages[s].size(); ++output) {
      const int field = updates_of(stage)[output].output;
      std::shared_ptr<DeviceReference> computed = take(done);
      computed->compute({stage, how_.stages[s][output], how_.numbers.exact, kCheckPlace.step + done}, fields_, contents,
                        {rows_before(updated_box(stage), box), row_count(box)});
      const int layers = stage.step.layers_at[static_cast<std::size_t>(field)];
      const bool between = find_intermediate(stage.step, field) != nullptr;
      const ComputedCells beneath = between ? before[static_cast<std::size_t>(layers)].computed : ComputedCells{};
      contents[static_cast<std::size_t>(field)] = {layers, {std::move(computed), box}, beneath};
    }
  }
  return contents;
}

/// Where memory is short, at the cost of what is known of other numbers of steps.
std::shared_ptr<DeviceReference> StepReferences::take(int kept) {
  while (true) {
    if (auto reference = pool_.take_if_room()) return reference;
    const auto other = std::find_if(known_.begin(), known_.end(), [&](const auto& one) { return one.first != kept; });
    if (other == known_.end()) return pool_.take();
    known_.erase(other);
  }
}

std::int64_t most_updated_cells(std::span<const Problem> stages) {
  std::int64_t most = 0;
  for (const Problem& stage : stages) most = std::max(most, updated_box(stage).cells());
  return most;
}

}  // namespace stencil_tune
