#include "generator/stencil/step.hpp"

#include "generator/stencil/indices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

  void find_layers() {
    Fields layers;
    for (std::size_t s = 0; s < step_.stages.size(); ++s) {
      StepStage& stage = step_.stages[s];
      for (const int output : stage.facts.outputs) {
        const auto becomes = becomes_.find(output);
        const int kept = becomes == becomes_.end() ? output : becomes->second;
        stage.layers_of.push_back(kept);
        const bool is_state = std::count(step_.state.begin(), step_.state.end(), kept) > 0;
        if (!is_state && read_later(output, s)) layers.insert(kept);
      }
    }
    step_.layers.assign(layers.begin(), layers.end());
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
  std::map<int, int> taken_by_;  ///< of each rotation `to` its `from`
  std::map<int, int> becomes_;   ///< of each rotation `from` its `to`
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

std::vector<int> stored_fields(const StepFacts& step, int steps) {
  std::vector<int> fields;
  for (const LeftField& each : step.left) {
    if (each.age < steps) fields.push_back(each.field);
  }
  return fields;
}

}  // namespace stencil_tune
