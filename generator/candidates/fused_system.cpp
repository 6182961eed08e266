#include "generator/candidates/fused_system.hpp"

#include "generator/stencil/indices.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

/// Puts the levels together, one after the other.
class SystemPlanner {
 public:
  SystemPlanner(const Problem& problem, const Tuning& tuning, const KernelAxes& axes)
      : step_(tuned_step(problem, tuning)), tuning_(tuning), axes_(axes) {}

  FusedSystem run() && {
    const std::vector<FusedLevel> levels = fused_levels(step_.step, tuning_.steps);
    for (const FusedLevel& level : levels) add(level);
    for (const int field : levels.back().out) system_.outputs.push_back(layers_of_output(field));
    for (const SystemLevel& level : system_.levels) sum_up(level);
    return std::move(system_);
  }

 private:
  bool holds(std::size_t axis) const { return axes_.has(axis) && axes_.boundaries[axis] == Boundary::hold; }
  bool maps_planes() const {
    return axes_.boundaries[2] == Boundary::clamp || axes_.boundaries[2] == Boundary::reflect;
  }

  const StageFacts& facts(int stage) const { return step_.facts(stage); }

  Layers held(int stage) const {
    Layers layers;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (!holds(axis)) continue;
      const Reach& farthest = facts(stage).farthest[at(axes_.grid_axis[axis])];
      layers.low[axis] = -farthest.low;
      layers.high[axis] = farthest.high;
    }
    return layers;
  }

  Layers layers_of_output(int field) const {
    for (int stage = 0; stage < static_cast<int>(step_.step.stages.size()); ++stage) {
      if (contains(facts(stage).outputs, field)) return held(stage);
    }
    return layers_of_output(step_.step.becomes[at(state_place(field))]);  // written in a step before the last
  }

  int state_place(int field) const {
    const std::vector<int>& state = step_.step.state;
    return static_cast<int>(std::find(state.begin(), state.end(), field) - state.begin());
  }

  /// The planes that a read at the offset along z touches, with those that answer for planes beyond the grid.
  Reach planes_read(int offset) const {
    const int far = std::abs(offset);
    if (axes_.boundaries[2] == Boundary::reflect) return {-far, far};
    return {std::min(0, offset), std::max(0, offset)};
  }

  SystemField field_of(int field, const StageFacts& stage) const {
    SystemField result{.field = field};
    for (const Tap& tap : stage.taps) {
      if (tap.field != field) continue;
      const Reach planes = planes_read(axes_.offset(tap, 2));
      result.below = std::max(result.below, -planes.low);
      result.newest = std::max(result.newest, planes.high);
      const int row = axes_.offset(tap, 1);
      if (row == 0) continue;
      result.rows_before = std::max(result.rows_before, -row);
      result.rows_after = std::max(result.rows_after, row);
      const int plane = axes_.offset(tap, 2);
      const Reach exchanged = maps_planes() && plane != 0 ? planes : Reach{plane, plane};
      const bool is_first = result.last < result.first;
      result.first = is_first ? exchanged.low : std::min(result.first, exchanged.low);
      result.last = is_first ? exchanged.high : std::max(result.last, exchanged.high);
    }
    return result;
  }

  void add(const FusedLevel& fused) {
    SystemLevel level{.stage = fused.stage, .in = {}, .out = fused.out, .held = held(fused.stage)};
    for (const int field : fused.in) level.in.push_back(field_of(field, facts(fused.stage)));
    find_lag(level);
    system_.delay += level.lag;
    level.delay = system_.delay;
    publish(level);
    extend_halo(level);
    level.wrong = system_.halo;
    find_plain_planes(level);
    find_constants(level);
    system_.levels.push_back(std::move(level));
  }

  /// How far the level works behind the newest plane. Fields come from the level before at one time, and into the first
  /// one each as late as it may: with rows that other warps read, a step before.
  void find_lag(SystemLevel& level) {
    for (const SystemField& field : level.in) level.lag = std::max(level.lag, field.newest);
    const auto reads_at = [&](int plane) {
      return std::any_of(level.in.begin(), level.in.end(),
                         [&](const SystemField& field) { return field.exchanges() && field.last == plane; });
    };
    system_.meets_in_levels = system_.meets_in_levels || reads_at(level.lag);
    for (SystemField& field : level.in) {
      const bool is_first = system_.levels.empty();
      const int ready = field.newest + (field.exchanges() && field.last == field.newest ? 1 : 0);
      field.newest = is_first ? std::min(ready, level.lag) : level.lag;
    }
  }

  void publish(SystemLevel& level) {
    for (SystemField& field : level.in) {
      if (!field.exchanges()) continue;
      field.row = system_.exchanged_rows;
      system_.exchanged_rows += std::min(field.rows_before + field.rows_after, tuning_.register_y);
      system_.exchange_slots = std::max(system_.exchange_slots, field.last - field.first + 2);
    }
  }

  /// A level leaves cells wrong as far from the tile's edges as it reads; the first one none in rows, where it has a
  /// rim.
  void extend_halo(const SystemLevel& level) {
    const bool has_rim = tuning_.rim == Rim::read && system_.levels.empty();
    for (const SystemField& field : level.in) {
      if (has_rim) system_.rim_rows = std::max({system_.rim_rows, field.rows_before, field.rows_after});
    }
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (!axes_.has(axis) || (axis == 1 && has_rim)) continue;
      const Reach& farthest = facts(level.stage).farthest[at(axes_.grid_axis[axis])];
      // A walk that ends with the grid meets planes again that it mirrors: it starts early enough for them too.
      const bool mirrors = axis == 2 && axes_.boundaries[axis] == Boundary::reflect;
      system_.halo.low[axis] += mirrors ? std::max(-farthest.low, farthest.high) : -farthest.low;
      system_.halo.high[axis] += farthest.high;
    }
  }

  void find_plain_planes(const SystemLevel& level) {
    int below = level.held.low[2];
    for (const SystemField& field : level.in) below = maps_planes() ? std::max(below, field.below) : below;
    system_.first_plain = std::max(system_.first_plain, level.delay + below);
  }

  void find_constants(const SystemLevel& level) {
    for (const int field : facts(level.stage).inputs) {
      const bool travels =
          std::any_of(level.in.begin(), level.in.end(), [&](const SystemField& each) { return each.field == field; });
      if (travels) continue;
      auto known = std::find_if(system_.constants.begin(), system_.constants.end(),
                                [&](const SystemConstant& constant) { return constant.field == field; });
      if (known == system_.constants.end()) {
        const auto number = static_cast<int>(system_.levels.size());
        known = system_.constants.insert(known, {.field = field, .first = level.delay, .first_level = number});
      }
      known->last = level.delay;
      ++known->readers;
    }
  }

  void sum_up(const SystemLevel& level) {
    for (const SystemField& field : level.in) {
      system_.kept += field.below + field.newest;
      system_.most_read = std::max({system_.most_read, field.below, field.newest});
    }
    const auto outputs = static_cast<std::int64_t>(facts(level.stage).outputs.size());
    system_.passing = std::max(system_.passing, static_cast<std::int64_t>(level.in.size()) + outputs);
    system_.lag = std::max(system_.lag, level.lag);
  }

  const TunedStep step_;
  const Tuning& tuning_;
  const KernelAxes& axes_;
  FusedSystem system_;
};

}  // namespace

TunedStep tuned_step(const Problem& problem, const Tuning& tuning) {
  if (tuning.shared_parts == SharedParts::again || !problem.parts_once) return {problem.stencil, problem.step};
  return {problem.parts_once->stencil, problem.parts_once->step};
}

std::shared_ptr<const FusedSystem> fused_system(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  // All that SystemPlanner asks of the tuning, and what else of the problem its user may change.
  const Remembered::Key key{tuning.steps,
                            static_cast<int>(tuning.shared_parts),
                            static_cast<int>(tuning.rim),
                            tuning.register_y,
                            static_cast<int>(tuning.walk_axis),
                            static_cast<int>(axes.boundaries[0]),
                            static_cast<int>(axes.boundaries[1]),
                            static_cast<int>(axes.boundaries[2])};
  return problem.remembered->recall<FusedSystem>(key, [&] { return SystemPlanner(problem, tuning, axes).run(); });
}

}  // namespace stencil_tune
