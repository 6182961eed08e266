#include "tests/kernels/fused/system_cases.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/definition/definition.hpp"
#include "tests/generator/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace stencil_tune {
namespace {

/// A wave as two fields on a line, each a stage of its own.
Stencil staggered_line() {
  return parse_definition(R"toml(
name = "staggered_line"
rank = 1
fields = ["u", "v", "u_next", "v_next"]
[coefficients]
k = 0.2
[[stage]]
v_next = "v + k*(u[x+1] - u)"
[[stage]]
u_next = "u + k*(v_next - v_next[x-1])"
)toml",
                          "staggered_line");
}

/// The state has three times, of which the oldest is never read, only kept for the caller.
Stencil three_time_levels() {
  return parse_definition(R"toml(
name = "three_time_levels"
rank = 2
fields = ["u", "old", "older", "u_next"]
[update]
u_next = "0.5*u[x+1] + 0.25*u[y-1] + 0.125*old"
[rotate]
u_next = "u"
u = "old"
old = "older"
)toml",
                          "three_time_levels");
}

/// Both stages read ahead alone, which reflect turns into reads behind.
Stencil ahead_alone(int rank) {
  const char last = "xyz"[rank - 1];
  return parse_definition(fmt::format(R"toml(
name = "ahead_alone"
rank = {0}
fields = ["u", "v", "u_next", "v_next"]
[[stage]]
v_next = "0.5*v + 0.3*u[{1}+3] - 0.1*u[x+1]"
[[stage]]
u_next = "0.5*u - 0.4*v_next[{1}+2]"
)toml",
                                      rank, last),
                          "ahead_alone");
}

/// Both stages read parts at several cells: of a constant, of the state, and of what the first stage writes.
Stencil two_stage_fluxes() {
  return parse_definition(R"toml(
name = "two_stage_fluxes"
rank = 3
fields = ["u", "k", "guess", "u_next"]
[[stage]]
guess = "u + 0.1*(sqrt(k[x+1]*k[x+1] + 1) - sqrt(k[y-1]*k[y-1] + 1)) + 0.1*(u[z+1]*u[z+1]*k[z+1] - u[x-1]*u[x-1]*k[x-1])"
[[stage]]
u_next = "0.5*u + 0.2*(guess[y+1]/(guess[y+1]*guess[y+1] + 2) - guess[z-1]/(guess[z-1]*guess[z-1] + 2))"
[rotate]
u_next = "u"
)toml",
                          "two_stage_fluxes");
}

/// Both stages make the same of k, the second alone makes something of m.
Stencil parts_of_two_constants() {
  return parse_definition(R"toml(
name = "parts_of_two_constants"
rank = 2
fields = ["u", "v", "k", "m", "u_next", "v_next"]
[coefficients]
c = 0.3
[[stage]]
v_next = "v + (c*k*k + 0.1)*(0.25*(u[x+1] - u[x-1]) + 0.125*u[y+1])"
[[stage]]
u_next = "0.5*u + (c*k*k + 0.1)*(0.5*v_next[y-1] - 0.25*v_next) + c*(1 - m)*v_next[x+1]"
[rotate]
u_next = "u"
v_next = "v"
)toml",
                          "parts_of_two_constants");
}

}  // namespace

Stencil predictor_corrector(int rank) {
  const std::string last = rank == 3 ? "z" : "y";
  const std::string corner = rank == 3 ? "[y+1,z+1]" : "[x+1,y+1]";
  const std::string other = rank == 3 ? "[y+1,z-1]" : "[x-1,y+1]";
  return parse_definition(fmt::format(R"toml(
name = "predictor_corrector"
rank = {0}
fields = ["u", "c", "guess", "slope", "u_next"]
[coefficients]
k = 0.2
[[stage]]
guess = "u + k*(u[x-1] + u[x+1] + u[{1}-2] + u{2} - 4*u)"
slope = "u[x+1] - u[{1}-1]"
[[stage]]
u_next = "0.5*u + c*guess + k*(guess[x+1] - guess + guess{3} - guess[y-1])"
[rotate]
u_next = "u"
)toml",
                                      rank, last, corner, other),
                          "predictor_corrector");
}

HostCase system_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) {
  const Tuning tuning = parse_code(code);
  const int rank = stencil.rank;
  const auto problem_on = [&](const Extents& extents, std::int64_t pitch) {
    return make_problem(stencil, type, boundaries, extents, pitch, tuning.steps, kWholeStep);
  };
  const Problem large = problem_on({rank, {512, rank > 1 ? 512 : 1, rank > 2 ? 512 : 1}}, 0);
  const FusedLevels shape = Candidate(large, tuning).shape().fused;
  HostCase host_case{tuning, {}, {}};
  const auto add = [&](std::int64_t wider, std::int64_t higher, std::int64_t planes, std::int64_t pad) {
    Extents extents{rank, {shape.width + wider, rank > 1 ? planes : 1, 1}};
    if (rank == 3) extents = {3, {shape.width + wider, shape.height + higher, planes}};
    if (tuning.walk_axis == WalkAxis::y) std::swap(extents.n[1], extents.n[2]);
    const std::int64_t whole = (extents.n[0] + tuning.vector - 1) / tuning.vector * tuning.vector;
    const Problem problem = problem_on(extents, whole + pad);
    const bool updates = updated_box(problem).cells() > 0;
    if (updates && is_legal({problem, tuning}, limits_of_architecture("sm_90"))) host_case.problems.push_back(problem);
  };
  add(0, 0, 7, 0);
  add(shape.width - 8, 0, tuning.chunks + 6, 0);
  add(4, 2, 2 * shape.delay + tuning.chunks + 3, 4 * tuning.vector);
  add(5, 3, 9, 16 * tuning.vector);
  // With chunks that fill inside the grid, and the planes from there on that no boundary has a part in.
  if (tuning.filling == Filling::plain) add(0, shape.height, tuning.chunks * (4 * shape.delay + 3), 0);
  if (rank == 2) add(2 * shape.width, 0, shape.delay + tuning.chunks, 0);  // with tiles away from all edges
  // Tiles whose rims would reach held layers, or end beyond the grid: the first of two, the second of three.
  if (shape.rim_rows > 0) {
    const std::int64_t own = shape.height - shape.above - shape.below;
    for (const std::int64_t higher : {std::int64_t{1}, own + 1, 2 * own + 2})
      add(4, higher, shape.delay + tuning.chunks, 0);
  }
  return host_case;
}

std::vector<HostCase> system_cases(Boundary everywhere) {
  using enum ElementType;
  const auto on = [&](const Stencil& stencil, ElementType type, std::string_view code) {
    return system_case(stencil, type, on_all_sides(everywhere), code);
  };
  std::vector<HostCase> cases{
      on(corpus("acoustic3d_o2"), f32, "system.bx32.by4.rx2.ry3.v2.pf2.t3.ch2.u2"),
      on(corpus("yee3d"), f32, "system.bx32.by3.rx2.ry2.v2.pf2.t2.ch2.u2"),
      on(predictor_corrector(3), f32, "system.bx32.by3.rx2.ry4.v1.pf1.t2.ch2"),
      on(corpus("anisotropic_diffusion3d"), f64, "system.bx32.by2.rx2.ry4.v2.pf1.t2"),
      on(corpus("gray_scott2d"), f32, "system.bx32.by1.rx4.v4.pf3.t4.ch2.u2"),
      on(corpus("fdtd2d"), f32, "system.bx32.by1.rx2.v2.pf2.t3.ch2.u2"),
      on(predictor_corrector(2), f64, "system.bx32.by1.rx3.v1.pf2.t2.ch2"),
      on(three_time_levels(), f32, "system.bx32.by1.rx2.v2.pf2.t4.ch2"),
      on(staggered_line(), f32, "system.bx32.by1.rx4.v2.pf1.t5"),
  };
  // Water of no depth beyond the edges: momenta are divided by it.
  const bool dry = everywhere == Boundary::zero;
  if (!dry) cases.push_back(on(corpus("shallow2d"), f64, "system.bx32.by1.rx2.v2.pf2.t2.ch2"));
  if (everywhere == Boundary::hold || everywhere == Boundary::periodic) {  // lanes read beyond those beside them
    cases.push_back(on(corpus("acoustic3d_o4"), f32, "system.bx32.by4.rx1.ry4.v1.pf2.t2.ch2"));
  }
  return cases;
}

std::vector<HostCase> system_step_cases() {
  using enum Boundary;
  std::vector<HostCase> cases;
  const auto add = [&](const Stencil& stencil, const Boundaries& boundaries, const std::string& code, int steps) {
    cases.push_back(system_case(stencil, ElementType::f32, boundaries, fmt::format("{}.t{}", code, steps)));
  };
  for (int steps = 1; steps <= 6; ++steps) {
    const Boundaries mixed = steps % 2 == 0 ? Boundaries{periodic, hold, clamp} : Boundaries{reflect, zero, hold};
    if (steps > 1) add(corpus("gray_scott2d"), mixed, "system.bx32.by1.rx2.v2.pf2.ch2", steps);
    add(corpus("fdtd2d"), mixed, "system.bx32.by1.rx2.v2.pf2.ch2", steps);
    add(predictor_corrector(2), mixed, "system.bx32.by1.rx3.v1.pf2.ch2", steps);
  }
  for (int steps = 1; steps <= 3; ++steps) {
    const Boundaries mixed = steps % 2 == 0 ? Boundaries{clamp, periodic, hold} : Boundaries{hold, clamp, periodic};
    add(corpus("yee3d"), mixed, "system.bx32.by3.rx1.ry3.v1.pf2.ch2", steps);
    if (steps > 1) add(corpus("acoustic3d_o4"), mixed, "system.bx32.by4.rx2.ry4.v2.pf2.ch2", steps);
  }
  return cases;
}

std::vector<HostCase> system_shared_part_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const auto add = [&](const Stencil& stencil, ElementType type, const Boundaries& boundaries,
                       const std::string& code) { cases.push_back(system_case(stencil, type, boundaries, code)); };
  int steps = 2;
  for (const Boundary boundary : {hold, clamp, reflect, periodic}) {
    add(corpus("shallow2d"), f64, on_all_sides(boundary),
        fmt::format("system.bx32.by1.rx2.v2.pf2.t{}.once.ch2", steps));
    steps = steps == 4 ? 2 : steps + 1;
    add(corpus("shallow2d"), f32, on_all_sides(boundary),
        fmt::format("system.bx32.by1.rx4.v4.pf1.t{}.once.ch3", steps));
    add(two_stage_fluxes(), f32, on_all_sides(boundary), "system.bx32.by3.rx2.ry3.v2.pf2.t2.once.ch2");
  }
  for (steps = 1; steps <= 4; ++steps) {
    const Boundaries mixed = steps % 2 == 0 ? Boundaries{periodic, hold, clamp} : Boundaries{reflect, hold, periodic};
    if (steps > 1) add(corpus("shallow2d"), f32, mixed, fmt::format("system.bx32.by1.rx2.v2.pf2.t{}.once.ch2", steps));
    if (steps > 2) continue;
    add(two_stage_fluxes(), f64, mixed, fmt::format("system.bx32.by3.rx2.ry3.v1.pf1.t{}.once.ch2", steps));
    add(two_stage_fluxes(), f32, mixed, fmt::format("system.bx32.by4.rx2.ry2.v2.pf2.t{}.once", steps));
  }
  add(corpus("shallow2d"), f32, {hold, clamp, hold}, "system.bx32.by1.rx2.v2.sectors.tmarows.pf2.t3.once.ch2");
  add(corpus("shallow2d"), bf16, on_all_sides(periodic), "system.bx32.by1.rx2.v2.pf1.t2.once.ch3");
  return cases;
}

std::vector<HostCase> system_row_end_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const auto add = [&](const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) {
    const Tuning tuning = parse_code(code);
    const bool flat = stencil.rank == 2;
    const auto on = [&](const Extents& extents) {
      const std::int64_t pitch = round_up(extents.n[0], std::int64_t{16});
      return make_problem(stencil, type, boundaries, extents, pitch, tuning.steps, kWholeStep);
    };
    const FusedLevels tile = Candidate(on({stencil.rank, {512, 512, flat ? 1 : 512}}), tuning).shape().fused;
    HostCase host_case{tuning, {}, {}};
    const std::int64_t more = 8 / static_cast<std::int64_t>(size_of(type));
    for (const std::int64_t cells : {tile.width + 1, tile.width + tile.right + more, 2 * tile.width - 1}) {
      host_case.problems.push_back(on({stencil.rank, {cells, flat ? 31 : tile.height + 3, flat ? 1 : 9}}));
    }
    cases.push_back(host_case);
  };
  // Held layers of several cells, of one side alone by a stage, of none under it; in the last thread, and in the one
  // before.
  add(corpus("acoustic3d_o4"), f32, on_all_sides(hold), "system.bx32.by4.rx2.ry4.v2.sectors.tmabeyond.pf1.t2.ch2");
  add(corpus("yee3d"), f32, on_all_sides(hold), "system.bx32.by4.rx2.ry2.v2.sectors.tmabeyond.pf2.t2.ch2.u2");
  add(corpus("anisotropic_diffusion3d"), f32, {hold, reflect, clamp},
      "system.bx32.by4.rx2.ry3.v2.tmabeyond.pf2.t2.ch2");
  add(predictor_corrector(3), f32, {hold, zero, reflect}, "system.bx32.by3.rx2.ry4.v1.tmabeyond.pf1.t2.ch2");
  add(corpus("shallow2d"), f32, on_all_sides(hold), "system.bx32.by1.rx4.v4.tmabeyond.pf2.t3.once.ch2");
  add(corpus("gray_scott2d"), f16, {hold, clamp, hold}, "system.bx32.by1.rx4.v4.tmabeyond.pf2.t3.fillplain.ch2");
  add(corpus("yee3d"), f64, on_all_sides(hold), "system.bx32.by4.rx2.ry2.v1.tmabeyond.pf2.t1.ch2");
  return cases;
}

std::vector<HostCase> system_rim_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const auto add = [&](const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) {
    cases.push_back(system_case(stencil, type, boundaries, code));
  };
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    const Boundaries sides = on_all_sides(boundary);
    add(corpus("acoustic3d_o4"), f32, sides, "system.bx32.by4.rx2.ry4.v2.pf2.t2.rim.ch2.u2");
    add(corpus("yee3d"), f32, sides, "system.bx32.by3.rx2.ry2.v2.pf2.t2.rim.ch2.u2");
    add(predictor_corrector(3), f32, sides, "system.bx32.by3.rx2.ry4.v1.pf1.t2.rim.ch2");
    add(corpus("anisotropic_diffusion3d"), f64, sides, "system.bx32.by2.rx2.ry4.v2.tmarows.pf2.t2.rim");
  }
  for (const Boundaries& mixed : {Boundaries{periodic, hold, clamp}, Boundaries{reflect, zero, hold},
                                  Boundaries{hold, periodic, zero}, Boundaries{hold, clamp, periodic}}) {
    add(corpus("acoustic3d_o2"), f64, mixed, "system.bx32.by4.rx2.ry3.v2.tmarows.pf1.t3.rim.rest.fillplain.ch3.u2");
    add(corpus("yee3d"), f32, mixed, "system.bx32.by4.rx2.ry2.v2.tmarows.pf2.t1.rim.ch2");
    add(two_stage_fluxes(), f32, mixed, "system.bx32.by3.rx2.ry3.v2.pf2.t2.rim.ch2");
  }
  add(corpus("elastic3d"), f32, on_all_sides(hold), "system.bx32.by6.rx2.ry2.v2.pf1.t1.rim.ch2");
  add(two_stage_fluxes(), f32, {hold, reflect, clamp}, "system.bx32.by5.rx2.ry2.v2.pf2.t2.rim.ch2");
  add(corpus("acoustic3d_o4"), f32, on_all_sides(hold), "system.bx32.by4.rx2.ry4.v2.sectors.tmabeyond.pf1.t2.rim.ch2");
  return cases;
}

std::vector<HostCase> system_parameter_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const auto add = [&](const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) {
    cases.push_back(system_case(stencil, type, boundaries, code));
  };
  add(corpus("yee3d"), f32, {hold, clamp, periodic}, "system.bx32.by4.rx4.ry2.v4.pf2.t1.tmarows.ch2.u2");
  add(corpus("gray_scott2d"), f64, {zero, hold, hold}, "system.bx32.by1.rx4.v2.pf2.t3.tmarows.ch2");
  add(corpus("acoustic3d_o4"), f16, on_all_sides(hold), "system.bx32.by4.rx4.ry3.v4.pf2.t2.ch3.raster.mb1");
  add(corpus("shallow2d"), bf16, on_all_sides(periodic), "system.bx32.by1.rx2.v2.pf1.t2.ch3.zfirst");
  // Tiles that end between sectors: with halos of their own, on both kinds of edges.
  add(corpus("yee3d"), f32, on_all_sides(hold), "system.bx32.by4.rx2.ry2.v2.sectors.pf2.t2.ch2.u2");
  add(corpus("acoustic3d_o4"), f32, {clamp, zero, hold}, "system.bx32.by4.rx2.ry4.v2.sectors.tmarows.pf1.t2.ch2");
  add(corpus("gray_scott2d"), f64, {periodic, hold, hold}, "system.bx32.by1.rx2.v2.sectors.pf2.t3.ch2");
  add(corpus("fdtd2d"), bf16, {reflect, hold, hold}, "system.bx32.by1.rx3.v1.sectors.pf2.t5.ch2");
  // TMA on a grid that ends within the rows of some warps, which lanes copy.
  add(corpus("acoustic3d_o2"), f32, on_all_sides(periodic), "system.bx32.by4.rx2.ry2.v2.tmarows.pf2.t2.ch2.u2");
  add(corpus("yee3d"), f64, {periodic, hold, reflect}, "system.bx32.by8.rx2.v2.tmarows.pf1.t1.ch2");
  add(corpus("acoustic3d_o4"), f16, {zero, periodic, clamp}, "system.bx32.by4.rx4.ry3.v4.tmarows.pf2.t2.rest.ch3");
  add(parts_of_two_constants(), f32, on_all_sides(periodic), "system.bx32.by1.rx8.v4.tmarows.pf3.t3.fillplain.ch2");
  // Mirrored cells that are the neighbouring thread's.
  add(corpus("acoustic3d_o4"), f32, on_all_sides(reflect), "system.bx32.by4.rx2.ry3.v2.pf1.t2.ch2");
  // Warps that rest, at edges of tiles that are none of the grid; rows of a warp that are all published, once each.
  add(corpus("acoustic3d_o4"), f32, on_all_sides(hold), "system.bx32.by8.rx2.ry2.v2.pf2.t2.rest.ch2.u2");
  add(corpus("acoustic3d_o4"), f32, {hold, clamp, zero}, "system.bx32.by5.rx2.ry3.v2.pf1.t2.rest.ch3");
  add(corpus("acoustic3d_o2"), f32, {clamp, periodic, hold}, "system.bx32.by12.rx2.v2.pf2.t4.rest.fillplain.ch2");
  add(corpus("yee3d"), f64, {hold, clamp, periodic}, "system.bx32.by8.rx2.v2.pf2.t2.rest.ch2");
  // Levels that fill by the plain loop, in chunks that begin inside the grid.
  add(corpus("yee3d"), f32, on_all_sides(hold), "system.bx32.by4.rx2.ry2.v2.pf2.t2.fillplain.ch3.u2");
  add(corpus("gray_scott2d"), f32, {hold, zero, hold}, "system.bx32.by1.rx2.v2.pf2.t3.fillplain.ch3.u2");
  add(corpus("fdtd2d"), f64, {hold, reflect, hold}, "system.bx32.by1.rx2.v2.pf2.t2.fillplain.ch4");
  add(corpus("gray_scott2d"), f64, on_all_sides(periodic), "system.bx32.by1.rx2.v2.pf2.t3.fillplain.ch3.u5");
  // What levels make of constants alone: in words that lanes copy in another order, by TMA, in 16 bits.
  add(parts_of_two_constants(), f32, {hold, clamp, hold}, "system.bx32.by1.rx2.v2.pf2.t3.ch2.u2");
  add(parts_of_two_constants(), f64, {zero, hold, hold}, "system.bx32.by1.rx4.v2.pf1.t2.ch3");
  add(parts_of_two_constants(), f32, on_all_sides(periodic), "system.bx32.by1.rx8.v4.pf3.t1.ch2");
  add(parts_of_two_constants(), f32, on_all_sides(hold), "system.bx32.by1.rx2.v2.tmarows.pf2.t4.fillplain.ch3");
  add(parts_of_two_constants(), f16, {reflect, hold, hold}, "system.bx32.by1.rx2.v2.pf2.t2.ch2");
  // Warps that rest and levels that fill by the plain loop, together.
  add(corpus("acoustic3d_o4"), f32, on_all_sides(hold),
      "system.bx32.by6.rx2.ry4.v2.tmarows.pf1.t2.rest.fillplain.ch3.u2");
  // Walks along y, whose rows lie along z.
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    add(corpus("acoustic3d_o4"), f32, on_all_sides(boundary), "system.bx32.by4.rx2.ry4.v2.pf2.t2.walky.ch2.u2");
  }
  add(corpus("yee3d"), f32, on_all_sides(hold), "system.bx32.by4.rx2.ry2.v2.tmarows.pf2.t2.fillplain.walky.ch3.u2");
  add(corpus("yee3d"), f64, {hold, clamp, periodic}, "system.bx32.by8.rx2.v2.pf2.t2.rest.walky.ch2");
  add(predictor_corrector(3), f32, {reflect, zero, hold}, "system.bx32.by3.rx2.ry4.v1.pf1.t2.rim.walky.ch2");
  add(corpus("yee3d_layer"), f32, {periodic, hold, zero}, "system.bx32.by4.rx2.ry2.v2.pf2.t2.walky.ch2");
  // Chunks of few planes, the last of which lies nearer to the end than what is mirrored there.
  add(ahead_alone(2), f32, on_all_sides(reflect), "system.bx32.by1.rx2.v2.pf2.t1.ch12");
  add(ahead_alone(2), f64, on_all_sides(reflect), "system.bx32.by1.rx2.v2.pf2.t3.ch16");
  add(ahead_alone(3), f32, on_all_sides(reflect), "system.bx32.by3.rx2.ry3.v2.pf2.t2.ch12");
  cases.push_back(wide_index_case(
      system_case(corpus("yee3d"), f32, {periodic, hold, zero}, "system.bx32.by3.rx2.ry2.v2.pf2.t1.ch2.stcs")));
  cases.push_back(wide_index_case(
      system_case(predictor_corrector(2), f32, {hold, periodic, hold}, "system.bx32.by1.rx3.v1.pf2.t2")));
  return cases;
}

}  // namespace stencil_tune
