#include "tests/kernels/kernel_cases.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/definition/definition.hpp"
#include "tests/kernels/covering_array.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <map>

namespace stencil_tune {
namespace {

constexpr std::array kTypes{ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16};
constexpr std::array kOrders{BlockOrder::natural, BlockOrder::z_first, BlockOrder::raster, BlockOrder::raster32};
constexpr std::array kClusters{1, 2, 4};
constexpr std::array kTilesOfBlock{1, 2, 8};
constexpr std::array kLoads{LoadHint::cached, LoadHint::read_only, LoadHint::l2_only};
constexpr std::array kStores{StoreHint::write_back, StoreHint::streaming};

struct Block {
  int x, y, z;
};
// The plainest first. Those with 16 x 16 and 8 x 8 x 8 threads leave an output tile when threads cover the input tile.
constexpr Block kBlocks[]{{32, 1, 1}, {32, 4, 1}, {8, 8, 1},   {16, 2, 2}, {64, 1, 1},
                          {8, 4, 4},  {8, 8, 8},  {16, 16, 1}, {256, 1, 1}};

struct Tile {
  int x, y, z, vector;
};
constexpr Tile kTiles[]{{1, 1, 1, 1}, {2, 1, 1, 2}, {4, 2, 1, 4}, {4, 1, 2, 2}, {1, 3, 1, 1},
                        {2, 2, 2, 1}, {8, 1, 1, 8}, {3, 1, 1, 1}, {8, 1, 1, 1}};

struct Walk {
  int depth, unroll, prefetch;
};
constexpr Walk kWalks[]{{1, 1, 1}, {4, 1, 2}, {3, 2, 0}, {8, 4, 1}, {64, 1, 3}};

const Limits& limits() {
  static const Limits value = limits_of_architecture("sm_90");
  return value;
}

Tuning form(std::string_view family, Planes planes, Cover cover, Neighbours neighbours) {
  Tuning tuning(family_named(family));
  tuning.planes = planes;
  tuning.cover = cover;
  tuning.neighbours = neighbours;
  return tuning;
}

Problem on_grid(const Problem& problem, std::array<std::int64_t, kMaxRank> n, std::int64_t pitch) {
  Problem result = problem;
  result.extents.n = n;
  result.pitch = pitch;
  return result;
}

/// What means nothing to this candidate goes back to its default.
Tuning without_unused(Tuning tuning) {
  if (tuning.keeps == Keeps::sums) {
    tuning.sums_loop = tuning.unroll == 1 ? tuning.sums_loop : SumsLoop::step;
    tuning.unroll = 1;
  }
  return with_used_values_alone(tuning);
}

Tuning with_values(Tuning tuning, const Block& block, const Tile& tile, const Walk& walk) {
  tuning.block_x = block.x;
  tuning.block_y = block.y;
  tuning.block_z = block.z;
  tuning.register_x = tile.x;
  tuning.register_y = tile.y;
  tuning.register_z = tile.z;
  tuning.vector = tile.vector;
  tuning.depth = walk.depth;
  tuning.unroll = walk.unroll;
  tuning.prefetch = walk.prefetch;
  return without_unused(tuning);
}

constexpr std::array<std::array<std::int64_t, kMaxRank>, 4> awkward_extents(int rank) {
  switch (rank) {
    case 1:
      return {{{1, 1, 1}, {2, 1, 1}, {67, 1, 1}, {1031, 1, 1}}};
    case 2:
      return {{{1, 1, 1}, {67, 13, 1}, {5, 41, 1}, {128, 16, 1}}};
    default:
      return {{{1, 1, 1}, {37, 11, 9}, {3, 18, 7}, {64, 8, 4}}};
  }
}

std::vector<Stencil> all_builtins() {
  std::vector<Stencil> stencils;
  for (int rank = 1; rank <= kMaxRank; ++rank) {
    for (int order = 1; order <= 8; ++order) stencils.push_back(make_builtin(Shape::star, rank, order));
    for (int order = 1; order <= 4; ++order) stencils.push_back(make_builtin(Shape::box, rank, order));
  }
  return stencils;
}

}  // namespace

Problem problem_of(const Stencil& stencil, ElementType type, const Boundaries& boundaries) {
  Extents extents{stencil.rank, {64, 1, 1}};
  for (int axis = 1; axis < stencil.rank; ++axis) extents.n[static_cast<std::size_t>(axis)] = 64;
  return make_problem(stencil, type, boundaries, extents);
}

std::optional<Tuning> plainest(const Tuning& form_of_family, const Problem& problem) {
  constexpr Block kPlain[]{{32, 4, 1}, {64, 1, 1}, {16, 16, 1}, {8, 8, 8}, {32, 32, 1}, {16, 8, 8}};
  for (const Block& block : kPlain) {
    for (const Tile& tile : {kTiles[0], kTiles[1], Tile{8, 1, 1, 1}}) {
      const Tuning tuning = with_values(form_of_family, block, tile, {4, 1, 1});
      if (is_legal({problem, tuning}, limits())) return tuning;
    }
  }
  return std::nullopt;
}

std::vector<Tuning> kernel_forms() {
  using enum Planes;
  const auto direct = [](Neighbours n) { return form("direct", registers, Cover::output, n); };
  const auto tiled = [](Cover c) { return form("tiled", registers, c, Neighbours::cache); };
  const auto streaming = [](Planes p, Cover c, Neighbours n) { return form("streaming", p, c, n); };
  const auto sums = [](Planes p, Neighbours n) {
    Tuning tuning = form("streaming", p, Cover::output, n);
    tuning.keeps = Keeps::sums;
    return tuning;
  };
  Tuning copied_sums = sums(ring, Neighbours::cache);
  copied_sums.copies = Copies::threads;
  return {
      direct(Neighbours::cache),
      direct(Neighbours::shuffle),
      tiled(Cover::output),
      tiled(Cover::input),
      streaming(registers, Cover::output, Neighbours::cache),
      streaming(registers, Cover::output, Neighbours::shuffle),
      streaming(shared, Cover::output, Neighbours::cache),
      streaming(shared, Cover::input, Neighbours::cache),
      streaming(mixed, Cover::output, Neighbours::cache),
      streaming(mixed, Cover::input, Neighbours::cache),
      streaming(ring, Cover::output, Neighbours::cache),
      sums(registers, Neighbours::cache),
      sums(registers, Neighbours::shuffle),
      sums(ring, Neighbours::cache),
      copied_sums,
  };
}

Stencil lopsided_stencil() {
  StencilBuilder builder("lopsided", 3);
  const int in = builder.field("in");
  const int out = builder.field("out");
  NodeId sum = -1;
  int number = 0;
  for (const Offset offset : {Offset{0, 0, 0}, Offset{-3, 0, 0}, Offset{1, 0, 0}, Offset{2, -1, 0}, Offset{0, 2, 0},
                              Offset{0, 0, 1}, Offset{0, 0, -2}, Offset{-1, 1, -1}, Offset{4, 0, 1}}) {
    const int c = builder.coefficient(fmt::format("c{}", number++), 0.1);
    const NodeId term = builder.apply(Operation::multiply, builder.coefficient_value(c), builder.read(in, offset));
    sum = sum < 0 ? term : builder.apply(Operation::add, sum, term);
  }
  builder.update(out, sum);
  return std::move(builder).build();
}

Stencil two_field_stencil() {
  using enum Operation;
  StencilBuilder builder("two_fields", 3);
  const int u = builder.field("u");
  const int k = builder.field("k");
  const int u_next = builder.field("u_next");
  const int flux = builder.field("flux");
  const NodeId c = builder.coefficient_value(builder.coefficient("c", 0.25));
  const NodeId centre = builder.read(u, {0, 0, 0});
  const NodeId east = builder.apply(subtract, builder.read(u, {1, 0, 0}), centre);
  const NodeId south = builder.apply(subtract, centre, builder.read(u, {0, -2, 0}));
  const NodeId above = builder.apply(subtract, builder.read(u, {0, 0, 1}), centre);
  const NodeId gradient = builder.apply(add, builder.apply(add, east, south), above);
  const NodeId weighted = builder.apply(multiply, builder.read(k, {0, 1, 0}), gradient);
  builder.update(u_next, builder.apply(add, centre, builder.apply(multiply, c, weighted)));
  builder.update(flux, builder.apply(multiply, builder.read(k, {0, 0, -1}), east));
  return std::move(builder).build();
}

Stencil nonlinear_stencil() {
  using enum Operation;
  StencilBuilder builder("nonlinear", 2);
  const int in = builder.field("in");
  const int out = builder.field("out");
  const NodeId centre = builder.read(in, {0, 0, 0});
  const NodeId left = builder.read(in, {-1, 0, 0});
  const NodeId up = builder.read(in, {1, 2, 0});
  const NodeId low = builder.apply(minimum, left, up);
  const NodeId high = builder.apply(maximum, left, up);
  const NodeId size = builder.apply(square_root, builder.apply(absolute, builder.apply(multiply, low, high)));
  const NodeId limited = builder.apply(select, builder.apply(less, centre, low), low, size);
  builder.update(out, builder.apply(subtract, limited, builder.apply(multiply, builder.number(0.5), centre)));
  return std::move(builder).build();
}

Stencil functions_stencil() {
  return parse_stencil(
      "v = sin(2*u[x-1]) - cos(u[x+1, y+2]) * tanh(u[y-1]) + log(0.5 + abs(u)) - 0.1*tan(0.5*max(-1, min(u, 1)))"
      " + pow(0.5 + abs(u[y+2]), a) * pow(u, 3) + 0.3*floor(4*u[x-1]) - mod(2*u, 0.75) + mod(u[y-1], -0.6); a = 1.3",
      2);
}

Stencil placed_stencil() {
  return parse_definition(R"toml(
name = "placed"
rank = 3
fields = ["u", "v"]
[coefficients]
a = 0.3
[let]
wave = "u * sin(a*x + 0.7*y) + 0.1*random(5)"
[update]
v = "0.2*random(a) + u * mod(x + 2*y, 3) - floor(0.5*z) + wave[x-1, y+2] + u[z-1]*cos(0.2*z) + (x + 10*y + 100*z)/1000 - t*u[z+1] + select(x[x+1] < 8, y[y-2], 0.5)"
)toml",
                          "placed.toml");
}

std::vector<Stencil> covering_stencils() {
  return {
      make_builtin(Shape::star, 3, 1),
      make_builtin(Shape::star, 3, 2),
      make_builtin(Shape::star, 3, 4, Sharing::symmetric),
      make_builtin(Shape::star, 3, 8),
      make_builtin(Shape::box, 3, 1),
      make_builtin(Shape::box, 3, 2, Sharing::symmetric),
      make_builtin(Shape::star, 2, 1),
      make_builtin(Shape::star, 2, 3),
      make_builtin(Shape::box, 2, 1),
      make_builtin(Shape::box, 2, 4),
      make_builtin(Shape::star, 1, 1),
      make_builtin(Shape::star, 1, 2),
      make_builtin(Shape::star, 1, 8),
      lopsided_stencil(),
      two_field_stencil(),
      nonlinear_stencil(),
      functions_stencil(),
      placed_stencil(),
  };
}

std::vector<Boundaries> covering_boundaries() {
  using enum Boundary;
  return {{hold, hold, hold},          {zero, zero, zero},     {clamp, clamp, clamp},   {periodic, periodic, periodic},
          {reflect, reflect, reflect}, {periodic, hold, zero}, {clamp, periodic, hold}, {hold, reflect, clamp}};
}

std::vector<Problem> awkward_grids(const Problem& problem, const Tuning& tuning) {
  // Rows must start where vectors may, and where TMA may.
  const auto cell_bytes = static_cast<std::int64_t>(size_of(problem.type));
  const std::int64_t unit = Candidate(problem, tuning).shape().uses_tensor_maps ? 16 / cell_bytes : tuning.vector;
  std::vector<Problem> grids;
  bool padded = false;
  for (auto n : awkward_extents(problem.extents.rank)) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.extents.rank); ++axis) {
      n[axis] += held_layers(problem, axis).both();
    }
    const std::int64_t dense = (n[0] + unit - 1) / unit * unit;
    const Problem grid = on_grid(problem, n, padded ? dense + 3 * unit : dense);
    if (is_legal({grid, tuning}, limits())) grids.push_back(grid);
    padded = !padded;
  }
  return grids;
}

HostCase wide_index_case(HostCase narrow) {
  const int rank = narrow.problems.front().extents.rank;
  const std::int64_t side = rank == 1 ? std::int64_t{1} << 32 : rank == 2 ? 1 << 16 : 1 << 11;
  narrow.generated_for = on_grid(narrow.problems.front(), {side, rank > 1 ? side : 1, rank > 2 ? side : 1}, side);
  return narrow;
}

std::vector<HostCase> pairwise_cases() {
  const auto forms = kernel_forms();
  const auto stencils = covering_stencils();
  const auto boundaries = covering_boundaries();
  std::map<std::array<int, 3>, Problem> problems;  // deriving a stencil's facts takes longer than judging a candidate
  const auto problem_at = [&](int stencil, int type, int boundary) -> const Problem& {
    const auto [entry, added] = problems.try_emplace({stencil, type, boundary});
    if (added) {
      entry->second = problem_of(stencils[static_cast<std::size_t>(stencil)], kTypes[static_cast<std::size_t>(type)],
                                 boundaries[static_cast<std::size_t>(boundary)]);
    }
    return entry->second;
  };
  enum { kForm, kStencil, kBlock, kTile, kWalk, kType, kBoundary, kOrder, kCluster, kQueue, kLoad, kStore, kIndex };
  const auto count = [](const auto& values) { return static_cast<int>(std::size(values)); };
  const std::vector<int> sizes{count(forms),
                               count(stencils),
                               count(kBlocks),
                               count(kTiles),
                               count(kWalks),
                               count(kTypes),
                               count(boundaries),
                               count(kOrders),
                               count(kClusters),
                               count(kTilesOfBlock),
                               count(kLoads),
                               count(kStores),
                               2};
  const auto tuning_of = [&](const Row& row) {
    const auto value = [&](int factor) { return static_cast<std::size_t>(row[static_cast<std::size_t>(factor)]); };
    Tuning tuning =
        with_values(forms[value(kForm)], kBlocks[value(kBlock)], kTiles[value(kTile)], kWalks[value(kWalk)]);
    tuning.order = kOrders[value(kOrder)];
    tuning.cluster = kClusters[value(kCluster)];
    tuning.tiles = kTilesOfBlock[value(kQueue)];
    tuning.load = kLoads[value(kLoad)];
    tuning.store = kStores[value(kStore)];
    return without_unused(tuning);
  };
  const auto legal = [&](const Row& row) {
    return is_legal({problem_at(row[kStencil], row[kType], row[kBoundary]), tuning_of(row)}, limits());
  };
  std::vector<HostCase> cases;
  for (const Row& row : cover_pairs(sizes, legal)) {
    const Tuning tuning = tuning_of(row);
    HostCase narrow{tuning, awkward_grids(problem_at(row[kStencil], row[kType], row[kBoundary]), tuning), {}};
    cases.push_back(row[kIndex] == 0 ? std::move(narrow) : wide_index_case(std::move(narrow)));
  }
  return cases;
}

std::vector<HostCase> all_cases() {
  std::vector<HostCase> cases;
  for (const Stencil& stencil : all_builtins()) {
    for (const ElementType type : kTypes) {
      for (std::size_t uniform = 0; uniform < 5; ++uniform) {
        const Problem problem = problem_of(stencil, type, covering_boundaries()[uniform]);
        for (const Tuning& form_of_family : kernel_forms()) {
          if (const auto tuning = plainest(form_of_family, problem)) {
            cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
          }
        }
      }
    }
  }
  return cases;
}

std::string describe(const HostCase& host_case) {
  const Problem& problem = host_case.problems.front();
  return fmt::format("{} on {} {} {}", code(host_case.tuning), problem.stencil.name, name(problem.type),
                     to_string(problem.boundaries, problem.extents.rank));
}

}  // namespace stencil_tune
