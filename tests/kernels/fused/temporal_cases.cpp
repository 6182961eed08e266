#include "tests/kernels/fused/temporal_cases.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/definition/definition.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

Stencil upwind_stencil() {
  StencilBuilder builder("upwind", 3);
  const int in = builder.field("u"), out = builder.field("u_next");
  NodeId sum = builder.number(0);
  int number = 0;
  for (const Offset& offset :
       {Offset{0, 0, 0}, Offset{-2, 0, 0}, Offset{0, -1, 0}, Offset{0, 0, -2}, Offset{1, 0, 0}, Offset{0, -1, -1}}) {
    const int weight = builder.coefficient("c" + std::to_string(number++), 0.2);
    sum =
        builder.apply(Operation::add, sum,
                      builder.apply(Operation::multiply, builder.coefficient_value(weight), builder.read(in, offset)));
  }
  builder.update(out, sum);
  builder.rotate(out, in);
  return std::move(builder).build();
}

/// Constant fields before and after the one that is advanced, one of them nonlinear: next = a*u[..] - b^2*u.
Stencil damped_between_fields() {
  StencilBuilder builder("damped", 2);
  const int gain = builder.field("gain"), u = builder.field("u"), damping = builder.field("damping");
  const int next = builder.field("next");
  NodeId sum = builder.read(u, {0, 0, 0});
  for (const Offset& offset : {Offset{-1, 0, 0}, Offset{2, 0, 0}, Offset{0, 1, 0}}) {
    sum = builder.apply(Operation::add, sum, builder.read(u, offset));
  }
  const NodeId scaled = builder.apply(Operation::multiply, builder.number(0.25), sum);
  const NodeId gained = builder.apply(Operation::multiply, builder.read(gain, {0, 0, 0}), scaled);
  const NodeId damp = builder.read(damping, {0, 0, 0});
  const NodeId damped =
      builder.apply(Operation::multiply, builder.apply(Operation::multiply, damp, damp), builder.read(u, {0, 0, 0}));
  builder.update(next, builder.apply(Operation::subtract, gained, damped));
  builder.rotate(next, u);
  return std::move(builder).build();
}

Stencil star(int rank, int order) { return make_builtin(Shape::star, rank, order); }
Stencil box(int rank, int order) { return make_builtin(Shape::box, rank, order); }

/// Puts a candidate on grids that are awkward for it.
struct Adder {
  std::vector<HostCase>& cases;

  void operator()(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) const {
    cases.push_back(temporal_case(stencil, type, boundaries, code));
  }
};

}  // namespace

HostCase temporal_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) {
  const Tuning tuning = parse_code(code);
  const Limits limits = limits_of_architecture("sm_90");
  const auto problem_on = [&](const Extents& extents, std::int64_t pitch) {
    return make_problem(stencil, type, boundaries, extents, pitch, tuning.steps);
  };
  const Problem large = problem_on({stencil.rank, {512, stencil.rank > 1 ? 512 : 1, stencil.rank > 2 ? 512 : 1}}, 0);
  const FusedLevels shape = Candidate(large, tuning).shape().fused;
  HostCase host_case{tuning, {}, {}};
  const auto add = [&](std::int64_t wider, std::int64_t higher, std::int64_t planes, std::int64_t pad) {
    Extents extents{stencil.rank, {shape.width + wider, stencil.rank > 1 ? planes : 1, 1}};
    if (stencil.rank == 3) extents = {3, {shape.width + wider, shape.height + higher, planes}};
    const Problem problem = problem_on(extents, extents.n[0] + pad);
    if (is_legal({problem, tuning}, limits)) host_case.problems.push_back(problem);
  };
  const std::int64_t lag = tuning.steps * shape.lag;
  add(0, 0, 7, 0);
  add(shape.width - 8, 0, tuning.chunks + 6, 0);
  add(5, 2, 2 * lag + tuning.chunks, 16 * tuning.vector - (shape.width + 5) % (16 * tuning.vector));
  // Definitions that change what lies beyond an edge mirror once: the axis has more cells than they read beyond it.
  const bool mirrors_once = std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [](const Node& node) {
    return node.op == Operation::before || node.op == Operation::after;
  });
  add(1, 0, std::max(tuning.chunks, mirrors_once ? 3 : 2), tuning.vector - 1);
  if (stencil.rank == 2) add(2 * shape.width, 0, lag + tuning.chunks, 0);  // with tiles away from all edges
  // Runs that begin in one tile and end in the next, or in the one after.
  if (tuning.shares > 0) add(shape.width, stencil.rank == 3 ? shape.height : 0, lag + 9, 0);
  // Tiles whose rims would reach held layers, or end beyond the grid: the first of two, the second of three.
  if (shape.rim_rows > 0) {
    const std::int64_t own = shape.height - shape.above - shape.below;
    for (const std::int64_t higher : {std::int64_t{1}, own, own + 1, 2 * own + 2})
      add(4, higher, lag + tuning.chunks, 0);
  }
  return host_case;
}

std::vector<HostCase> temporal_cases(Boundary everywhere) {
  using enum ElementType;
  const auto star = [&](int rank, int order, ElementType type, std::string_view code) {
    return temporal_case(make_builtin(Shape::star, rank, order), type, on_all_sides(everywhere), code);
  };
  const auto box = [&](int rank, int order, ElementType type, std::string_view code) {
    return temporal_case(make_builtin(Shape::box, rank, order), type, on_all_sides(everywhere), code);
  };
  return {
      star(3, 1, f32, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.ch2.u2"),
      star(3, 1, f64, "temporal.bx32.by3.rx2.ry3.v2.pf2.t3.ch2.u3"),
      wide_index_case(star(3, 1, f64, "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.ch3")),
      star(3, 2, f32, "temporal.bx32.by4.rx4.ry4.v4.pf2.t2.u4"),
      box(3, 1, f32, "temporal.bx32.by4.rx2.ry3.v1.pf1.t3.ch2"),
      box(3, 1, bf16, "temporal.bx32.by2.rx2.ry4.v2.pf4.t2"),
      star(2, 1, f32, "temporal.bx32.by1.rx4.v4.pf3.t8.ch2.u2"),
      star(2, 3, f64, "temporal.bx32.by1.rx4.v2.pf2.t3.ch3"),
      wide_index_case(box(2, 2, f16, "temporal.bx32.by1.rx4.v4.pf2.t2")),
  };
}

std::vector<HostCase> temporal_line_cases() {
  using enum Boundary;
  std::vector<HostCase> cases;
  const auto add = [&](int order, ElementType type, Boundary boundary, const std::string& code) {
    cases.push_back(temporal_case(make_builtin(Shape::star, 1, order), type, on_all_sides(boundary), code));
  };
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    for (int steps = 2; steps <= 8; ++steps) {
      add(1, ElementType::f32, boundary, "temporal.bx32.by1.rx2.v2.pf1.t" + std::to_string(steps));
    }
    add(3, ElementType::f64, boundary, "temporal.bx32.by1.rx4.v2.pf2.u2.t3");
    // Lanes of two and of four words of 16 bytes, copied in vectors of all widths.
    for (const int vector : {1, 2, 4}) {
      add(1, ElementType::f32, boundary, fmt::format("temporal.bx32.by1.rx8.v{}.pf1.t2", vector));
    }
    add(1, ElementType::f32, boundary, "temporal.bx32.by1.rx6.v1.pf1.t2");
    add(1, ElementType::f64, boundary, "temporal.bx32.by1.rx3.v1.pf1.t2");
    for (const int vector : {1, 2}) {
      add(2, ElementType::f64, boundary, fmt::format("temporal.bx32.by1.rx8.v{}.pf1.t2", vector));
    }
    cases.push_back(wide_index_case(temporal_case(make_builtin(Shape::star, 1, 2), ElementType::f16,
                                                  on_all_sides(boundary), "temporal.bx32.by1.rx8.v8.pf1.t4")));
  }
  return cases;
}

std::vector<HostCase> temporal_step_cases() {
  const Boundaries boundaries{Boundary::periodic, Boundary::hold, Boundary::clamp};
  std::vector<HostCase> cases;
  const auto add = [&](int rank, int steps, const std::string& code) {
    cases.push_back(temporal_case(make_builtin(Shape::star, rank, 1), ElementType::f32, boundaries,
                                  code + ".t" + std::to_string(steps)));
  };
  for (int steps = 2; steps <= 8; ++steps) add(2, steps, "temporal.bx32.by1.rx2.v2.pf3.ch2");
  add(3, 2, "temporal.bx32.by5.rx1.ry1.pf2.ch2");  // three tiles in y where others have two
  for (const int steps : {5, 7}) add(3, steps, "temporal.bx32.by3.rx1.ry7.pf2.ch2");
  return cases;
}

std::vector<HostCase> temporal_sums_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const auto add = [&](Shape shape, int rank, int order, ElementType type, const Boundaries& boundaries,
                       std::string_view code) {
    cases.push_back(temporal_case(make_builtin(shape, rank, order), type, boundaries, code));
  };
  for (const Boundaries& boundaries :
       {Boundaries{hold, hold, hold}, Boundaries{zero, zero, zero}, Boundaries{periodic, periodic, periodic},
        Boundaries{clamp, reflect, hold}, Boundaries{hold, periodic, zero}, Boundaries{reflect, hold, periodic}}) {
    add(Shape::box, 3, 1, f32, boundaries, "temporal.bx32.by2.rx2.ry4.sums.v2.pf2.t2.ch2.u2");
    add(Shape::star, 3, 1, f16, boundaries, "temporal.bx32.by3.rx2.ry3.sums.v2.pf3.t3");
    add(Shape::box, 2, 2, f32, {boundaries[0], boundaries[2], hold}, "temporal.bx32.by1.rx4.sums.v4.pf3.t3.ch2.u5");
  }
  add(Shape::box, 3, 2, f32, {clamp, hold, hold}, "temporal.bx32.by4.rx2.ry4.sums.v2.pf1.t2");
  add(Shape::star, 2, 3, f64, {clamp, hold, hold}, "temporal.bx32.by1.rx4.sums.v2.pf2.t3.ch3");
  cases.push_back(
      temporal_case(upwind_stencil(), f32, {periodic, hold, hold}, "temporal.bx32.by4.rx2.ry2.sums.v2.pf2.t2.ch2"));
  // Taps ahead of the plane are added a step before the others, cells beside the column among them.
  add(Shape::star, 3, 2, f64, {hold, hold, hold}, "temporal.bx32.by3.rx2.ry4.sums.v2.pf2.t2.ch2.u2");
  add(Shape::star, 3, 2, f32, {zero, clamp, periodic}, "temporal.bx32.by3.rx2.ry2.sums.pf1.t4.tg2.cl4.u3");
  const Stencil ahead = parse_stencil(
      "u_next = u + k * (u[x,y-1,z] + u[x,y+2,z] - u[x-1,y,z+1] + 2 * u[x,y,z+2] - u[x+1,y-1,z-1]); k = 0.1", 3);
  for (const Boundaries& boundaries : {Boundaries{hold, hold, hold}, Boundaries{clamp, reflect, zero}}) {
    cases.push_back(temporal_case(ahead, f32, boundaries, "temporal.bx32.by3.rx2.ry4.sums.v2.pf2.t2.ch2"));
  }
  return cases;
}

std::vector<HostCase> temporal_held_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const Adder add{cases};
  const Boundaries all = on_all_sides(hold);
  for (const std::string loop : {"heldapart", "heldchosen", "heldskipped"}) {
    add(star(3, 2), f64, all, "temporal.bx32.by3.rx2.ry4.v2.pf2.t2.ch2." + loop + ".cl2.u2");
    add(star(3, 1), f32, {hold, periodic, zero}, "temporal.bx32.by4.rx2.ry4.tmarows.pf2.t3.split.rim." + loop);
    add(star(2, 1), f64, {hold, hold, hold}, "temporal.bx32.by1.rx4.v2.pf2.t8.ch2.tg2." + loop + ".u2");
    add(upwind_stencil(), f32, all, "temporal.bx32.by4.rx2.ry2.v2.pf2.t2." + loop);
  }
  for (const std::string loop : {"heldapart", "heldaside", "heldchosen", "heldskipped"}) {
    add(box(3, 1), f64, all, "temporal.bx32.by3.rx3.ry3.sums.tmarows.pf2.t2.ch2.split.rim." + loop + ".u2");
    add(box(3, 1), f16, {clamp, hold, periodic}, "temporal.bx32.by1.rx2.ry8.sums.v2.pf2.t2." + loop);
    add(box(3, 1), f32, all, "temporal.bx32.by1.rx2.ry8.sums.v2.pf2.t2.tg2." + loop);
    add(star(3, 2), f64, {hold, zero, zero}, "temporal.bx32.by3.rx2.ry4.sums.v2.pf1.t2.ch2." + loop + ".cl2");
    add(star(3, 1), f32, all, "temporal.bx32.by4.rx2.ry4.sums.pf2.t4.ch2.tg2." + loop);
    add(box(2, 2), f32, {hold, hold, hold}, "temporal.bx32.by1.rx4.sums.v4.pf3.t3.ch2." + loop);
    add(upwind_stencil(), f32, all, "temporal.bx32.by4.rx2.ry2.sums.v2.pf2.t3.ch2." + loop);
  }
  return cases;
}

std::vector<HostCase> temporal_share_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const Adder add{cases};
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    const Boundaries sides = on_all_sides(boundary);
    add(star(2, 1), f64, sides, "temporal.bx32.by1.rx4.v2.pf2.t4.sh3.u2");
    add(star(3, 1), f32, sides, "temporal.bx32.by3.rx2.ry4.tmarows.pf2.t3.sh4.split.rim.heldskipped.cl2.u2");
    add(box(3, 1), f64, sides, "temporal.bx32.by3.rx2.ry3.pf2.t2.sh5");
    add(star(3, 2), f32, sides, "temporal.bx32.by3.rx2.ry4.tmarows.pf2.t2.sh7.pinned.rim");
  }
  for (const Boundaries& sides :
       {Boundaries{hold, hold, hold}, Boundaries{clamp, reflect, zero}, Boundaries{hold, zero, periodic}}) {
    add(box(3, 1), f32, sides, "temporal.bx32.by3.rx3.ry3.sums.tmarows.pf2.t2.sh6.split.heldaside.cl2");
    add(star(3, 1), f64, sides, "temporal.bx32.by4.rx2.ry4.sums.pf2.t4.sh5.tg2.heldchosen");
    add(box(2, 2), f32, {sides[0], sides[2], hold}, "temporal.bx32.by1.rx4.sums.v4.pf3.t3.sh4.u5");
    add(upwind_stencil(), f32, sides, "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.sh1");
    add(box(3, 1), f64, sides, "temporal.bx32.by3.rx2.ry3.v2.sums.pf2.t2.sh5.split.rim.heldaside");
  }
  add(load_definition("corpus/hotspot3d.toml"), f32, {hold, zero, clamp}, "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.sh3");
  return cases;
}

std::vector<HostCase> temporal_group_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const Adder add{cases};
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    const Boundaries sides = on_all_sides(boundary);
    add(star(2, 1), f64, sides, "temporal.bx32.by1.rx4.v2.pf2.t8.tg2.ch2.u2");
    add(star(3, 1), f32, sides, "temporal.bx32.by2.rx2.ry4.v2.pf1.t2.tg2.ch2");
  }
  add(box(2, 1), f32, {hold, hold, hold}, "temporal.bx32.by1.rx4.sums.v4.pf2.t6.tg3.ch2.u3");
  add(star(2, 3), f64, {periodic, hold, hold}, "temporal.bx32.by1.rx8.v2.pf1.t4.tg4");
  add(box(2, 2), bf16, {clamp, zero, hold}, "temporal.bx32.by1.rx4.v4.pf2.t2.tg2");
  add(star(2, 1), f64, {hold, hold, hold}, "temporal.bx32.by1.rx12.v2.pf2.t6.tg2.ch2.u2");
  add(box(2, 1), f32, {reflect, periodic, hold}, "temporal.bx32.by1.rx3.v1.pf2.t4.tg4");
  add(box(3, 1), f32, {zero, hold, periodic}, "temporal.bx32.by3.rx2.ry3.sums.v2.pf2.t3.tg3.u2");
  add(star(3, 1), f64, {hold, periodic, hold}, "temporal.bx32.by2.rx2.ry4.v2.pf2.t4.tg2.ch2.cl2.u2");
  add(upwind_stencil(), f32, {periodic, hold, clamp}, "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.tg2");
  add(load_definition("corpus/hotspot3d.toml"), f32, {hold, zero, clamp},
      "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.tg2.ch2");
  add(load_definition("corpus/poisson2d_9pt.toml"), f64, on_all_sides(periodic),
      "temporal.bx32.by1.rx2.v2.pf1.t6.tg3.ch2");
  return cases;
}

std::vector<HostCase> temporal_rim_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const Adder add{cases};
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    const Boundaries sides = on_all_sides(boundary);
    add(star(3, 2), f64, sides, "temporal.bx32.by3.rx2.ry4.v2.pf2.t2.ch2.rim.u2");
    add(box(3, 1), f32, sides, "temporal.bx32.by3.rx4.ry3.v4.pf1.t3.rim");
    add(star(3, 1), f32, sides, "temporal.bx32.by3.rx2.ry2.tmarows.pf2.t2.rim.cl2.ch2");
  }
  for (const Boundaries& sides : {Boundaries{hold, hold, hold}, Boundaries{clamp, reflect, zero},
                                  Boundaries{hold, periodic, hold}, Boundaries{periodic, zero, periodic}}) {
    add(box(3, 1), f64, sides, "temporal.bx32.by3.rx2.ry4.sums.pf2.t2.split.rim.u2");
    add(star(3, 2), f32, sides, "temporal.bx32.by4.rx2.ry4.sums.tmarows.pf1.t2.ch2.rim");
    add(star(3, 1), f32, sides, "temporal.bx32.by3.rx4.ry3.sums.v4.pf3.t3.split.rim.cl2");
    add(star(3, 1), f64, sides, "temporal.bx32.by3.rx2.ry3.v2.pf2.t4.tg2.ch2.rim.u2");
    add(upwind_stencil(), f32, sides, "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.rim");
  }
  add(box(3, 2), f64, {clamp, hold, reflect}, "temporal.bx32.by5.rx2.ry3.v1.pf3.t2.ch2.rim.u2");
  add(load_definition("corpus/hotspot3d.toml"), f32, {hold, zero, clamp},
      "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.tg2.ch2.rim");
  return cases;
}

std::vector<HostCase> temporal_cluster_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const auto add = [&](Shape shape, int order, ElementType type, const Boundaries& boundaries, std::string_view code) {
    cases.push_back(temporal_case(make_builtin(shape, 3, order), type, boundaries, code));
  };
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    add(Shape::star, 1, f32, on_all_sides(boundary), "temporal.bx32.by2.rx2.ry2.v2.pf2.t3.ch2.cl2.u2");
  }
  add(Shape::box, 1, f64, on_all_sides(hold), "temporal.bx32.by3.rx2.ry2.v2.pf1.t2.cl2");
  add(Shape::star, 1, f64, on_all_sides(hold), "temporal.bx32.by2.rx2.ry2.v2.pf3.t3.ch2.cl2.u3");
  add(Shape::star, 1, f32, on_all_sides(hold), "temporal.bx32.by2.rx1.ry3.pf3.t3.cl4.zfirst.ch3");
  add(Shape::star, 2, f64, {periodic, hold, hold}, "temporal.bx32.by2.rx2.ry4.v2.pf2.t2.cl3.raster.ch2.u2");
  add(Shape::star, 2, bf16, {zero, clamp, periodic}, "temporal.bx32.by2.rx4.ry4.v4.pf2.t2.cl2");
  add(Shape::box, 1, f32, on_all_sides(hold), "temporal.bx32.by2.rx2.ry4.sums.v2.pf2.t3.ch2.cl2.u2");
  add(Shape::box, 2, f32, {clamp, periodic, zero}, "temporal.bx32.by2.rx2.ry3.sums.v2.pf2.t2.cl4");
  add(Shape::star, 1, f64, {hold, reflect, periodic}, "temporal.bx32.by2.rx1.ry2.sums.pf1.t3.cl2.u2");
  cases.push_back(temporal_case(load_definition("corpus/poisson3d_19pt.toml"), f32, {clamp, hold, periodic},
                                "temporal.bx32.by2.rx2.ry3.v2.pf1.t2.cl2"));
  return cases;
}

std::vector<HostCase> wide_temporal_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const Adder add{cases};
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    const Boundaries sides = on_all_sides(boundary);
    add(star(2, 1), f64, sides, "temporal.bx64.by1.rx2.pf2.t4.tg2.ch2.u2");
    add(box(2, 1), f32, sides, "temporal.bx64.by1.rx2.v2.pf2.t2.ch2.u2");
    if (boundary == hold || boundary == periodic) {
      add(star(3, 1), f32, sides, "temporal.bx64.by2.rx2.ry3.pf2.t2.ch2.u2");
    }
  }
  // Sums: of stars in two parts, of boxes a step after the plane has come.
  for (const Boundaries& boundaries : {Boundaries{hold, hold, hold}, Boundaries{clamp, hold, periodic}}) {
    const Boundaries plane{boundaries[0], boundaries[2], hold};
    add(star(2, 1), f32, plane, "temporal.bx64.by1.rx4.sums.v4.pf3.t4.ch2.u3");
    add(star(2, 3), f64, plane, "temporal.bx64.by1.rx4.sums.v2.pf2.t4.tg2.ch3");
    add(box(2, 2), f64, plane, "temporal.bx64.by1.rx2.sums.v2.pf2.t4.tg4.u2");
    add(star(3, 2), f32, boundaries, "temporal.bx64.by3.rx2.ry5.sums.v2.pf2.t2.ch2");
    add(box(3, 1), f32, boundaries, "temporal.bx64.by2.rx2.ry3.sums.pf1.t2.ch2");
  }
  // Warps beside each other at the seams of a cluster, rows of a warp all of which are at its edges, other warps'
  // corners.
  add(star(3, 1), f64, {hold, zero, periodic}, "temporal.bx64.by2.rx2.ry4.v2.pf2.t3.cl2.ch2.u2");
  add(star(3, 2), bf16, {zero, clamp, hold}, "temporal.bx64.by2.rx4.ry4.v4.pf2.t2.tg2.cl3");
  add(box(3, 2), f32, {reflect, hold, clamp}, "temporal.bx64.by2.rx3.ry5.pf1.t2.cl2");
  // Each way of bringing planes and of keeping them.
  add(star(2, 2), f64, on_all_sides(hold), "temporal.bx64.by1.rx4.v2.tmarows.pf2.t4.tg2.ch2");
  add(star(3, 1), f32, {hold, zero, hold}, "temporal.bx64.by2.rx2.ry4.v2.tmarows.pf2.t2.ch2");
  // Different reaches to both sides, constant fields, a stencil that is not linear.
  add(upwind_stencil(), f32, {periodic, hold, clamp}, "temporal.bx64.by2.rx3.ry4.pf2.t2.ch2");
  add(damped_between_fields(), f64, {clamp, periodic, hold}, "temporal.bx64.by1.rx4.v2.pf2.t4.tg2.ch2");
  add(load_definition("corpus/gradient2d.toml"), f32, {hold, zero, hold}, "temporal.bx64.by1.rx4.v4.pf3.t4.ch2.u2");
  cases.push_back(wide_index_case(temporal_case(star(2, 2), f16, on_all_sides(clamp), "temporal.bx64.by1.rx4.pf2.t2")));
  return cases;
}

std::vector<HostCase> split_barrier_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const Adder add{cases};
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    const Boundaries sides = on_all_sides(boundary);
    add(star(3, 1), f32, sides, "temporal.bx32.by4.rx2.ry2.v2.pf2.t3.split.ch2.u2");
    add(star(2, 1), f64, sides, "temporal.bx32.by1.rx2.v2.pf2.t4.tg2.split.ch2.u3");
  }
  add(star(3, 2), f64, {hold, zero, hold}, "temporal.bx32.by3.rx2.ry4.v2.tmarows.pf2.t2.split.ch2.cl2.u2");
  add(box(3, 1), f32, {hold, clamp, periodic}, "temporal.bx32.by3.rx2.ry2.sums.v2.pf2.t2.split.cl2.u3");
  add(box(2, 2), f64, {clamp, hold, hold}, "temporal.bx32.by1.rx4.sums.v2.pf2.t3.tg3.split.ch2");
  add(star(3, 1), f64, {hold, periodic, zero}, "temporal.bx32.by2.rx2.ry4.v2.pf2.t4.tg2.split.ch2.cl2");
  add(box(2, 1), f32, {zero, hold, hold}, "temporal.bx64.by1.rx2.v2.pf2.t4.tg2.split.ch2.u2");
  add(load_definition("corpus/hotspot3d.toml"), f32, {hold, zero, clamp},
      "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.tg2.split.ch2");
  add(star(3, 1), f32, on_all_sides(hold), "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.pinned.rim.u3");
  add(box(3, 1), f64, {hold, periodic, zero}, "temporal.bx32.by3.rx3.ry3.sums.pf2.t2.pinned.heldchosen.cl2");
  add(star(2, 1), f64, {hold, hold, hold}, "temporal.bx32.by1.rx2.v2.pf2.t4.ch2.tg2.pinned.u3");
  return cases;
}

std::vector<HostCase> temporal_tma_cases() {
  using enum Boundary;
  using enum ElementType;
  std::vector<HostCase> cases;
  const Adder add{cases};
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    add(star(3, 1), f32, on_all_sides(boundary), "temporal.bx32.by2.rx2.ry4.v2.tmarows.pf3.t3.ch2.u2");
    add(star(2, 2), f64, on_all_sides(boundary), "temporal.bx32.by1.rx4.v2.tmarows.pf2.t4.ch2");
  }
  // Planes on the other side of a grid that is periodic along the walk.
  add(star(3, 1), f64, {hold, zero, periodic}, "temporal.bx32.by3.rx2.ry2.tmarows.pf2.t3.ch2.cl2.u3");
  add(box(2, 1), f32, {hold, periodic, hold}, "temporal.bx32.by1.rx6.sums.tmarows.pf4.t3.tg3.ch2.u3");
  add(box(3, 1), bf16, {hold, clamp, hold}, "temporal.bx32.by2.rx4.ry4.sums.v2.tmarows.pf1.t2");
  add(box(2, 3), f64, {hold, hold, hold}, "temporal.bx32.by1.rx3.sums.tmarows.pf1.t2.ch3");
  // Mirrored cells that are the neighbouring thread's.
  add(star(3, 2), f32, on_all_sides(reflect), "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t2.ch2");
  add(star(2, 3), f64, {reflect, hold, hold}, "temporal.bx32.by1.rx3.sums.pf2.t4.tg2.ch2");
  // A periodic grid that ends within the rows of some warps: side by side, of a cluster's blocks, of groups.
  add(star(3, 1), f64, {periodic, hold, zero}, "temporal.bx64.by2.rx2.ry4.v2.tmarows.pf2.t2.ch2");
  add(star(3, 1), f32, {clamp, periodic, hold}, "temporal.bx32.by3.rx2.ry4.v2.tmarows.pf2.t2.ch2.cl2");
  add(damped_between_fields(), f64, {periodic, hold, hold}, "temporal.bx32.by1.rx4.v2.tmarows.pf2.t4.tg2.ch2");
  // Fields that no step changes: of one group of warps, and of groups some of which read nothing else.
  add(load_definition("corpus/hotspot3d.toml"), f32, {hold, zero, clamp},
      "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t4.tg2.ch2");
  add(damped_between_fields(), f64, {hold, periodic, hold}, "temporal.bx32.by1.rx4.v2.tmarows.pf2.t4.ch2");
  cases.push_back(
      wide_index_case(temporal_case(star(3, 1), f16, {hold, hold, hold}, "temporal.bx32.by4.rx2.ry2.tmarows.pf2.t2")));
  return cases;
}

std::vector<HostCase> lopsided_temporal_cases() {
  const Stencil stencil = upwind_stencil();
  std::vector<HostCase> cases;
  // What hold keeps on the side that is hardly read lies in the tile before the last one too.
  cases.push_back(temporal_case(parse_stencil("u_next = u + k * (u[x-4] - u[x+1])", 1), ElementType::f64,
                                on_all_sides(Boundary::hold), "temporal.bx32.by1.rx8.pf1.t4"));
  cases.push_back(temporal_case(parse_stencil("u_next = u + k * (u[x,y-4,z] + u[x,y+1,z] - u[x-1,y,z+1])", 3),
                                ElementType::f32, on_all_sides(Boundary::hold), "temporal.bx32.by8.rx2.ry4.pf2.t2"));
  for (const Boundary boundary : {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic}) {
    cases.push_back(
        temporal_case(stencil, ElementType::f32, on_all_sides(boundary), "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.ch2"));
  }
  return cases;
}

std::vector<HostCase> defined_temporal_cases() {
  const Stencil gradient = load_definition("corpus/gradient2d.toml");
  const Stencil diffusion = load_definition("corpus/diffusion3d_19pt.toml");
  const Boundaries mixed{Boundary::reflect, Boundary::zero, Boundary::hold};
  return {
      temporal_case(gradient, ElementType::f32, {}, "temporal.bx32.by1.rx4.v4.pf3.t4.ch2.u2"),
      temporal_case(gradient, ElementType::f64, mixed, "temporal.bx32.by1.rx2.v2.pf2.t3"),
      temporal_case(diffusion, ElementType::f32, mixed, "temporal.bx32.by2.rx2.ry4.v2.pf2.t2"),
  };
}

std::vector<HostCase> temporal_constant_cases() {
  const auto in_corpus = [](const char* name) { return load_definition(fmt::format("corpus/{}.toml", name)); };
  std::vector<HostCase> cases;
  for (const Boundary boundary :
       {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    const Boundaries sides = on_all_sides(boundary);
    cases.push_back(
        temporal_case(in_corpus("hotspot3d"), ElementType::f32, sides, "temporal.bx32.by2.rx2.ry4.v2.pf2.t3.ch2"));
    cases.push_back(
        temporal_case(in_corpus("poisson2d_9pt"), ElementType::f64, sides, "temporal.bx32.by1.rx2.v2.pf1.t5.ch2.u2"));
  }
  const Boundaries mixed{Boundary::periodic, Boundary::clamp, Boundary::hold};
  cases.push_back(wide_index_case(
      temporal_case(in_corpus("poisson3d_19pt"), ElementType::bf16, mixed, "temporal.bx32.by3.rx2.ry3.v2.pf3.t2")));
  cases.push_back(
      temporal_case(damped_between_fields(), ElementType::f32, mixed, "temporal.bx32.by1.rx4.v4.pf2.t4.ch2"));
  cases.push_back(temporal_case(parse_stencil("u_next = u + k * laplacian(u)", 1), ElementType::f32, mixed,
                                "temporal.bx32.by1.rx2.v2.pf1.t4"));
  for (const Boundary boundary : {Boundary::zero, Boundary::hold}) {
    cases.push_back(temporal_case(in_corpus("poisson2d_9pt"), ElementType::f32, on_all_sides(boundary),
                                  "temporal.bx32.by1.rx4.sums.v4.pf2.t3.ch2.u3"));
  }
  cases.push_back(temporal_case(in_corpus("poisson3d_19pt"), ElementType::f32,
                                {Boundary::clamp, Boundary::hold, Boundary::periodic},
                                "temporal.bx32.by2.rx2.ry3.sums.v2.pf1.t2"));
  return cases;
}

}  // namespace stencil_tune
