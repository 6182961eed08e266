#include "generator/stencil/buffers.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kNowhere = -1;

/// For each place, the field whose held layers it carries once launches have stored to it; kNowhere for a spare buffer
/// that nothing is stored to.
std::vector<int> layers_at_places(const Problem& problem, const LaunchBuffers& buffers) {
  std::vector<int> layers = problem.step.layers_at;
  layers.resize(buffers.next.size(), kNowhere);
  for (std::size_t i = 0; i < buffers.stored.size(); ++i) {
    layers[at(buffers.outputs[i])] = problem.step.layers_at[at(buffers.stored[i])];
  }
  return layers;
}

/// The axis in whose layers the buffer at a place exists; -1: it is one of the whole grid.
int layers_of_place(const Problem& problem, const LaunchBuffers& buffers, int place) {
  const auto stored = std::find(buffers.outputs.begin(), buffers.outputs.end(), place);
  const bool is_spare = place >= static_cast<int>(problem.stencil.fields.size());
  if (is_spare && stored == buffers.outputs.end()) return -1;
  return layer_axis(problem.stencil, is_spare ? buffers.stored[at(stored - buffers.outputs.begin())] : place);
}

class BufferPlan {
 public:
  BufferPlan(const Problem& problem, int steps)
      : problem_(problem), steps_(steps), inputs_(kernel_inputs(problem, steps)) {
    plan_.stored = kernel_outputs(problem, steps);
  }

  LaunchBuffers run() && {
    for (const int field : plan_.stored) plan_.outputs.push_back(place_for(field));
    place_fields(rotated(before_last_rotation()));
    place_what_is_left();
    return std::move(plan_);
  }

 private:
  int fields() const { return static_cast<int>(problem_.stencil.fields.size()); }

  /// The field's own buffer where nothing but held layers is read from it. Not another field's: that one's held layers
  /// would be lost.
  int place_for(int field) {
    const bool is_free = !contains(inputs_, field) || contains(problem_.step.layers, field);
    return is_free ? field : fields() + plan_.spares++;
  }

  std::vector<int> rotated(const std::vector<int>& places) const {
    std::vector<int> after = places;
    for (const Rotation& rotation : problem_.stencil.rotations) after[at(rotation.to)] = places[at(rotation.from)];
    return after;
  }

  /// Where the value of each field stands after the last step: what is not stored may have been there from the start.
  std::vector<int> before_last_rotation() const {
    std::vector<int> places(at(fields()));
    std::iota(places.begin(), places.end(), 0);
    for (int step = 0; step < steps_; ++step) {
      if (step > 0) places = rotated(places);
      for (const StepStage& stage : problem_.step.stages) {
        for (const int output : stage.facts.outputs) places[at(output)] = step + 1 < steps_ ? kNowhere : output;
      }
    }
    for (std::size_t i = 0; i < plan_.stored.size(); ++i) places[at(plan_.stored[i])] = plan_.outputs[i];
    return places;
  }

  /// Fields that the next step reads, or that the caller finds under their new names, have the buffer of their value.
  void place_fields(const std::vector<int>& places) {
    plan_.next.assign(at(fields() + plan_.spares), kNowhere);
    const auto keep = [&](int field) {
      const int place = places[at(field)];
      if (place != kNowhere && !taken(place)) plan_.next[at(field)] = place;
    };
    for (const int field : inputs_) keep(field);
    for (const Rotation& rotation : problem_.stencil.rotations) keep(rotation.to);
    for (const int field : plan_.stored) {
      const bool moves = std::any_of(problem_.stencil.rotations.begin(), problem_.stencil.rotations.end(),
                                     [&](const Rotation& rotation) { return rotation.from == field; });
      if (!moves) keep(field);
    }
  }

  /// The others exchange buffers with the field that has theirs now, where that one's is free; else they take the first
  /// left that carries their held layers, so that these are copied into it once and never again.
  void place_what_is_left() {
    std::vector<int>& next = plan_.next;
    for (int place = 0; place < static_cast<int>(next.size()); ++place) {
      if (next[at(place)] != kNowhere) continue;
      const auto holder = static_cast<int>(std::find(next.begin(), next.end(), place) - next.begin());
      const int wanted = holder == static_cast<int>(next.size()) ? place : holder;
      if (!taken(wanted)) next[at(place)] = wanted;
    }
    for (int place = 0; place < static_cast<int>(next.size()); ++place) {
      if (next[at(place)] == kNowhere) next[at(place)] = left_for(place);
    }
  }

  int left_for(int place) const {
    const std::vector<int> layers = layers_at_places(problem_, plan_);
    std::vector<int> left(plan_.next.size());
    std::iota(left.begin(), left.end(), 0);
    const int in_layers = layers_of_place(problem_, plan_, place);
    std::erase_if(left,
                  [&](int other) { return taken(other) || layers_of_place(problem_, plan_, other) != in_layers; });
    const auto alike =
        std::find_if(left.begin(), left.end(), [&](int other) { return layers[at(other)] == layers[at(place)]; });
    return alike != left.end() ? *alike : left.front();
  }

  bool taken(int place) const { return std::find(plan_.next.begin(), plan_.next.end(), place) != plan_.next.end(); }

  const Problem& problem_;
  int steps_;
  std::vector<int> inputs_;
  LaunchBuffers plan_;
};

}  // namespace

LaunchBuffers launch_buffers(const Problem& problem, int steps) { return BufferPlan(problem, steps).run(); }

bool keeps_arrays_apart(const Problem& problem, int steps) {
  if (!has_slabs(problem)) return true;
  const LaunchBuffers buffers = launch_buffers(problem, steps);
  const auto fields = static_cast<int>(problem.stencil.fields.size());
  return std::none_of(buffers.outputs.begin(), buffers.outputs.end(),
                      [&](int place) { return place >= fields && layers_of_place(problem, buffers, place) >= 0; });
}

int spare_buffers(const Problem& problem, int most_steps) {
  int most = 0;
  const int oldest = problem.step.left.empty() ? 0 : problem.step.left.back().age;
  for (int steps = 1; steps <= std::min(most_steps, oldest + 1); ++steps) {
    most = std::max(most, launch_buffers(problem, steps).spares);
  }
  return most;
}

std::vector<int> layer_classes(const Problem& problem, const LaunchBuffers& buffers) {
  const std::vector<int> layers = layers_at_places(problem, buffers);
  std::vector<int> classes;
  for (const int field : layers) {
    classes.push_back(static_cast<int>(std::find(layers.begin(), layers.end(), field) - layers.begin()));
  }
  return classes;
}

}  // namespace stencil_tune
