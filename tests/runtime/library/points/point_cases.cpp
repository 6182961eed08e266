#include "tests/runtime/library/points/point_cases.hpp"

#include "generator/candidates/family.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/definition/definition.hpp"
#include "generator/points/point_checks.hpp"
#include "generator/points/tile_span.hpp"
#include "generator/stencil/indices.hpp"
#include "tests/generator/systems.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace stencil_tune {

namespace {

using enum Boundary;

/// There and back, without a rotation.
constexpr const char* kInPlace = R"toml(
name = "in_place"
rank = 2
fields = ["a", "b"]
[[stage]]
b = "0.5*a + 0.25*(a[x-1] + a[y+1])"
[[stage]]
a = "0.5*b + 0.25*(b[x+1] + b[y-1])"
)toml";

/// Two fields that stay finite however long sources add to them.
constexpr const char* kSaturating = R"toml(
name = "saturating"
rank = 2
fields = ["u", "v", "u_next", "v_next"]
[[stage]]
u_next = "u + 0.1*laplacian(u) - 0.2*u*v*v/(1 + v*v)"
v_next = "v + 0.05*(v[x-1] - v) + 0.1*u/(1 + v*v)"
[rotate]
u_next = "u"
v_next = "v"
)toml";

constexpr const char* kWave3d = R"toml(
name = "wave3d"
rank = 3
fields = ["p", "p_prev", "p_next"]
[[stage]]
p_next = "2*p - p_prev + 0.1*laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
)toml";

constexpr const char* kWave3dOfOrder4 = R"toml(
name = "wave3d_of_order_4"
rank = 3
fields = ["p", "p_prev", "p_next"]
[update]
p_next = "2*p - p_prev + 0.1*laplacian(p, accuracy=4)"
[rotate]
p_next = "p"
p = "p_prev"
)toml";

constexpr const char* kYee3d = R"toml(
name = "yee3d"
rank = 3
fields = ["e", "h", "c", "e_next", "h_next"]
[[stage]]
h_next = "h - 0.2*(e[x+1] - e) - 0.2*(e[y+1] - e) + 0.1*(e[z+1] - e)"
[[stage]]
e_next = "e + 0.1*c*(h_next - h_next[x-1]) + 0.2*(h_next - h_next[y-1]) - 0.2*(h_next - h_next[z-1])"
[rotate]
e_next = "e"
h_next = "h"
)toml";

constexpr const char* kHeat = "u_next = 0.5*u + 0.1*(u[x-1] + u[x+1]) + 0.1*(u[y-1] + u[y+1])";

constexpr Boundaries kTurning{periodic, hold, reflect};
constexpr Boundaries kOthers{hold, periodic, clamp};

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

Extents grid_of(int rank) {
  if (rank == 1) return {1, {300, 1, 1}};
  return rank == 2 ? Extents{2, {150, 41, 1}} : Extents{3, {76, 43, 19}};
}

PointCase make(std::string name, Stencil stencil, const Boundaries& boundaries, std::string code) {
  const Extents extents = grid_of(stencil.rank);
  return {std::move(name), std::move(stencil), boundaries, extents, std::move(code)};
}

PointCase system(std::string name, const char* definition, const Boundaries& boundaries, std::string code) {
  return make(std::move(name), parse_definition(definition, "system.toml"), boundaries, std::move(code));
}

PointCase one_field(std::string name, int rank, const Boundaries& boundaries, std::string code) {
  Stencil stencil = rank == 2 ? parse_stencil(kHeat, 2) : find_builtin(rank == 1 ? "heat1d" : "heat3d");
  return make(std::move(name), std::move(stencil), boundaries, std::move(code));
}

/// First and last cells of a kernel's tiles along one of its axes.
std::set<std::int64_t> edges_of_tiles(const KernelShape& shape, std::size_t axis) {
  std::set<std::int64_t> cells;
  const FusedLevels& fused = shape.fused;
  const std::int64_t n = shape.axes.extents[axis];
  const std::int64_t tiles = shape.tiles[axis];
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    if (axis == 2) {  // chunks of planes, about
      cells.insert({n * tile / tiles, n * (tile + 1) / tiles - 1});
      continue;
    }
    const bool is_x = axis == 0;
    const auto span = tile_span<std::int64_t>(tile, tiles, n, static_cast<int>(is_x ? fused.width : fused.height),
                                              is_x ? fused.left : fused.above, is_x ? fused.right : fused.below,
                                              is_x ? fused.shift : 0, is_x ? 0 : fused.rim_rows,
                                              shape.axes.boundaries[axis] == periodic);
    cells.insert({span.low, span.high - 1});
  }
  return cells;
}

}  // namespace

std::vector<PointCase> point_cases() {
  using testing::kMixed;
  return {
      system("two_time_levels", testing::kWave, kMixed, "system.bx32.by1.rx2.v2.pf2.t4.ch3.u2"),
      system("two_time_levels_reflected", testing::kWave, everywhere(reflect), "system.bx32.by1.rx2.v2.pf2.t3.ch2"),
      system("two_fields", kSaturating, everywhere(periodic), "system.bx32.by1.rx2.v2.pf2.t3.ch3.u2"),
      system("two_stages", testing::kYee, everywhere(clamp), "system.bx32.by1.rx2.v2.pf2.t3.ch3.u2"),
      system("two_stages_of_one_step", testing::kYee, everywhere(zero), "system.bx32.by1.rx2.v2.pf2.t1.ch2"),
      system("in_place", kInPlace, kMixed, "system.bx32.by1.rx2.v2.pf2.t2.ch2"),
      system("wave3d", kWave3d, kTurning, "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3.u2"),
      system("wave3d_by_tma", kWave3d, everywhere(hold), "system.bx32.by4.rx2.ry2.tmarows.pf2.t3.ch2.u2"),
      system("wave3d_sectors", kWave3d, everywhere(hold), "system.bx32.by4.rx2.ry4.v2.sectors.pf1.t4.ch2.u3"),
      system("wave3d_rests", kWave3d, everywhere(hold), "system.bx32.by8.rx2.v2.pf2.t2.ch2.rest.fillplain"),
      system("wave3d_rim", kWave3d, everywhere(hold), "system.bx32.by4.rx2.ry4.v2.pf1.t3.ch2.rim"),
      // The first of two tiles ends a row before the grid, and leaves two of its own to the second.
      system("wave3d_rim_of_held_rows", kWave3dOfOrder4, everywhere(hold), "system.bx32.by14.ry3.pf1.t2.ch2.rim"),
      system("yee3d", kYee3d, everywhere(hold), "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch2.u2"),
      system("yee3d_periodic", kYee3d, everywhere(periodic), "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch2"),
      system("wave3d_along_y", kWave3d, kTurning, "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3.walky.u2"),
      one_field("heat3d", 3, kOthers, "temporal.bx32.by4.rx2.ry2.v2.pf2.t3.ch2"),
      one_field("heat3d_sums", 3, everywhere(hold), "temporal.bx32.by4.rx2.ry4.sums.pf2.t3"),
      one_field("heat3d_two_warps_wide", 3, everywhere(zero), "temporal.bx64.by2.ry3.pf2.t2.u2"),
      one_field("heat3d_groups", 3, everywhere(hold), "temporal.bx32.by4.rx2.ry4.pf2.t4.ch2.tg2"),
      one_field("heat3d_cluster", 3, everywhere(hold), "temporal.bx32.by3.rx2.ry4.sums.tmarows.pf2.t2.split.cl2"),
      one_field("heat3d_rim", 3, everywhere(hold), "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.rim.u2"),
      one_field("heat3d_rim_periodic", 3, everywhere(periodic), "temporal.bx32.by3.rx2.ry4.sums.pf2.t2.rim.cl2"),
      one_field("heat2d", 2, kMixed, "temporal.bx32.by1.rx2.v2.pf2.t5.ch3.u2"),
      one_field("resident_heat3d", 3, kOthers, "resident.bx64.ry2.rz2.tx20.ty15.tz7.ex2.t5"),
      one_field("resident_heat2d", 2, everywhere(hold), "resident.bx64.ry4.tx13.ty6.tz1.ex3.t7"),
      system("resident_wave", testing::kWave, kMixed, "resident.bx64.ry2.tx12.ty7.tz1.ex3.t6"),
      one_field("heat1d", 1, everywhere(periodic), "temporal.bx32.by1.rx4.pf1.t4"),
  };
}

Problem PointCase::problem() const {
  const int stage = stencil.stages.size() > 1 || parse_code(code).family->name == "system" ? kWholeStep : 0;
  return make_problem(stencil, ElementType::f64, boundaries, extents, 0, 1, stage);
}

int PointCase::fused() const { return sweeps_per_launch(parse_code(code)); }

WinnerRecord PointCase::winner() const {
  const Problem of = problem();
  WinnerRecord record;
  record.trial.problem = {.stencil_key = stencil_key(stencil),
                          .stencil_name = stencil.name,
                          .stage = of.stage,
                          .type = of.type,
                          .boundaries = boundaries,
                          .extents = extents,
                          .pitch = of.pitch,
                          .steps = fused() > 1 || of.stage == kWholeStep ? 100 : 1};
  record.trial.platform.architecture = "sm_90";
  record.trial.code = code;
  record.trial.rate = 1;
  return record;
}

PointList points_of(const PointCase& each, int every) {
  const Problem problem = each.problem();
  Problem run = problem;
  run.steps = each.winner().trial.problem.steps;
  const Candidate candidate(run, parse_code(each.code));
  const KernelShape& shape = candidate.shape();
  PointList points = random_points(problem, 7, every);
  const auto add = [&](int field, int stage, std::vector<PointCell>& cells, int& count) {
    const Problem alone =
        make_problem(problem.stencil, problem.type, problem.boundaries, problem.extents, problem.pitch, 1, stage);
    const Box box = updated_box(alone);
    std::array<std::set<std::int64_t>, kMaxRank> edges;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (shape.axes.has(axis)) edges[at(shape.axes.grid_axis[axis])] = edges_of_tiles(shape, axis);
    }
    for (auto& on_axis : edges) {
      if (on_axis.empty()) on_axis = {0};
    }
    for (const std::int64_t z : edges[2]) {
      for (const std::int64_t y : edges[1]) {
        for (const std::int64_t x : edges[0]) {
          const std::array<std::int64_t, kMaxRank> cell{x, y, z};
          bool is_updated = true;
          for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
            is_updated = is_updated && cell[axis] >= box.low[axis] && cell[axis] < box.high[axis];
          }
          if (is_updated) cells.push_back({count++, field, cell, 1});
        }
      }
    }
  };
  for (int field = 0; field < static_cast<int>(problem.stencil.fields.size()); ++field) {
    if (const auto stage = writing_stage(problem.step, field)) {
      add(field, *stage, points.source_cells, points.sources);
    }
    if (const auto output = recorded_output(problem.step, field)) {
      add(field, *writing_stage(problem.step, *output), points.receiver_cells, points.receivers);
    }
  }
  return points;
}

double difference(const Problem& problem, const Fields& fields, const std::vector<double>& records,
                  const PointResult& expected) {
  if (records.size() != expected.records.size()) return HUGE_VAL;
  double most = 0;
  double largest = 1;
  const auto compare = [&](const std::vector<double>& found, const std::vector<double>& wanted) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double apart = std::abs(found[i] - wanted[i]);
      if (!(apart <= most)) most = apart;  // a NaN stays
      largest = std::max(largest, std::abs(wanted[i]));
    }
  };
  for (const int field : problem.step.state) compare(fields[at(field)], expected.fields[at(field)]);
  compare(records, expected.records);
  return most / largest;
}

}  // namespace stencil_tune
