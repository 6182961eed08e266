#include "generator/candidates/space.hpp"

#include "generator/candidates/tile.hpp"
#include "generator/candidates/verdict.hpp"

#include <algorithm>
#include <numeric>

namespace stencil_tune {
namespace {

constexpr int kMostMisses = 100000;         // before a family counts as one without legal points
constexpr int kMostMissesOfASample = 3000;  // then another family is drawn from; some have one legal point of 30000

bool is_any(std::string_view prefix, std::initializer_list<std::string_view> prefixes) {
  return std::find(prefixes.begin(), prefixes.end(), prefix) != prefixes.end();
}

/// Depths up to the first that covers the walked planes (those beyond only rename it), and those that part the planes
/// evenly where powers of two cannot: a few long walks must fill whole waves of blocks.
std::vector<int> depths_within(std::vector<int> depths, std::int64_t planes) {
  constexpr std::int64_t kLeastDepth = 16;
  const auto covering = std::find_if(depths.begin(), depths.end(), [&](int depth) { return depth >= planes; });
  if (covering != depths.end()) depths.erase(covering + 1, depths.end());
  for (const std::int64_t parts : {3, 5, 6, 7}) {
    const std::int64_t depth = (planes + parts - 1) / parts;
    if (depth >= kLeastDepth && depth <= depths.back()) depths.push_back(static_cast<int>(depth));
  }
  std::sort(depths.begin(), depths.end());
  depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
  return depths;
}

/// Planes that a sweep updates along the kernel's z.
std::int64_t updated_planes(const Problem& problem, const KernelAxes& axes) {
  if (axes.grid_axis[2] < 0) return 1;
  const auto walked = static_cast<std::size_t>(axes.grid_axis[2]);
  const Box box = updated_box(problem);
  return std::max<std::int64_t>(1, box.high[walked] - box.low[walked]);
}

/// The parameter's values, less what the problem rules out whatever the other parameters are.
std::vector<int> possible_values(const Problem& problem, const Limits& limits, Family family,
                                 const Parameter& parameter) {
  Tuning tuning;
  tuning.family = family;
  const KernelAxes axes = kernel_axes(problem, tuning);
  std::vector<int> values = parameter.values;
  const std::string_view prefix = parameter.prefix;
  if ((axes.grid_axis[1] < 0 && is_any(prefix, {"by", "ry"})) ||
      (axes.grid_axis[2] < 0 && is_any(prefix, {"bz", "rz"}))) {
    return {1};
  }
  if (family == Family::temporal) {
    if (prefix == "bx") std::erase_if(values, [&](int threads) { return threads < 32 || threads > 256; });
    if (prefix == "cl" && axes.grid_axis[1] < 0) return {1};
    if (prefix == "t") std::erase_if(values, [&](int steps) { return steps > problem.steps; });
    const bool walks = axes.grid_axis[2] >= 0;
    if (!walks && prefix == "bx") return {32};
    if (!walks && is_any(prefix, {"pf", "u", "tg"})) return {1};
    if (prefix == "pf") std::erase(values, 0);
    if (parameter.name == "barrier" && (!walks || limits.compute_capability < kFirstWithTensorCopies)) {
      return {static_cast<int>(StepBarrier::meet)};
    }
    if (prefix == "sp") {
      std::erase_if(values, [&](int planes) { return planes > axes.reach[2].high - axes.reach[2].low + 1; });
    }
    if (prefix == "ch") std::erase_if(values, [&](int chunks) { return chunks > axes.extents[2]; });
  }
  if (is_any(prefix, {"rx", "u"}) && family != Family::temporal) {  // the others' tiles and walks are powers of two
    std::erase_if(values, [](int value) { return (value & (value - 1)) != 0; });
  }
  if (prefix == "cz") return depths_within(std::move(values), updated_planes(problem, axes));
  if (prefix == "v") {
    std::erase_if(values, [&](int vector) {
      return static_cast<std::size_t>(vector) * size_of(problem.type) > 16 || problem.pitch % vector != 0;
    });
  }
  if (prefix == "cl" && !limits.has_clusters()) return {1};
  if (prefix == "mb") std::erase_if(values, [&](int blocks) { return blocks > limits.max_blocks_per_sm; });
  return values;
}

/// What the other choices leave without a meaning goes back to its default, so that a kind of kernel with few
/// parameters is drawn as often as one with many; so does what is better looked for beside good kernels.
Tuning settled(Tuning tuning) {
  for (const Parameter& parameter : parameters()) {
    if (!parameter.used_by(tuning)) parameter.set(tuning, parameter.default_value);
  }
  if (tuning.keeps == Keeps::sums && tuning.family == Family::streaming) {
    tuning.unroll = 1;
    if (tuning.planes == Planes::registers) tuning.prefetch = 0;
  } else {
    tuning.copies = Copies::engine;
    tuning.sums_loop = SumsLoop::turn;
    tuning.tiles = 1;
  }
  if (tuning.copies != Copies::engine) tuning.tiles = 1;
  // Of 26 winners of fused steps the engine helps two and shared memory none; tiles of several warps are slower than
  // those of one in all ten problems tried (H200, 2026-11-22).
  tuning.row_copies = Copies::threads;
  tuning.shared_planes = 0;
  if (tuning.family == Family::temporal) tuning.block_x = 32;
  return tuning;
}

/// Whether each block of a cluster has a tile on a grid of that size.
bool fills_its_clusters(const Problem& problem, const Tuning& tuning) {
  const int axis = cluster_axis(problem, tuning);
  if (axis < 0 || tuning.cluster == 1) return true;
  const auto a = static_cast<std::size_t>(axis);
  return kernel_tile(problem, tuning)[a] * (tuning.cluster - 1) < kernel_axes(problem, tuning).extents[a];
}

/// Places next to the value in the list; for a value that is not in it, the nearest ones. Of how deep walks are, how
/// many they are and how far ahead their copies are, two on each side: the next one alone is often worse, the one after
/// better.
std::vector<int> values_beside(const Parameter& parameter, const std::vector<int>& values, int value) {
  std::vector<int> beside;
  if (parameter.is_word()) {
    std::copy_if(values.begin(), values.end(), std::back_inserter(beside), [&](int other) { return other != value; });
    return beside;
  }
  const std::ptrdiff_t reach = is_any(parameter.prefix, {"cz", "pf", "ch"}) ? 2 : 1;
  const auto at_least = std::lower_bound(values.begin(), values.end(), value);
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  beside.insert(beside.end(), at_least - std::min(reach, at_least - values.begin()), at_least);
  beside.insert(beside.end(), above, above + std::min(reach, values.end() - above));
  return beside;
}

}  // namespace

Space::Space(const Problem& problem, const Limits& limits) : problem_(&problem), limits_(&limits) {
  for (const Family family : stencil_tune::families()) {
    if (family == Family::streaming && problem.extents.rank < 2) continue;
    if (family == Family::temporal && problem.steps < 2) continue;
    FamilySpace space{family, {}, {}, 1};
    for (const Parameter& parameter : parameters()) {
      if (!parameter.used_by(family)) continue;
      space.axes.push_back(&parameter);
      space.values.push_back(possible_values(problem, limits, family, parameter));
      space.points *= space.values.back().size();
    }
    families_.push_back(std::move(space));
  }
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < families_.size(); ++i) {
    if (draw(families_[i], random, kMostMisses)) drawn_.push_back(i);
  }
}

std::uint64_t Space::size() const noexcept {
  return std::accumulate(families_.begin(), families_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const FamilySpace& space) { return sum + space.points; });
}

Tuning Space::decode(const FamilySpace& family, std::uint64_t point) const {
  Tuning tuning;
  tuning.family = family.family;
  for (std::size_t axis = 0; axis < family.axes.size(); ++axis) {
    const std::vector<int>& values = family.values[axis];
    family.axes[axis]->set(tuning, values[point % values.size()]);
    point /= values.size();
  }
  return tuning;
}

std::optional<Tuning> Space::at(std::uint64_t point) const {
  for (const FamilySpace& family : families_) {
    if (point < family.points) {
      const Tuning tuning = decode(family, point);
      return legal(tuning) ? std::optional(tuning) : std::nullopt;
    }
    point -= family.points;
  }
  return {};
}

std::optional<Tuning> Space::draw(const FamilySpace& family, std::mt19937_64& random, int most_misses) const {
  std::uniform_int_distribution<std::uint64_t> points(0, family.points - 1);
  for (int miss = 0; miss < most_misses; ++miss) {
    const Tuning tuning = settled(decode(family, points(random)));
    if (legal(tuning)) return tuning;
  }
  return {};
}

std::optional<Tuning> Space::sample(std::mt19937_64& random) const {
  // A family keeps its share of the draws unless very few of its points are legal.
  std::vector<std::size_t> families = drawn_;
  while (!families.empty()) {
    const std::size_t chosen = std::uniform_int_distribution<std::size_t>(0, families.size() - 1)(random);
    if (auto tuning = draw(families_[families[chosen]], random, kMostMissesOfASample)) return tuning;
    families.erase(families.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return {};
}

std::vector<Tuning> Space::neighbours(const Tuning& tuning) const {
  std::vector<Tuning> result;
  const auto family = std::find_if(families_.begin(), families_.end(),
                                   [&](const FamilySpace& space) { return space.family == tuning.family; });
  if (family == families_.end()) return result;
  for (std::size_t axis = 0; axis < family->axes.size(); ++axis) {
    const Parameter& parameter = *family->axes[axis];
    for (const int value : values_beside(parameter, family->values[axis], parameter.get(tuning))) {
      Tuning neighbour = tuning;
      parameter.set(neighbour, value);
      if (legal(neighbour)) result.push_back(neighbour);
    }
  }
  return result;
}

bool Space::legal(const Tuning& tuning) const {
  return is_legal(*problem_, *limits_, tuning) && fills_its_clusters(*problem_, tuning);
}

}  // namespace stencil_tune
