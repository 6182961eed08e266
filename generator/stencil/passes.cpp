#include "generator/stencil/passes.hpp"

#include "generator/stencil/buffers.hpp"
#include "generator/stencil/layer_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kMostStages = 4;

template <class Stages>
Stages part_of(const Stages& stages, const StageRange& range) {
  return {stages.begin() + range.first, stages.begin() + range.end()};
}

/// A field that becomes itself is one that is needed afterwards, whoever else reads it; its buffer has the held layers
/// that the whole step gives it. Those of others are the whole step's too.
Stencil stages_of(const Problem& step, const StageRange& range) {
  Stencil part = step.stencil;
  part.name = fmt::format("{}_stages_{}_{}", part.name, range.first, range.end() - 1);
  part.stages = part_of(part.stages, range);
  if (!part.written.stages.empty()) part.written.stages = part_of(part.written.stages, range);
  part.rotations.clear();
  part.holds.clear();
  const std::vector<int>& needed = step.step.stages[static_cast<std::size_t>(range.end() - 1)].state_out;
  for (const Stage& stage : part.stages) {
    for (const Update& update : stage.updates) {
      const bool kept = std::find(needed.begin(), needed.end(), update.output) != needed.end();
      if (kept) part.rotations.push_back({update.output, update.output});
      const int layers_of = step.step.layers_at[static_cast<std::size_t>(update.output)];
      if (!kept && layers_of != update.output) part.holds.push_back({update.output, layers_of});
    }
  }
  return part;
}

/// Whether every field is stored to its own buffer, and stays there: no two change places, as with a spare one.
bool stays_in_place(const Problem& pass) {
  const std::vector<int> next = launch_buffers(pass, 1).next;
  return std::is_sorted(next.begin(), next.end());
}

struct Division {
  double time = 0;
  std::vector<StageRange> passes;
};

}  // namespace

Problem pass_problem(const Problem& step, const StageRange& range) {
  const auto make = [&](Stencil stencil, int stage) {
    return with_slabs_of(
        step, make_problem(std::move(stencil), step.type, step.boundaries, step.extents, step.pitch, 1, stage));
  };
  return range.count == 1 ? make(step.stencil, range.first) : make(stages_of(step, range), kWholeStep);
}

std::vector<StageRange> shared_passes(const Problem& step) {
  const auto stages = static_cast<int>(step.stencil.stages.size());
  std::vector<StageRange> passes;
  if (stages > kMostStages) return passes;
  for (int count = 2; count < stages; ++count) {
    for (int first = 0; first + count <= stages; ++first) {
      const Problem pass = pass_problem(step, {first, count});
      if (pass.step.obstacle.empty() && stays_in_place(pass)) passes.push_back({first, count});
    }
  }
  return passes;
}

std::vector<StageRange> best_passes(int stages, const PassTime& time) {
  // best[n] is the best division of the first n stages, built from those of fewer.
  std::vector<std::optional<Division>> best(static_cast<std::size_t>(stages) + 1);
  best.front() = Division{};
  for (int end = 1; end <= stages; ++end) {
    for (int first = end - 1; first >= 0; --first) {
      const auto& before = best[static_cast<std::size_t>(first)];
      if (!before || end - first == stages) continue;
      const auto last = time({first, end - first});
      auto& known = best[static_cast<std::size_t>(end)];
      if (!last || (known && known->time <= before->time + *last)) continue;
      known = Division{before->time + *last, before->passes};
      known->passes.push_back({first, end - first});
    }
  }
  return best.back() ? std::move(best.back()->passes) : std::vector<StageRange>{};
}

std::string to_string(const StageRange& range) {
  return range.count == 1 ? fmt::format("stage {}", range.first)
                          : fmt::format("stages {}-{}", range.first, range.end() - 1);
}

}  // namespace stencil_tune
