#include "generator/candidates/space.hpp"

#include "generator/candidates/constraints.hpp"

#include <algorithm>
#include <numeric>

namespace stencil_tune {
namespace {

constexpr int kMostMisses = 100000;         // before a family counts as one without legal candidates
constexpr int kMostMissesOfASample = 3000;  // then another family is drawn from; some have one legal number of 30000

/// What the other values leave without a meaning goes back to its default.
Tuning with_defaults_where_unused(Tuning tuning) {
  for (const Parameter& parameter : tuning.family->parameters) {
    if (!parameter.used_by(tuning)) parameter.set(tuning, parameter.default_value);
  }
  return tuning;
}

/// So that a template with few parameters is drawn as often as one with many. What is looked for beside good kernels
/// alone goes back to its default too.
Tuning with_defaults_where_not_drawn(Tuning tuning) {
  for (const Parameter& parameter : tuning.family->parameters) {
    if (!parameter.drawn) parameter.set(tuning, parameter.default_value);
  }
  return with_defaults_where_unused(tuning);
}

/// Whether each block of a cluster has a tile on a grid of that size.
bool fills_its_clusters(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  const int cluster = candidate.tuning().cluster;
  if (shape.cluster_axis < 0 || cluster == 1) return true;
  const auto a = static_cast<std::size_t>(shape.cluster_axis);
  return shape.tile[a] * (cluster - 1) < shape.axes.extents[a];
}

/// Places next to the value in the list; for a value that is not in it, the nearest ones.
std::vector<int> values_beside(const Parameter& parameter, const std::vector<int>& values, int value) {
  std::vector<int> beside;
  if (parameter.is_word()) {
    std::copy_if(values.begin(), values.end(), std::back_inserter(beside), [&](int other) { return other != value; });
    return beside;
  }
  const std::ptrdiff_t reach = parameter.nearby;
  const auto at_least = std::lower_bound(values.begin(), values.end(), value);
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  beside.insert(beside.end(), at_least - std::min(reach, at_least - values.begin()), at_least);
  beside.insert(beside.end(), above, above + std::min(reach, values.end() - above));
  return beside;
}

}  // namespace

Space::Space(const Problem& problem, const Limits& limits) : problem_(&problem), limits_(&limits) {
  for (const Family* family : stencil_tune::families()) add(*family);
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < families_.size(); ++i) {
    if (families_[i].family->drawn && draw(families_[i], random, kMostMisses)) drawn_.push_back(i);
  }
}

Space::Space(const Problem& problem, const Limits& limits, const Family& family)
    : problem_(&problem), limits_(&limits) {
  add(family);
  if (!families_.empty()) drawn_.push_back(0);
}

void Space::add(const Family& family) {
  if (!family.serves(*problem_)) return;
  const KernelAxes axes = kernel_axes(*problem_, Tuning(family));
  FamilySpace space{&family, {}, 1};
  for (const Parameter& parameter : family.parameters) {
    space.values.push_back(parameter.possible ? parameter.possible(parameter.values, *problem_, *limits_, axes)
                                              : parameter.values);
    space.size *= space.values.back().size();
  }
  if (space.size > 0) families_.push_back(std::move(space));  // else a parameter has no value for this problem
}

std::uint64_t Space::size() const noexcept {
  return std::accumulate(families_.begin(), families_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const FamilySpace& space) { return sum + space.size; });
}

Tuning Space::decode(const FamilySpace& family, std::uint64_t number) {
  Tuning tuning(*family.family);
  for (std::size_t axis = 0; axis < family.values.size(); ++axis) {
    const std::vector<int>& values = family.values[axis];
    family.family->parameters[axis].set(tuning, values[number % values.size()]);
    number /= values.size();
  }
  return tuning;
}

std::optional<Tuning> Space::at(std::uint64_t number) const {
  for (const FamilySpace& family : families_) {
    if (number < family.size) {
      const Tuning tuning = decode(family, number);
      return legal(tuning) ? std::optional(tuning) : std::nullopt;
    }
    number -= family.size;
  }
  return {};
}

std::optional<Tuning> Space::draw(const FamilySpace& family, std::mt19937_64& random, int most_misses) const {
  std::uniform_int_distribution<std::uint64_t> numbers(0, family.size - 1);
  for (int miss = 0; miss < most_misses; ++miss) {
    const Tuning tuning = with_defaults_where_not_drawn(decode(family, numbers(random)));
    if (legal(tuning)) return tuning;
  }
  return {};
}

std::optional<Tuning> Space::sample(std::mt19937_64& random) const {
  // A family keeps its share of the draws unless very few of its candidates are legal.
  std::vector<std::size_t> families = drawn_;
  while (!families.empty()) {
    const std::size_t chosen = std::uniform_int_distribution<std::size_t>(0, families.size() - 1)(random);
    if (auto tuning = draw(families_[families[chosen]], random, kMostMissesOfASample)) return tuning;
    families.erase(families.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return {};
}

std::optional<Tuning> Space::sample(const Family& family, std::mt19937_64& random) const {
  const auto found = std::find_if(families_.begin(), families_.end(),
                                  [&](const FamilySpace& space) { return space.family == &family; });
  return found == families_.end() ? std::nullopt : draw(*found, random, kMostMissesOfASample);
}

template <class ValuesOf>
std::vector<Tuning> Space::changed(const Tuning& tuning, const ValuesOf& values_of) const {
  std::vector<Tuning> result;
  const auto family = std::find_if(families_.begin(), families_.end(),
                                   [&](const FamilySpace& space) { return space.family == tuning.family; });
  if (family == families_.end()) return result;
  for (std::size_t axis = 0; axis < family->values.size(); ++axis) {
    const Parameter& parameter = family->family->parameters[axis];
    for (const int value : values_of(parameter, family->values[axis])) {
      Tuning other = tuning;
      parameter.set(other, value);
      other = with_defaults_where_unused(other);
      if (other != tuning && legal(other)) result.push_back(other);
    }
  }
  return result;
}

std::vector<Tuning> Space::neighbours(const Tuning& tuning) const {
  return changed(tuning, [&](const Parameter& parameter, const std::vector<int>& values) {
    return values_beside(parameter, values, parameter.get(tuning));
  });
}

std::vector<Tuning> Space::relaunches(const Tuning& tuning) const {
  std::vector<Tuning> others = changed(tuning, [](const Parameter& parameter, const std::vector<int>& values) {
    return parameter.of_launch ? values : std::vector<int>{};
  });
  std::erase_if(others,
                [kernel = without_launch(tuning)](const Tuning& other) { return without_launch(other) != kernel; });
  return others;
}

bool Space::legal(const Tuning& tuning) const {
  const Candidate candidate(*problem_, tuning);
  return is_legal(candidate, *limits_) && fills_its_clusters(candidate);
}

std::optional<Tuning> default_candidate(const Family& family, const Problem& problem, const Limits& limits) {
  for (const Tuning& tuning : family.defaults(problem)) {
    if (is_legal({problem, tuning}, limits)) return tuning;
  }
  return {};
}

std::optional<Violation> why_none_is_legal(const Family& family, const Problem& problem, const Limits& limits) {
  if (default_candidate(family, problem, limits)) return {};
  std::mt19937_64 random(1);
  const Space space(problem, limits);
  for (int drawn = 0; drawn < kMostMisses; drawn += kMostMissesOfASample) {
    if (space.sample(family, random)) return {};
  }
  const std::vector<Tuning> defaults = family.defaults(problem);
  const auto all_break = [&](const Constraint& constraint) {
    return std::all_of(defaults.begin(), defaults.end(), [&](const Tuning& tuning) {
      return constraint.violation({problem, tuning}, limits).has_value();
    });
  };
  std::optional<Violation> shared;
  for_each_constraint(family, [&](const Constraint& constraint) {
    if (shared || !all_break(constraint)) return;
    shared = {constraint.name, *constraint.violation({problem, defaults.back()}, limits)};
  });
  return shared ? shared : first_violation({problem, defaults.back()}, limits);
}

}  // namespace stencil_tune
