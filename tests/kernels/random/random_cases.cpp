#include "tests/kernels/random/random_cases.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/launch.hpp"
#include "tests/kernels/random/random_stencils.hpp"
#include "tests/kernels/random/random_systems.hpp"
#include "tuner/verify/sharpness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace stencil_tune {
namespace {

constexpr std::int64_t kMostCells = 50'000;     // cells of a grid: a second or two on the host executor
constexpr std::int64_t kMostReads = 3'000'000;  // cells times taps times steps
constexpr int kMostSystemSteps = 6;
constexpr int kMostGrids = 3;
constexpr int kGridTries = 30;
constexpr int kCandidateTries = 50;

Boundaries random_boundaries(Draw& draw) {
  using enum Boundary;
  const auto any = [&] { return draw.one_of({hold, zero, clamp, periodic, reflect}); };
  Boundaries boundaries{any(), any(), any()};
  if (draw.one_in(4)) boundaries.fill(boundaries[0]);
  return boundaries;
}

ElementType random_type(Draw& draw) {
  using enum ElementType;
  return draw.one_of({f32, f32, f64, f16, bf16});
}

int random_stage(Draw& draw, const Stencil& stencil) {
  return draw.between(0, static_cast<int>(stencil.stages.size()) - 1);
}

/// On a grid that is small, of usual size, or so large that offsets take 64 bits.
Problem on_a_grid(Draw& draw, const Stencil& stencil, int steps, int stage) {
  const ElementType type = random_type(draw);
  const Boundaries boundaries = random_boundaries(draw);
  const std::int64_t wide = stencil.rank == 1 ? std::int64_t{1} << 32 : stencil.rank == 2 ? 1 << 16 : 1 << 11;
  const std::int64_t side =
      draw.one_of({std::int64_t{0}, std::int64_t{64}, std::int64_t{512}, std::int64_t{512}, std::int64_t{1000}, wide});
  Extents extents{stencil.rank, {1, 1, 1}};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(stencil.rank); ++axis) {
    constexpr std::int64_t kBeyondReach = 8;  // reads that are changed beyond an edge reach so far
    const bool mirrors_once = std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [](const Node& node) {
      return node.op == Operation::before || node.op == Operation::after;
    });
    extents.n[axis] = side > 0 ? side : draw.between(mirrors_once ? kBeyondReach : std::int64_t{1}, 40);
  }
  const std::int64_t unit = draw.one_of({1, 2, 4, 16});
  const std::int64_t pitch = (extents.n[0] + unit - 1) / unit * unit + (draw.one_in(3) ? unit : 0);
  return make_problem(stencil, type, boundaries, extents, pitch, steps, stage);
}

Problem planned_problem(Draw& draw) {
  const Stencil stencil = random_stencil(draw);
  const int steps = draw.one_in(4) ? 1 : 8;
  return on_a_grid(draw, stencil, steps, random_stage(draw, stencil));
}

/// Whole steps of a system, which are fused.
Problem planned_system(Draw& draw) {
  const Stencil stencil = random_system(draw);
  return on_a_grid(draw, stencil, draw.between(1, kMostSystemSteps), kWholeStep);
}

std::int64_t reads(const Problem& problem, const Tuning& tuning) {
  return problem.allocated_cells() * static_cast<std::int64_t>(problem.facts.taps.size()) * sweeps_per_launch(tuning);
}

/// An extent at which kernels go wrong. `tile` cells are covered by a block; `least` is the fewest that it is legal on.
std::int64_t awkward_extent(Draw& draw, std::int64_t tile, std::int64_t least, int radius, std::int64_t held) {
  const std::int64_t updated =
      draw.one_of({std::int64_t{1}, std::int64_t{2}, std::int64_t{radius}, radius + 1L, tile - 1, tile, tile + 1,
                   2 * tile + 1, std::int64_t{13}, std::int64_t{37}, draw.between(std::int64_t{1}, 70)});
  return std::max<std::int64_t>(least, std::max<std::int64_t>(updated, 1) + held);
}

/// The fewest cells along each grid axis that the candidate is legal on.
std::array<std::int64_t, kMaxRank> least_extents(const Problem& problem, const Tuning& tuning) {
  std::array<std::int64_t, kMaxRank> least{1, 1, 1};
  const Candidate candidate(problem, tuning);
  const KernelShape& shape = candidate.shape();
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (shape.axes.has(axis)) least[static_cast<std::size_t>(shape.axes.grid_axis[axis])] = shape.least_extents[axis];
  }
  return least;
}

Problem random_grid(Draw& draw, const Problem& planned, const Tuning& tuning) {
  const auto tile = output_tile({planned, tuning});
  const auto least = least_extents(planned, tuning);
  Problem grid = planned;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(planned.extents.rank); ++axis) {
    const std::int64_t held = held_layers(planned, axis).both();
    const std::int64_t n = awkward_extent(draw, tile[axis], least[axis], planned.facts.radius[axis], held);
    grid.extents.n[axis] = draw.one_in(5) ? std::max<std::int64_t>(n, least[axis] + draw.between(0, 9)) : n;
  }
  const auto cell_bytes = static_cast<std::int64_t>(size_of(planned.type));
  const std::int64_t unit = Candidate(planned, tuning).shape().uses_tensor_maps ? 16 / cell_bytes : tuning.vector;
  const std::int64_t dense = (grid.extents.n[0] + unit - 1) / unit * unit;
  grid.pitch = dense + draw.one_of({0, 0, 1, 3}) * unit;
  return grid;
}

/// What a definition says of edges may be mirrored once alone.
bool has_room_for_mirrors(const Problem& grid) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.extents.rank); ++axis) {
    if (grid.extents.n[axis] < least_extent(grid.stencil, axis)) return false;
  }
  return true;
}

std::vector<Problem> random_grids(Draw& draw, const Problem& planned, const Limits& limits, const Tuning& tuning) {
  std::vector<Problem> grids;
  const auto add = [&](const Problem& grid) {
    if (updated_box(grid).cells() == 0 || grid.allocated_cells() > kMostCells || reads(grid, tuning) > kMostReads) {
      return;
    }
    if (has_room_for_mirrors(grid) && is_legal({grid, tuning}, limits)) grids.push_back(grid);
  };
  add(planned);
  for (int tries = 0; tries < kGridTries && grids.size() < kMostGrids; ++tries) {
    add(random_grid(draw, planned, tuning));
  }
  return grids;
}

const Family& random_family(Draw& draw, const Problem& problem) {
  if (problem.steps > 1 && advances_one_field(problem) && draw.one_in(2)) {
    const bool in_a_plane = problem.extents.rank == 2 && problem.facts.linear;
    if (in_a_plane && draw.one_in(2)) return family_named("systolic");
    return family_named(problem.extents.rank > 1 && draw.one_in(3) ? "resident" : "temporal");
  }
  if (problem.extents.rank > 1 && draw.one_in(2)) return family_named("streaming");
  return family_named(draw.one_in(2) ? "direct" : "tiled");
}

/// The search draws no planes in shared memory, no threads that cover the input, and walks along y in flat grids alone:
/// these are made of what it draws.
Tuning undrawn_form(Draw& draw, const Space& space, const Tuning& drawn) {
  Tuning form = drawn;
  form.planes = draw.one_of({Planes::shared, Planes::mixed});
  form.cover = draw.one_of({Cover::output, Cover::output, Cover::input});
  if (form.family->advances_all_fields) form.walk_axis = draw.one_of({WalkAxis::z, WalkAxis::y});
  const Tuning used = with_used_values_alone(form);
  return space.legal(used) ? used : drawn;
}

/// Many steps of some stencils cannot: neighbours drive each other apart until rounding has changed everything. Nor can
/// some whole steps: all that one stage decides may be lost in the next.
bool can_be_verified(const Problem& problem, const Tuning& tuning) {
  const int sweeps = sweeps_per_launch(tuning);
  if (sweeps == 1 && problem.stage != kWholeStep) return true;
  return sharp_numbers(problem, sweeps).sharpness.share >= kSharp;
}

/// A problem, and what chooses the family of its candidates.
using Plan = Problem (*)(Draw&);
using Choice = const Family& (*)(Draw&, const Problem&);

/// Nothing where no candidate serves the problem, or only on grids that would take too long.
std::optional<RandomCase> try_case(Draw& draw, Plan plan, Choice choose) {
  RandomCase result;
  result.planned = plan(draw);
  result.architecture = draw.one_of({"sm_75", "sm_80", "sm_86", "sm_90", "sm_90", "sm_100", "sm_120"});
  const Limits limits = limits_of_architecture(result.architecture);
  const Space space(result.planned, limits);
  const Family& family = choose(draw, result.planned);  // for all tries: some families are seldom legal
  for (int tries = 0; tries < kCandidateTries; ++tries) {
    auto tuning = space.sample(family, draw.engine());
    if (!tuning) return std::nullopt;
    if (draw.one_in(2)) tuning = undrawn_form(draw, space, *tuning);
    std::vector<Problem> grids = random_grids(draw, result.planned, limits, *tuning);
    std::erase_if(grids, [&](const Problem& grid) { return !can_be_verified(grid, *tuning); });
    if (grids.empty()) continue;
    result.host_case = {*tuning, std::move(grids), result.planned};
    return result;
  }
  return std::nullopt;
}

}  // namespace

RandomCase random_case(std::uint64_t seed) {
  if (seed % 5 == 0) return random_system_case(seed);
  Draw draw(seed);
  for (;;) {
    if (auto found = try_case(draw, planned_problem, random_family)) return *found;
  }
}

RandomCase random_system_case(std::uint64_t seed) {
  const auto systems = [](Draw&, const Problem&) -> const Family& { return family_named("system"); };
  Draw draw(seed);
  for (;;) {
    if (auto found = try_case(draw, planned_system, systems)) return *found;
  }
}

std::string describe(const RandomCase& random_case) {
  const Problem& planned = random_case.planned;
  std::string text = fmt::format("{} for {} {} {}, pitch {}, {}, stage {}; on", code(random_case.host_case.tuning),
                                 name(planned.type), planned.stencil.name, to_string(planned.extents), planned.pitch,
                                 to_string(planned.boundaries, planned.extents.rank), planned.stage);
  for (const Problem& grid : random_case.host_case.problems) {
    text += fmt::format(" {} (pitch {})", to_string(grid.extents), grid.pitch);
  }
  return text;
}

}  // namespace stencil_tune
