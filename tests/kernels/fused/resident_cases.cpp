#include "tests/kernels/fused/resident_cases.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/definition/definition.hpp"

#include <string>
#include <tuple>
#include <utility>

namespace stencil_tune {
namespace {

Stencil star_of(int rank, int order) { return make_builtin(Shape::star, rank, order); }
Stencil box_of(int rank, int order) { return make_builtin(Shape::box, rank, order); }

/// The wave equation in a medium: two time levels, and a field that no step changes.
Stencil wave() {
  return parse_definition(R"toml(
    name = "wave"
    rank = 2
    fields = ["u", "u_before", "speed", "u_next"]
    [update]
    u_next = "2*u - u_before + 0.125 * speed * laplacian(u, accuracy=4)"
    [rotate]
    u_next = "u"
    u = "u_before"
  )toml",
                          "wave.toml");
}

}  // namespace

HostCase resident_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) {
  const Tuning tuning = parse_code(code);
  const Limits limits = limits_of_architecture("sm_90");
  HostCase host_case{tuning, {}, {}};
  const auto add = [&](std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t pad) {
    const Extents extents{stencil.rank, {x, y, stencil.rank == 3 ? z : 1}};
    const Problem problem = make_problem(stencil, type, boundaries, extents, x + pad, tuning.steps);
    if (updated_box(problem).cells() > 0 && is_legal({problem, tuning}, limits)) host_case.problems.push_back(problem);
  };
  const auto [x, y, z] = std::tuple{tuning.tile_x, tuning.tile_y, tuning.tile_z};
  add(2 * x, 2 * y, 2 * z, 0);
  add(x, y, z, 1);                      // one tile
  add(2 * x + 1, y + 2, z + 1, 3);      // tiles of one cell, thinner than a halo
  add(3 * x - 1, 2 * y + 1, 3 * z, 0);  // tiles in the middle of the grid
  add(x - 2, 3 * y - 2, z, 2);
  return host_case;
}

std::vector<HostCase> resident_cases(const Boundaries& boundaries) {
  using enum ElementType;
  std::vector<HostCase> cases;
  for (const auto& [stencil, type, code] : {
           std::tuple{star_of(2, 1), f32, "resident.bx64.ry2.tx12.ty8.tz1.ex2.t6"},
           {star_of(2, 3), f64, "resident.bx32.ry4.tx16.ty8.tz1.ex1.t3"},
           {box_of(2, 2), f16, "resident.bx64.ry1.tx11.ty10.tz1.ex2.t4"},
           {star_of(3, 1), f32, "resident.bx96.ry2.rz2.tx9.ty6.tz5.ex2.t5"},
           {box_of(3, 1), f64, "resident.bx64.ry1.rz4.tx8.ty5.tz4.ex1.t2"},
           {wave(), f32, "resident.bx64.ry2.tx13.ty10.tz1.ex1.t4"},
           {wave(), f64, "resident.bx64.ry2.tx16.ty12.tz1.ex3.t7"},
       }) {
    cases.push_back(resident_case(stencil, type, boundaries, code));
  }
  return cases;
}

std::vector<HostCase> resident_exchange_cases() {
  using enum Boundary;
  std::vector<HostCase> cases;
  for (const char* code : {"resident.bx32.ry1.tx8.ty8.tz1.ex1.t2", "resident.bx64.ry2.tx12.ty12.tz1.ex4.t11",
                           "resident.bx128.ry4.tx20.ty16.tz1.ex8.t16", "resident.bx64.ry8.tx16.ty9.tz1.ex3.t3",
                           "resident.bx64.ry2.tx16.ty8.tz1.ex2.t9.mb2"}) {
    for (const Boundaries& boundaries : {on_all_sides(hold), on_all_sides(periodic)}) {
      cases.push_back(resident_case(star_of(2, 1), ElementType::f32, boundaries, code));
      cases.push_back(resident_case(wave(), ElementType::f32, boundaries, code));
    }
  }
  for (const char* code : {"resident.bx64.ry1.rz1.tx8.ty8.tz4.ex1.t4", "resident.bx128.ry4.rz2.tx10.ty6.tz6.ex3.t8"}) {
    cases.push_back(resident_case(star_of(3, 1), ElementType::f32, {periodic, hold, zero}, code));
  }
  cases.push_back(wide_index_case(
      resident_case(star_of(2, 2), ElementType::f64, on_all_sides(hold), "resident.bx64.ry2.tx16.ty12.tz1.ex2.t4")));
  return cases;
}

std::vector<HostCase> lopsided_resident_cases() {
  using enum Boundary;
  std::vector<HostCase> cases;
  const auto defined = [](std::string_view update, std::string_view fields) {
    return parse_definition("name = \"lopsided\"\nrank = 2\nfields = [" + std::string(fields) +
                                ", \"next\"]\n[update]\nnext = \"" + std::string(update) +
                                "\"\n[rotate]\nnext = \"u\"\n",
                            "lopsided.toml");
  };
  const Stencil upwind = defined("0.5*u[0,0] + 0.25*u[-2,0] + 0.125*u[1,-1] + 0.125*u[0,2]", "\"u\"");
  const Stencil behind = defined("0.5*u[0,0] + 0.25*u[-1,0] + 0.25*u[-1,-2]", "\"u\"");
  const Stencil placed = defined("0.5*u[-1,0] + cos(t)*u[0,1] + 0.01*mod(x + 2*y[y+1], 3)", "\"u\"");
  const Stencil medium = defined("u + 0.1*a[1,0]*(u[1,0] - u) - 0.1*a*(u - u[-1,0]) + 0.05*u[0,1]", "\"a\", \"u\"");
  for (const Boundaries& boundaries :
       {on_all_sides(hold), Boundaries{reflect, zero, hold}, Boundaries{clamp, periodic, hold}}) {
    for (const Stencil& stencil : {upwind, behind, medium}) {
      cases.push_back(resident_case(stencil, ElementType::f64, boundaries, "resident.bx64.ry2.tx14.ty9.tz1.ex2.t5"));
    }
    cases.push_back(resident_case(placed, ElementType::f64, boundaries, "resident.bx64.ry2.tx14.ty9.tz1.ex2.t3"));
  }
  return cases;
}

}  // namespace stencil_tune
