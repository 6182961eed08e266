#include "generator/stencil/step.hpp"

#include "generator/stencil/indices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace stencil_tune {
namespace {

using Fields = std::set<int>;

class StepAnalysis {
 public:
  explicit StepAnalysis(const Stencil& stencil) : stencil_(stencil) {
    for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
      step_.stages.push_back({.facts = analyse(stencil, stage), .state_in = {}, .state_out = {}, .layers_of = {}});
    }
    for (const Rotation& rotation : stencil.rotations) {
      if (rotation.from == rotation.to) {
        kept_.insert(rotation.to);
        continue;
      }
      taken_by_[rotation.to] = rotation.from;
      becomes_[rotation.from] = rotation.to;
    }
    for (const StepStage& stage : step_.stages) {
      for (const int output : stage.facts.outputs) ++writes_[output];
    }
  }

  StepFacts run() && {
    find_constants();
    find_layers_of_outputs();
    find_states();
    find_left();
    find_layers();
    find_obstacle();
    return std::move(step_);
  }

 private:
  bool changes(int field) const { return writes_.contains(field) || taken_by_.contains(field); }

  /// The field whose value at the end of a step is this one's at the start of the next.
  int source(int field) const {
    const auto taken = taken_by_.find(field);
    return taken == taken_by_.end() ? field : taken->second;
  }

  void find_constants() {
    Fields constants;
    for (const StepStage& stage : step_.stages) {
      for (const int input : stage.facts.inputs) {
        if (!changes(input)) constants.insert(input);
      }
    }
    step_.constants.assign(constants.begin(), constants.end());
  }

  /// What of the state before a stage is needed, when `after` is needed of the one after it.
  Fields before(const StepStage& stage, Fields after) const {
    for (const int output : stage.facts.outputs) after.erase(output);
    for (const int input : stage.facts.inputs) {
      if (changes(input)) after.insert(input);
    }
    for (const Intermediate& between : step_.intermediates) {
      if (contains(stage.facts.outputs, between.field) && changes(between.layers_of)) after.insert(between.layers_of);
    }
    return after;
  }

  /// Needed at a step's end: what the next one starts with, and what the caller finds under other names.
  Fields end_of_step(const Fields& start) const {
    Fields end = kept_;
    for (const int field : start) end.insert(source(field));
    for (const auto& [to, from] : taken_by_) end.insert(from);
    return end;
  }

  void find_states() {
    Fields start;
    for (Fields known{-1}; start != known;) {
      known = start;
      Fields state = end_of_step(start);
      for (std::size_t s = step_.stages.size(); s-- > 0;) {
        StepStage& stage = step_.stages[s];
        stage.state_out.assign(state.begin(), state.end());
        state = before(stage, state);
        stage.state_in.assign(state.begin(), state.end());
      }
      start.insert(state.begin(), state.end());
    }
    step_.state.assign(start.begin(), start.end());
    for (const int field : step_.state) step_.becomes.push_back(source(field));
  }

  /// Steps since the value of a field before the last rotation was written; nothing where none wrote it.
  std::optional<int> age(int field) const {
    int steps = 0;
    for (std::size_t round = 0; round <= stencil_.fields.size(); ++round) {
      if (writes_.contains(field)) return steps;
      if (source(field) == field) return std::nullopt;
      field = source(field);
      ++steps;
    }
    return std::nullopt;
  }

  bool read_later(int output, std::size_t stage) const {
    return std::any_of(step_.stages.begin() + static_cast<std::ptrdiff_t>(stage) + 1, step_.stages.end(),
                       [&](const StepStage& later) {
                         return std::count(later.facts.inputs.begin(), later.facts.inputs.end(), output) > 0;
                       });
  }

  void find_left() {
    Fields added;
    for (std::size_t s = 0; s < step_.stages.size(); ++s) {
      const std::vector<int>& needed = step_.stages.back().state_out;
      for (const int output : step_.stages[s].facts.outputs) {
        const bool rotates_or_starts = std::count(needed.begin(), needed.end(), output) > 0;
        if ((rotates_or_starts || !read_later(output, s)) && added.insert(output).second)
          step_.left.push_back({output, 0});
      }
    }
    for (const int field : step_.stages.back().state_out) {
      const std::optional<int> steps = age(field);
      if (steps && added.insert(field).second) step_.left.push_back({field, *steps});
    }
    std::stable_sort(step_.left.begin(), step_.left.end(),
                     [](const LeftField& a, const LeftField& b) { return a.age < b.age; });
  }

  static bool any(const std::array<bool, kMaxRank>& axes) {
    return std::find(axes.begin(), axes.end(), true) != axes.end();
  }

  /// The axes along which a later stage reads an output within the layers that its own stage keeps under hold.
  std::array<bool, kMaxRank> layers_read(int output, std::size_t stage) const {
    std::array<bool, kMaxRank> axes{};
    const std::array<Reach, kMaxRank>& kept = step_.stages[stage].facts.farthest;
    for (std::size_t later = stage + 1; later < step_.stages.size(); ++later) {
      const StageFacts& facts = step_.stages[later].facts;
      for (const Tap& tap : facts.taps) {
        for (std::size_t axis = 0; tap.field == output && axis < kMaxRank; ++axis) {
          const bool at_low = tap.offset[axis] - facts.farthest[axis].low < -kept[axis].low;
          const bool at_high = facts.farthest[axis].high - tap.offset[axis] < kept[axis].high;
          axes[axis] = axes[axis] || at_low || at_high;
        }
      }
    }
    return axes;
  }

  /// Whether a step reads what the step before wrote into the field, under the same name.
  bool carries_over(int field) const {
    if (taken_by_.contains(field) || becomes_.contains(field)) return false;
    for (const StepStage& stage : step_.stages) {
      if (contains(stage.facts.inputs, field)) return true;
      if (contains(stage.facts.outputs, field)) return false;
    }
    return false;
  }

  /// Fields that the results of a step stand for: those that steps change, older time levels left out; where there are
  /// none, those that the step reads.
  std::vector<int> stood_for() const {
    Fields fields;
    for (const auto& [field, writes] : writes_) {
      const auto becomes = becomes_.find(field);
      if (becomes != becomes_.end()) fields.insert(becomes->second);
      if (carries_over(field)) fields.insert(field);
    }
    if (fields.empty()) fields.insert(step_.constants.begin(), step_.constants.end());
    std::erase_if(fields, [&](int field) { return is_profile(stencil_, field); });
    return {fields.begin(), fields.end()};
  }

  int layers_of(int output, std::size_t stage) {
    const auto becomes = becomes_.find(output);
    if (becomes != becomes_.end()) return becomes->second;
    const std::array<bool, kMaxRank> read_along = layers_read(output, stage);
    if (kept_.contains(output) || carries_over(output) || !any(read_along)) return output;
    for (const Hold& hold : stencil_.holds) {
      if (hold.field == output) return hold.layers_of;
    }
    const std::vector<int> fields = stood_for();
    if (fields.size() == 1) return fields.front();
    step_.unsaid.push_back({output, static_cast<int>(stage), read_along, fields});
    return output;
  }

  void find_layers_of_outputs() {
    step_.layers_at.resize(stencil_.fields.size());
    std::iota(step_.layers_at.begin(), step_.layers_at.end(), 0);
    step_.written_by.assign(stencil_.fields.size(), -1);
    for (std::size_t s = 0; s < step_.stages.size(); ++s) {
      StepStage& stage = step_.stages[s];
      for (const int output : stage.facts.outputs) {
        const int kept = layers_of(output, s);
        stage.layers_of.push_back(kept);
        step_.layers_at[at(output)] = kept;
        step_.written_by[at(output)] = static_cast<int>(s);
        if (kept != output && !becomes_.contains(output)) step_.intermediates.push_back({output, kept, false});
      }
    }
    find_layers_of_older();
    for (Intermediate& between : step_.intermediates) between.follows = updates_layers_of(between);
  }

  /// Whether a stage updates the field whose layers the other has where that one's own stage does not write.
  bool updates_layers_of(const Intermediate& between) const {
    const int writer = step_.written_by[at(between.layers_of)];
    if (writer < 0) return false;
    const auto& kept = step_.stages[at(step_.written_by[at(between.field)])].facts.farthest;
    const auto& held = step_.stages[at(writer)].facts.farthest;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (kept[axis].low < held[axis].low || kept[axis].high > held[axis].high) return true;
    }
    return false;
  }

  void find_layers() {
    Fields layers;
    for (std::size_t s = 0; s < step_.stages.size(); ++s) {
      const StepStage& stage = step_.stages[s];
      for (std::size_t i = 0; i < stage.layers_of.size(); ++i) {
        const int output = stage.facts.outputs[i], kept = stage.layers_of[i];
        if (kept == output && !kept_.contains(output)) continue;
        const bool is_read = any(layers_read(output, s)) || (kept_.contains(output) && read_later(output, s));
        if (is_read && !contains(step_.state, kept) && !contains(step_.constants, kept)) layers.insert(kept);
      }
    }
    step_.layers.assign(layers.begin(), layers.end());
  }

  /// What a step moves on has the layers that it had when a step wrote it.
  void find_layers_of_older() {
    for (std::size_t field = 0; field < step_.layers_at.size(); ++field) {
      int written = static_cast<int>(field);
      for (std::size_t moves = 0; moves < stencil_.fields.size() && !writes_.contains(written); ++moves) {
        written = source(written);
      }
      step_.layers_at[field] = step_.layers_at[at(written)];
      step_.written_by[field] = step_.written_by[at(written)];
    }
  }

  void find_obstacle() {
    for (const int field : step_.state) {
      if (!age(source(field))) refuse(field, "is moved from step to step, and no step writes it");
      if (becomes_.contains(field) && !taken_by_.contains(field)) {
        refuse(field, "is read before it is written, and its buffer becomes another field's after a step");
      }
    }
    for (const auto& [field, writes] : writes_) {
      if (writes > 1) refuse(field, "is written by two stages of a step");
      if (taken_by_.contains(field)) refuse(field, "is written in a step, and takes the place of another after it");
    }
  }

  void refuse(int field, std::string_view why) {
    if (step_.obstacle.empty()) step_.obstacle = fmt::format("field '{}' {}", stencil_.fields[at(field)], why);
  }

  const Stencil& stencil_;
  StepFacts step_;
  Fields kept_;                  ///< fields that become themselves: the caller finds them after the step
  std::map<int, int> taken_by_;  ///< [rotation's `to`]: its `from`
  std::map<int, int> becomes_;   ///< [rotation's `from`]: its `to`
  std::map<int, int> writes_;    ///< stages that write the field
};

}  // namespace

namespace {

/// Constants that some stage reads beside the cell.
Fields travelling_constants(const StepFacts& step) {
  Fields fields;
  for (const StepStage& stage : step.stages) {
    for (const Tap& tap : stage.facts.taps) {
      if (tap.offset != Offset{0, 0, 0} && contains(step.constants, tap.field)) fields.insert(tap.field);
    }
  }
  return fields;
}

}  // namespace

std::vector<FusedLevel> fused_levels(const StepFacts& step, int steps) {
  const Fields travelling = travelling_constants(step);
  std::vector<FusedLevel> levels;
  std::vector<int> needed = stored_fields(step, steps);
  for (int left = steps; left-- > 0;) {
    for (int stage = static_cast<int>(step.stages.size()); stage-- > 0;) {
      const StageFacts& facts = step.stages[at(stage)].facts;
      Fields in;
      for (const int field : needed) {
        if (!contains(facts.outputs, field)) in.insert(field);
      }
      for (const int field : facts.inputs) {
        if (!contains(step.constants, field) || travelling.contains(field)) in.insert(field);
      }
      for (const Intermediate& between : step.intermediates) {
        const bool needs = contains(needed, between.field) && contains(facts.outputs, between.field);
        if (needs && contains(step.state, between.layers_of)) in.insert(between.layers_of);
      }
      levels.push_back({stage, {in.begin(), in.end()}, std::move(needed)});
      needed.assign(in.begin(), in.end());
    }
    for (int& field : needed) {  // as the step before calls them
      const auto state = std::find(step.state.begin(), step.state.end(), field);
      if (state != step.state.end()) field = step.becomes[static_cast<std::size_t>(state - step.state.begin())];
    }
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

StepFacts analyse_step(const Stencil& stencil) { return StepAnalysis(stencil).run(); }

const Intermediate* find_intermediate(const StepFacts& step, int field) {
  const auto found = std::find_if(step.intermediates.begin(), step.intermediates.end(),
                                  [&](const Intermediate& between) { return between.field == field; });
  return found == step.intermediates.end() ? nullptr : &*found;
}

std::vector<int> stored_fields(const StepFacts& step, int steps) {
  std::vector<int> fields;
  for (const LeftField& each : step.left) {
    if (each.age < steps) fields.push_back(each.field);
  }
  return fields;
}

}  // namespace stencil_tune
