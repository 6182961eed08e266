#include "tuner/verify/sharpness.hpp"

#include "generator/stencil/rewriting/linear.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kEnough = 0.9;     // share of all cells: numbers that tell so many apart need no better ones
constexpr double kFewDiffer = 0.5;  // share of the cells: that the others are equal is worth a note

/// More than two results may differ that are rounded once each.
bool differs(double a, double b, const check::Rounding& rounding) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) != std::isnan(b);
  const double unit = std::max(rounding.unit, rounding.storage_unit);
  const double rounded =
      2 * (unit * std::max(std::fabs(a), std::fabs(b)) + std::max(rounding.tiny, rounding.storage_tiny));
  return a != b && !(std::fabs(a - b) <= rounded);
}

/// Counts a wrong kernel's results against a reference.
class Counter {
 public:
  Counter(const Problem& problem, const ReferenceField& right, Comparisons& comparisons)
      : problem_(problem), right_(right), comparisons_(comparisons) {}

  /// wrong(x, y, z): the exact result there; nothing where there is none.
  template <class Wrong>
  void count(const std::string& name, const Wrong& wrong) {
    Comparison comparison{name};
    const check::Rounding rounding = rounding_of(problem_, right_.field);
    for_cells([&](std::int64_t x, std::int64_t y, std::int64_t z) {
      const std::size_t at = index(x, y, z);
      const std::optional<double> other = wrong(x, y, z);
      if (!other || std::isinf(right_.tolerance[at])) return;
      ++comparison.cells;
      if (!differs(right_.value[at], *other, rounding)) return;
      ++comparison.differ;
      if (!right_.accepts(at, round_to_storage(*other, storage_of(problem_, right_.field)))) ++comparison.told_apart;
    });
    comparisons_.all.push_back(std::move(comparison));
  }

  void count_unbounded() {
    for_cells([&](std::int64_t x, std::int64_t y, std::int64_t z) {
      ++comparisons_.cells;
      if (std::isinf(right_.tolerance[index(x, y, z)])) ++comparisons_.unbounded;
    });
  }

  /// The right result of the next cell along the axis.
  std::optional<double> next(std::size_t axis, std::array<std::int64_t, kMaxRank> cell) const {
    if (++cell[axis] >= updated_box(problem_).high[axis]) return {};
    const std::size_t at = index(cell[0], cell[1], cell[2]);
    if (std::isinf(right_.tolerance[at])) return {};
    return right_.value[at];
  }

  std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<std::size_t>((z * problem_.extents.n[1] + y) * problem_.pitch + x);
  }

 private:
  template <class Visit>
  void for_cells(const Visit& visit) const {
    const Box box = updated_box(problem_);
    for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
      for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
        for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) visit(x, y, z);
      }
    }
  }

  const Problem& problem_;
  const ReferenceField& right_;
  Comparisons& comparisons_;
};

bool reads_along(const Problem& problem, std::size_t axis) {
  return std::any_of(problem.facts.taps.begin(), problem.facts.taps.end(),
                     [&](const Tap& tap) { return tap.offset[axis] != 0; });
}

/// `before`: the values of a step less, null where there are none.
void compare(const Problem& problem, const ReferenceField& right, const std::vector<double>* before, int sweeps,
             Comparisons& comparisons) {
  Counter counter(problem, right, comparisons);
  counter.count_unbounded();
  if (before != nullptr) {
    counter.count(sweeps == 1 ? "input and results" : fmt::format("{} and {} sweeps", sweeps - 1, sweeps),
                  [&](auto x, auto y, auto z) { return std::optional((*before)[counter.index(x, y, z)]); });
  }
  counter.count("results and zeros", [](auto, auto, auto) { return std::optional(0.0); });
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (!reads_along(problem, axis)) continue;
    counter.count(fmt::format("neighbours in {}", "xyz"[axis]), [&](auto x, auto y, auto z) {
      return counter.next(axis, {x, y, z});
    });
  }
}

/// A grid on which the reference of so many sweeps takes some milliseconds. Not periodic: a wide stencil would soon mix
/// all of its few cells, as it does in no large grid.
Problem small_grid(const Problem& problem, int sweeps) {
  constexpr double kMostWork = 4e6;  // operations
  constexpr std::int64_t kLeast = 4;
  constexpr std::array<std::array<std::int64_t, kMaxRank>, kMaxRank> kCells{{{257, 1, 1}, {31, 23, 1}, {17, 13, 11}}};
  std::array<std::int64_t, kMaxRank> cells = kCells[static_cast<std::size_t>(problem.extents.rank - 1)];
  const double work = static_cast<double>(problem.stencil.nodes.size()) * sweeps;
  while (work * static_cast<double>(cells[0] * cells[1] * cells[2]) > kMostWork) {
    std::int64_t& largest = *std::max_element(cells.begin(), cells.end());
    if (largest <= kLeast) break;
    largest = std::max(kLeast, largest * 3 / 4);
  }
  Extents extents{problem.extents.rank, cells};
  Stencil stencil = problem.stencil;
  Boundaries boundaries = problem.boundaries;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(extents.rank); ++axis) {
    extents.n[axis] = std::max(extents.n[axis] + held_layers(problem, axis).both(), least_extent(stencil, axis));
    if (boundaries[axis] != Boundary::periodic) continue;
    boundaries[axis] = Boundary::zero;
    stencil.boundary[axis].reset();
  }
  return make_problem(std::move(stencil), problem.type, boundaries, extents, 0, sweeps, problem.stage);
}

/// Which of two ways a node goes at a cell.
class Decision {
 public:
  Decision(const Problem& problem, const CheckNumbers& numbers, const Node& node)
      : problem_(problem), numbers_(numbers), op_(node.op) {
    for (std::size_t i = 0; i < 2 && node.operands[i] >= 0; ++i) {
      operands_.push_back(simplified_expression(problem.stencil, node.operands[i]));
    }
  }

  static bool decides(Operation op) {
    return op == Operation::absolute || op == Operation::minimum || op == Operation::maximum || op == Operation::less ||
           op == Operation::less_equal || op == Operation::equal || op == Operation::select;
  }

  bool operator()(std::span<const std::vector<double>> inputs, const std::array<std::int64_t, kMaxRank>& cell) const {
    const double first = value(0, inputs, cell);
    if (op_ == Operation::select) return first != 0;
    if (op_ == Operation::absolute) return first < 0;
    const double second = value(1, inputs, cell);
    return op_ == Operation::equal ? first == second : first < second;
  }

 private:
  double value(std::size_t operand, std::span<const std::vector<double>> inputs,
               const std::array<std::int64_t, kMaxRank>& cell) const {
    return evaluate_cell(problem_, operands_[operand], inputs, numbers_.coefficients, cell, rounding_of(problem_.type))
        .value;
  }

  const Problem& problem_;
  const CheckNumbers& numbers_;
  Operation op_;
  std::vector<ReferenceExpression> operands_;  ///< the first two
};

/// Nodes of the stage's updates that decide something.
std::vector<const Node*> decisions_of(const Problem& stage) {
  std::vector<NodeId> roots;
  for (const Update& update : updates_of(stage)) roots.push_back(update.expression);
  const std::vector<bool> used = reachable(stage.stencil, roots);
  std::vector<const Node*> decisions;
  for (std::size_t id = 0; id < used.size(); ++id) {
    if (used[id] && Decision::decides(stage.stencil.nodes[id].op)) decisions.push_back(&stage.stencil.nodes[id]);
  }
  return decisions;
}

/// Whether the decision goes one way in all cells.
bool is_one_sided(const Problem& stage, const Decision& decision, std::span<const std::vector<double>> inputs) {
  constexpr std::int64_t kSamples = 97;
  const Box box = updated_box(stage);
  const std::array<std::int64_t, 2> size{box.high[0] - box.low[0], box.high[1] - box.low[1]};
  std::int64_t yes = 0, cells = 0;
  for (std::int64_t i = 0; i < box.cells(); i += std::max<std::int64_t>(1, box.cells() / kSamples), ++cells) {
    const std::int64_t row = i / size[0];
    yes += decision(inputs, {box.low[0] + i % size[0], box.low[1] + row % size[1], box.low[2] + row / size[1]});
  }
  return yes == 0 || yes == cells;
}

/// Decisions (min, select, comparisons ...) that go one way in all cells of the first step: kernels that get them wrong
/// look right.
int one_sided_decisions(const Problem& problem, const CheckNumbers& numbers) {
  constexpr int kMostDecisions = 32;
  int decisions = 0, one_sided = 0;
  for (const Problem& stage : stage_problems(problem)) {
    const auto inputs = host_inputs(stage, 1, numbers.input);
    for (const Node* node : decisions_of(stage)) {
      if (++decisions <= kMostDecisions) one_sided += is_one_sided(stage, {stage, numbers, *node}, inputs) ? 1 : 0;
    }
  }
  return one_sided;
}

void add_note(const std::string& text, Sharpness& sharpness) {
  sharpness.note += (sharpness.note.empty() ? "" : "; ") + text;
}

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double Comparisons::strength() const {
  double least = 1;
  for (const Comparison& one : all) {
    const std::int64_t bounded = std::max<std::int64_t>(one.cells, 1);
    least = std::min(least, share_of(one.told_apart, bounded) * (1 - share_of(unbounded, cells)));
  }
  return least;
}

Sharpness Comparisons::sharpness() const {
  if (unbounded > cells / 2) return {0, fmt::format("{} of {} cells may hold anything", unbounded, cells)};
  Sharpness result{1, {}};
  for (const Comparison& one : all) {
    result.share = std::min(result.share, share_of(one.told_apart, one.differ));
    const double differ = share_of(one.differ, one.cells);
    if (differ >= kFewDiffer) continue;
    add_note(fmt::format("{} are equal in {:.0f} % of the cells", one.both, 100 * (1 - differ)), result);
  }
  if (unbounded > 0) {
    add_note(fmt::format("{:.3g} % of the cells may hold anything", 100 * share_of(unbounded, cells)), result);
  }
  return result;
}

std::optional<std::string> why_not_sharp(const Sharpness& sharpness, int sweeps) {
  if (sharpness.share >= kSharp) return std::nullopt;
  return fmt::format("cannot be verified: of {} sweeps wrong results would be noticed in {:.0f} % of the cells{}{}",
                     sweeps, 100 * sharpness.share, sharpness.note.empty() ? "" : "; ", sharpness.note);
}

namespace {

/// What stood a step earlier where the field stands after the last one: what that step computed, or of the first one
/// the input that it takes the place of.
const std::vector<double>* a_step_before(const Problem& problem, int field, std::span<const ReferenceField> earlier,
                                         std::span<const std::vector<double>> inputs) {
  for (const ReferenceField& one : earlier) {
    if (one.field == field) return &one.value;
  }
  const auto& rotations = problem.stencil.rotations;
  const auto taken =
      std::find_if(rotations.begin(), rotations.end(), [&](const Rotation& r) { return r.from == field; });
  const std::vector<int> fields = kernel_inputs(problem);
  const auto input = std::find(fields.begin(), fields.end(), taken == rotations.end() ? field : taken->to);
  if (!earlier.empty() || input == fields.end()) return nullptr;
  return &inputs[static_cast<std::size_t>(input - fields.begin())];
}

}  // namespace

Comparisons compare_wrong_kernels(const Problem& problem, const CheckNumbers& numbers, int sweeps, std::uint64_t seed) {
  Comparisons comparisons;
  const std::vector<std::vector<double>> inputs = host_inputs(problem, seed, numbers.input, sweeps);
  const auto after = evaluate_steps(problem, inputs, numbers.coefficients, numbers.exact, sweeps);
  const std::vector<ReferenceField> none;
  const std::vector<ReferenceField>& earlier = sweeps > 1 ? after[after.size() - 2] : none;
  for (const ReferenceField& field : after.back()) {
    compare(problem, field, a_step_before(problem, field.field, earlier, inputs), sweeps, comparisons);
  }
  return comparisons;
}

SharpNumbers sharp_numbers(const Problem& problem, int sweeps) {
  const Problem small = small_grid(problem, sweeps);
  SharpNumbers best{random_numbers(problem), {}};
  std::tuple<bool, int, double> merit{false, std::numeric_limits<int>::min(), 0};  // sharp, decides, strength
  const auto try_out = [&](const CheckNumbers& numbers) {
    const Comparisons comparisons = compare_wrong_kernels(small, numbers, sweeps);
    const Sharpness sharpness = comparisons.sharpness();
    const std::tuple now{sharpness.share >= kSharp, -one_sided_decisions(small, numbers), comparisons.strength()};
    if (now <= merit) return;
    best = {numbers, sharpness};
    merit = now;
  };
  const auto enough = [&] { return merit >= std::tuple{true, 0, kEnough}; };
  try_out(random_numbers(problem));
  if (enough()) return best;
  for (const CheckNumbers& numbers : other_numbers(problem, sweeps)) {
    try_out(numbers);
    if (enough()) break;
  }
  const int one_sided = -std::get<1>(merit);
  if (one_sided > 0)
    add_note(fmt::format("{} of the stencil's decisions fall one way in all cells", one_sided), best.sharpness);
  return best;
}

}  // namespace stencil_tune
