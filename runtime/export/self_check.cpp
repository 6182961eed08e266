#include "runtime/export/self_check.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel_source/launch.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/indices.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::vector<int> counted(std::size_t size) {
  std::vector<int> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Prime extents, some tiles not full. Fused steps want a whole tile inside.
Extents awkward_extents(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  constexpr std::array<std::int64_t, kMaxRank> kPrimes{67, 23, 13};
  constexpr std::int64_t kMore = 5;
  const bool inside = candidate.shape().placement == Placement::inside;
  const std::array<int, kMaxRank> tile = output_tile(candidate);
  Extents extents{.rank = problem.extents.rank, .n = {1, 1, 1}};
  for (std::size_t axis = 0; axis < at(extents.rank); ++axis) {
    extents.n[axis] = inside ? tile[axis] + kMore : kPrimes[axis] + 2 * std::int64_t{problem.facts.radius[axis]};
  }
  extents.n[0] = round_up(extents.n[0], candidate.shape().row_multiple);
  return extents;
}

class Analysis {
 public:
  Analysis(const Candidate& candidate, const ExportSignature& signature)
      : candidate_(candidate),
        problem_(candidate.problem()),
        stencil_(problem_.stencil),
        signature_(signature),
        steps_(sweeps_per_launch(candidate.tuning())),
        makes_steps_(is_whole_step(problem_)) {}

  SelfCheck run(bool with_advance) && {
    check_.extents = awkward_extents(candidate_);
    check_.stages = problem_.stage == kWholeStep ? counted(stencil_.stages.size()) : std::vector<int>{problem_.stage};
    if (makes_steps_) check_.rotations = stencil_.rotations;
    find_places(with_advance);
    find_buffers();
    find_launched();
    if (with_advance) find_advanced();
    return std::move(check_);
  }

 private:
  int fields() const { return static_cast<int>(stencil_.fields.size()); }

  /// Outputs of single sweeps keep their own layers.
  void find_places(bool with_advance) {
    const int places = std::max(fields(), 1 + *std::max_element(signature_.places.begin(), signature_.places.end()));
    std::vector<int> classes = counted(at(places));
    if (candidate_.family().advances_all_fields || with_advance || steps_ > 1) {
      for (const int steps : {1, steps_}) join(classes, layer_classes(problem_, launch_buffers(problem_, steps)));
    }
    for (int place = 0; place < places; ++place) {
      check_.places.push_back({place < fields() ? profile_along(stencil_, place) : 0, classes[at(place)]});
    }
  }

  static void join(std::vector<int>& classes, const std::vector<int>& more) {
    for (std::size_t place = 0; place < more.size(); ++place) {
      const auto [least, most] = std::minmax(classes[place], classes[at(more[place])]);
      std::replace(classes.begin(), classes.end(), int{most}, int{least});
    }
  }

  void find_buffers() {
    const std::vector<int> next = next_buffers();
    for (std::size_t i = 0; i < next.size(); ++i) {
      const std::string& name = signature_.buffers[i];
      const bool is_read = contains(signature_.inputs, name) || contains(signature_.profiles, name);
      check_.buffers.push_back({signature_.places[i], is_read, next[i]});
    }
  }

  /// Outputs of a single sweep become inputs where there are as many of these.
  std::vector<int> next_buffers() const {
    std::vector<int> next = counted(signature_.buffers.size());
    if (candidate_.family().advances_all_fields) {
      const std::vector<int> places = launch_buffers(problem_, steps_).next;
      std::copy(places.begin(), places.end(), next.begin());
    } else if (signature_.inputs.size() == signature_.outputs.size()) {
      const std::size_t first_output = next.size() - signature_.outputs.size();
      for (std::size_t i = 0; i < signature_.inputs.size(); ++i) std::swap(next[i], next[first_output + i]);
    }
    return next;
  }

  void find_launched() {
    const std::vector<int> outputs = kernel_outputs(problem_, steps_);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto buffer = std::find(signature_.buffers.begin(), signature_.buffers.end(), signature_.outputs[i]);
      check_.launched.push_back(
          {renamed(outputs[i]), static_cast<int>(buffer - signature_.buffers.begin()), writer(outputs[i])});
    }
  }

  /// Fused launches that follow each other, single steps that follow them; of many fused steps one launch, for what the
  /// roundings of so many make of a cell.
  void find_advanced() {
    const bool few = steps_ <= 3;
    check_.launches.assign(few ? 2 : 1, steps_);
    check_.launches.insert(check_.launches.end(), few ? 1 : 2, 1);
    const int steps = std::accumulate(check_.launches.begin(), check_.launches.end(), 0);
    for (const int field : stored_fields(problem_.step, steps)) {
      const auto place = std::find(signature_.places.begin(), signature_.places.end(), renamed(field));
      const auto buffer = static_cast<int>(place - signature_.places.begin());
      check_.advanced.push_back({renamed(field), buffer, writer(field)});
    }
  }

  /// The field's name after the rotation that ends a step.
  int renamed(int field) const {
    for (const Rotation& rotation : check_.rotations) {
      if (rotation.from == field) return rotation.to;
    }
    return field;
  }

  /// The field's name in the step before.
  int earlier(int field) const {
    for (const Rotation& rotation : check_.rotations) {
      if (rotation.to == field) return rotation.from;
    }
    return field;
  }

  /// Perhaps some steps ago and under another name.
  std::size_t writer(int field) const {
    for (int moves = 0; moves <= fields(); ++moves, field = earlier(field)) {
      for (std::size_t i = 0; i < check_.stages.size(); ++i) {
        if (contains(problem_.step.stages[at(check_.stages[i])].facts.outputs, field)) return i;
      }
    }
    throw Error(ErrorCode::internal, fmt::format("stencil '{}' keeps a field that no step writes", stencil_.name));
  }

  const Candidate& candidate_;
  const Problem& problem_;
  const Stencil& stencil_;
  const ExportSignature& signature_;
  const int steps_;
  const bool makes_steps_;  ///< not one stage of several
  SelfCheck check_;
};

}  // namespace

SelfCheck self_check(const Candidate& candidate, const ExportSignature& signature, const ExportedRun* run) {
  return Analysis(candidate, signature).run(run != nullptr);
}

}  // namespace stencil_tune
