#include "tests/kernels/placed_cases.hpp"

#include "generator/definition/definition.hpp"
#include "tests/kernels/fused/system_cases.hpp"
#include "tests/kernels/fused/temporal_cases.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

namespace stencil_tune {
namespace {

/// Boundaries share numbers of steps out: each has every other one, each number comes with two of them or three.
bool takes_turn(Boundary boundary, int steps) { return (static_cast<int>(boundary) + steps) % 2 == 0; }

/// Along the first axes of x, y and z.
std::string all_neighbours(int rank) {
  constexpr std::array kNeighbours{"u[x-1] + u[x+1]", " + u[y-1] + u[y+1]", " + u[z-1] + u[z+1]"};
  std::string text;
  for (int axis = 0; axis < rank; ++axis) text += kNeighbours[static_cast<std::size_t>(axis)];
  return text;
}

/// A field whose source is another in each cell and at each step, and a constant beside it.
Stencil travelling_source(int rank) {
  const std::string update = fmt::format(
      "0.5*u + 0.07*k*({}) + {} + 0.02*t + 0.1*random(3)", all_neighbours(rank),
      std::array{"0.01*x", "0.01*x*y[y-1]", "0.01*x[x-1]*y[y+1] - 0.03*z[z+2]"}[static_cast<std::size_t>(rank - 1)]);
  return parse_definition(fmt::format(R"toml(
name = "travelling_source"
rank = {}
fields = ["k", "u", "u_next"]
[update]
u_next = "{}"
)toml",
                                      rank, update),
                          "travelling_source");
}

/// Two fields, of which the second follows from the first's new state: both ask for their place.
Stencil placed_stages(int rank) {
  const std::string last = rank == 3 ? "z" : "y";
  return parse_definition(fmt::format(R"toml(
name = "placed_stages"
rank = {0}
fields = ["u", "v", "u_next", "v_next"]
[[stage]]
v_next = "v + 0.1*(u[x+1] - u[{1}-1]) + 0.01*x[x+1] - 0.02*t"
[[stage]]
u_next = "0.5*u + 0.1*(v_next - v_next[x-1] + v_next[{1}+1]) + 0.03*{1} + 0.01*t*y[y-1]"
)toml",
                                      rank, last),
                          "placed_stages");
}

Stencil placed_wave() {
  return parse_definition(R"toml(
name = "placed_wave"
rank = 2
fields = ["p", "p_prev", "p_next"]
[update]
p_next = "p - 0.5*p_prev + 0.1*(p[x-1] + p[x+1] + p[y-1] + p[y+1]) + 0.01*(x - 3*y) + 0.1*t"
[rotate]
p_next = "p"
p = "p_prev"
)toml",
                          "placed_wave");
}

/// A layer that damps along the last axis, read at the cell and beside it, and a gain along x.
Stencil damped(int rank) {
  const char last = "xyz"[rank - 1];
  return parse_definition(fmt::format(R"toml(
name = "damped"
rank = {0}
fields = ["damping({1})", "u", "gain(x)", "u_next"]
[update]
u_next = "0.5*gain[x-1]*u + 0.1*({2}) - 0.25*damping[{1}+1]*u[{1}+1] + 0.1*damping"
)toml",
                                      rank, last, all_neighbours(rank)),
                          "damped");
}

/// In space the second profile has two axes; one of time drives both stages.
Stencil damped_stages(int rank) {
  const char last = "xyz"[rank - 1];
  return parse_definition(fmt::format(R"toml(
name = "damped_stages"
rank = {0}
fields = ["u", "v", "dx(x)", "u_next", "w(t)", "v_next", "d({2})"]
[[stage]]
v_next = "v*dx + 0.1*(u[x+1] - u[{1}-1])*d[{1}-2] + 0.1*w*u"
[[stage]]
u_next = "0.5*u + 0.1*d[{1}+1]*(v_next - v_next[x-1] + v_next[{1}+1]) - 0.2*w"
)toml",
                                      rank, last, rank == 3 ? "y, z" : "y"),
                          "damped_stages");
}

/// Fields of two axes, read at the cell and beside it, of one, and of time.
Stencil on_two_axes() {
  return parse_definition(fmt::format(R"toml(
name = "on_two_axes"
rank = 3
fields = ["h(x, y)", "u", "w(t)", "g(y, z)", "u_next", "d(z)", "b(x, z)"]
[update]
u_next = "0.5*h[x-1, y+1]*u + 0.1*({}) + g[y-2]*b[z+1, x-2]*w - 0.3*d*h + 0.2*w"
)toml",
                                      all_neighbours(3)),
                          "on_two_axes");
}

/// All storage types, read and written.
Stencil stored(int rank) {
  const char last = "xyz"[rank - 1];
  return parse_definition(fmt::format(R"toml(
name = "stored"
rank = {0}
fields = ["m", "k", "u", "id({1})", "image", "n", "d", "h", "b", "u_next", "image_next", "level", "count", "mean", "wide"]
[coefficients]
c = 0.7
scale = 0.25
[storage]
m = "u8"
k = "i16/100 + 0.5"
id = "u8"
image = "u16*scale - 3"
image_next = "u16*scale - 3"
n = "i32"
d = "f64"
h = "f16*2^-4 + 0.25"
b = "bf16"
level = "i8/2"
count = "i32*0.01"
mean = "f16*2^-6"
wide = "f64"
[update]
u_next = "0.5*u + 0.1*table(m, 0.2, c, -0.3)*({2}) + 0.01*k[x-1]*m[x+1] + table(id, 1, 0.5)*h[x+1] - b"
image_next = "image + 0.3*(image[x-1] - image) + 2*m"
level = "40*u[x-1] - k"
count = "n[x+1] - 0.5*n + d"
mean = "0.3*d[x-1] + 0.5*h"
wide = "c*d + k[{1}+1]"
[rotate]
u_next = "u"
image_next = "image"
)toml",
                                      rank, last, all_neighbours(rank)),
                          "stored");
}

/// Sums of cells of two types, into a third.
Stencil stored_sum() {
  return parse_definition(fmt::format(R"toml(
name = "stored_sum"
rank = 3
fields = ["u", "w", "v"]
[storage]
u = "i16*2^-5"
w = "u8"
v = "f16"
[update]
v = "0.4*u + 0.1*({}) - 0.2*w"
)toml",
                                      all_neighbours(3)),
                          "stored_sum");
}

/// A state of whole numbers, or of the problem's type, beside a constant of bytes.
Stencil stored_field(int rank, std::string_view state) {
  return parse_definition(fmt::format(R"toml(
name = "stored_field"
rank = {0}
fields = ["k", "u", "u_next"]
[storage]
k = "u8/64"
{1}[update]
u_next = "0.5*u + 0.07*k*({2}) + 0.1"
)toml",
                                      rank, state, all_neighbours(rank)),
                          "stored_field");
}

/// Two stages, with a material that both look up.
Stencil stored_stages(int rank, std::string_view state) {
  const char last = "xyz"[rank - 1];
  std::string storage;
  for (const char* field : {"u", "v", "u_next", "v_next"}) {
    if (!state.empty()) storage += fmt::format("{} = \"{}\"\n", field, state);
  }
  return parse_definition(fmt::format(R"toml(
name = "stored_stages"
rank = {0}
fields = ["u", "v", "id", "gain", "u_next", "v_next"]
[coefficients]
soft = 0.15
[storage]
id = "u8"
gain = "i16*2^-14"
{2}[[stage]]
v_next = "v + table(id, 0.1, soft, 0.2, 0.05)*(u[x+1] - u[{1}-1])"
[[stage]]
u_next = "0.5*u + gain*(v_next - v_next[x-1] + v_next[{1}+1]) + table(id, 0, 0.2)"
)toml",
                                      rank, last, storage),
                          "stored_stages");
}

/// What lies beyond the edges of one field, with a reach of 2 on the last axis.
Stencil bounded(int rank, std::string_view boundary) {
  const char last = "xyz"[rank - 1];
  const std::string corners = rank == 1 ? "0" : rank == 2 ? "u[x-1, y+1] - u[x+1, y-1]" : "u[x-1, z+1] - u[y+1, z-1]";
  return parse_definition(fmt::format(R"toml(
name = "bounded"
rank = {0}
fields = ["u", "u_next"]
[coefficients]
q = 0.3
[update]
u_next = "(0.1 + q)*u + 0.1*({1}) + 0.05*u[{2}-2] - 0.03*u[{2}+2] + 0.07*({3})"
[boundary]
{4}
)toml",
                                      rank, all_neighbours(rank), last, corners, boundary),
                          "bounded");
}

/// The rule on all sides.
Stencil everywhere(int rank, const char* rule) {
  std::string text;
  for (int axis = 0; axis < rank; ++axis) text += fmt::format("{} = \"{}\"\n", "xyz"[axis], rule);
  return bounded(rank, text);
}

/// Another rule on each axis.
Stencil mixed_edges() { return bounded(3, "x = \"odd\"\ny.low = \"zero\"\ny.high = \"clamp\"\nz = \"neumann(q)\"\n"); }

/// Walls: along x the velocity changes its sign and the pressure does not; the other axis has a slope, nothing, zeros.
Stencil walls(int rank) {
  const char last = "xyz"[rank - 1];
  return parse_definition(fmt::format(R"toml(
name = "walls"
rank = {0}
fields = ["p", "v", "p_next", "v_next"]
[coefficients]
q = -0.2
r = 0.6
[[stage]]
v_next = "v + 0.2*(p[x+1] - p) - 0.1*p[{1}-1] + 0.05*v[x-1] + 0.05*v[{1}+1, x-1]"
[[stage]]
p_next = "0.5*p + 0.2*(v_next - v_next[x-1]) + 0.1*v_next[{1}+1]"
[boundary]
x = "reflect"
v.x = "odd"
v_next.x = "odd"
{1}.low = "neumann(q)"
{1}.high = "zero"
v.{1}.high = "neumann(q - r)"
)toml",
                                      rank, last),
                          "walls");
}

/// Each way of moving cells, plain and with a register tile.
void add_sweeps(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::vector<HostCase>& cases) {
  const Problem problem = problem_of(stencil, type, boundaries);
  for (const Tuning& form : kernel_forms()) {
    const std::optional<Tuning> tuning = plainest(form, problem);
    if (tuning) cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
  }
  const Tuning wide = parse_code(stencil.rank == 1 ? "direct.bx32.by1.rx4.v2" : "direct.bx32.by4.rx2.ry2.v2");
  cases.push_back({wide, awkward_grids(problem, wide), {}});
}

}  // namespace

std::vector<HostCase> placed_temporal_cases(Boundary everywhere) {
  using enum ElementType;
  const Boundaries boundaries = on_all_sides(everywhere);
  std::vector<HostCase> cases;
  for (int steps = 2; steps <= 6; ++steps) {
    if (!takes_turn(everywhere, steps)) continue;
    const std::string on_a_line = fmt::format("temporal.bx32.by1.rx2.v2.pf1.t{}", steps);
    const std::string in_a_plane = fmt::format("temporal.bx32.by1.rx4.v2.pf2.t{}.ch2.u2", steps);
    cases.push_back(temporal_case(travelling_source(1), f32, boundaries, on_a_line));
    cases.push_back(temporal_case(travelling_source(2), steps % 3 == 0 ? f64 : f32, boundaries, in_a_plane));
  }
  const auto add = [&](ElementType type, const char* code) {
    cases.push_back(temporal_case(travelling_source(3), type, boundaries, code));
  };
  add(f32, "temporal.bx32.by4.rx2.ry3.v2.pf2.t3.ch2.u2");
  add(f32, "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.tg2");
  add(bf16, "temporal.bx32.by2.rx2.ry4.v2.pf2.t2.cl2");
  add(f32, "temporal.bx64.by2.rx2.ry4.v2.pf1.t2");
  if (everywhere != Boundary::periodic) add(f32, "temporal.bx32.by2.rx2.ry4.v2.tmarows.pf2.t2");
  cases.push_back(
      wide_index_case(temporal_case(travelling_source(2), f32, boundaries, "temporal.bx32.by1.rx2.v2.pf1.t3")));
  return cases;
}

std::vector<HostCase> placed_system_cases(Boundary everywhere) {
  using enum ElementType;
  const Boundaries boundaries = on_all_sides(everywhere);
  std::vector<HostCase> cases;
  for (int steps = 1; steps <= 6; ++steps) {
    const std::string in_a_plane = fmt::format("system.bx32.by1.rx2.v2.pf2.t{}.ch2", steps);
    if (takes_turn(everywhere, steps)) {
      cases.push_back(system_case(placed_stages(2), steps % 3 == 0 ? f64 : f32, boundaries, in_a_plane));
    }
    if (steps % 3 == 0) cases.push_back(system_case(placed_wave(), f32, boundaries, in_a_plane));
  }
  for (const int steps : {1, 3}) {
    const std::string in_space = fmt::format("system.bx32.by3.rx2.ry3.v2.pf2.t{}.ch2", steps);
    cases.push_back(system_case(placed_stages(3), f32, boundaries, in_space));
  }
  cases.push_back(
      wide_index_case(system_case(placed_stages(3), f16, boundaries, "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch2.u2")));
  return cases;
}

std::vector<HostCase> profile_cases(Boundary everywhere) {
  using enum ElementType;
  const Boundaries boundaries = on_all_sides(everywhere);
  std::vector<HostCase> cases;
  add_sweeps(on_two_axes(), f32, boundaries, cases);
  add_sweeps(damped(2), bf16, boundaries, cases);
  add_sweeps(damped(1), f64, boundaries, cases);
  for (int steps = 2; steps <= 6; ++steps) {
    if (!takes_turn(everywhere, steps)) continue;
    cases.push_back(temporal_case(damped(2), steps % 3 == 0 ? f64 : f32, boundaries,
                                  fmt::format("temporal.bx32.by1.rx4.v2.pf2.t{}.ch2", steps)));
  }
  cases.push_back(temporal_case(on_two_axes(), f32, boundaries, "temporal.bx32.by4.rx2.ry3.v2.pf2.t3.ch2.u2"));
  for (const int steps : {1, 2, 4}) {
    cases.push_back(
        system_case(damped_stages(2), f32, boundaries, fmt::format("system.bx32.by1.rx2.v2.pf2.t{}.ch2", steps)));
  }
  cases.push_back(system_case(damped_stages(3), f16, boundaries, "system.bx32.by3.rx2.ry3.v2.pf2.t2.ch2"));
  return cases;
}

std::vector<HostCase> stored_cases(Boundary everywhere) {
  using enum ElementType;
  const Boundaries boundaries = on_all_sides(everywhere);
  std::vector<HostCase> cases;
  add_sweeps(stored(1), f64, boundaries, cases);
  add_sweeps(stored(2), f32, boundaries, cases);
  add_sweeps(stored(3), bf16, boundaries, cases);
  add_sweeps(stored_sum(), f32, boundaries, cases);
  cases.push_back(wide_index_case(cases.back()));
  const std::string whole = "u = \"i16*2^-8\"\nu_next = \"i16*2^-8\"\n",
                    half = "u = \"f16*2^-3 + 0.5\"\nu_next = \"f16*2^-3 + 0.5\"\n";
  for (int steps = 2; steps <= 6; ++steps) {
    if (!takes_turn(everywhere, steps)) continue;
    const std::string in_a_plane = fmt::format("temporal.bx32.by1.rx4.v2.pf2.t{}.ch2", steps);
    cases.push_back(temporal_case(stored_field(2, steps % 3 == 0 ? whole : ""), steps % 3 == 0 ? f64 : f32, boundaries,
                                  in_a_plane));
  }
  cases.push_back(temporal_case(stored_field(3, ""), f32, boundaries, "temporal.bx32.by4.rx2.ry3.v2.pf2.t3.ch2.u2"));
  cases.push_back(temporal_case(stored_field(3, whole), f32, boundaries, "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.tg2"));
  cases.push_back(temporal_case(stored_field(2, half), f32, boundaries, "temporal.bx32.by1.rx2.v2.pf1.t2"));
  for (const int steps : {1, 2, 4}) {
    const std::string in_a_plane = fmt::format("system.bx32.by1.rx2.v2.pf2.t{}.ch2", steps);
    cases.push_back(system_case(stored_stages(2, ""), f32, boundaries, in_a_plane));
    cases.push_back(system_case(stored_stages(2, "i16*2^-8"), f32, boundaries, in_a_plane));
  }
  cases.push_back(system_case(stored_stages(3, ""), f16, boundaries, "system.bx32.by3.rx2.ry3.v2.pf2.t2.ch2"));
  cases.push_back(system_case(stored_stages(3, "u8/8"), f64, boundaries, "system.bx32.by2.rx4.ry2.v4.pf2.t2.ch2"));
  return cases;
}

std::vector<HostCase> edge_cases() {
  using enum ElementType;
  std::vector<HostCase> cases;
  for (const char* rule : {"odd", "neumann(q)", "dirichlet(q)", "robin(1, q, 2)"})
    add_sweeps(everywhere(2, rule), f32, {}, cases);
  add_sweeps(everywhere(1, "odd"), f64, {}, cases);
  add_sweeps(mixed_edges(), f32, {}, cases);
  const Stencil open = bounded(3, "x.low = \"reflect\"\nx.high = \"odd\"\nz = \"odd\"\n");  // y is the caller's
  for (const Boundary in_y : {Boundary::hold, Boundary::zero, Boundary::periodic}) {
    const Boundaries boundaries{Boundary::hold, in_y, Boundary::hold};
    add_sweeps(open, f16, boundaries, cases);
    cases.push_back(temporal_case(open, f32, boundaries, "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.u2"));
  }
  return cases;
}

std::vector<HostCase> fused_edge_cases() {
  using enum ElementType;
  std::vector<HostCase> cases;
  for (int steps = 2; steps <= 6; ++steps) {
    const std::string on_a_line = fmt::format("temporal.bx32.by1.rx4.v2.pf1.t{}", steps);
    const std::string in_a_plane = fmt::format("temporal.bx32.by1.rx4.v2.pf2.t{}.ch2", steps);
    cases.push_back(temporal_case(everywhere(1, "odd"), f32, {}, on_a_line));
    for (const char* rule : {"odd", "neumann(q)"})
      cases.push_back(temporal_case(everywhere(2, rule), f64, {}, in_a_plane));
  }
  cases.push_back(temporal_case(mixed_edges(), f32, {}, "temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch2"));
  for (int steps = 1; steps <= 6; ++steps) {
    cases.push_back(system_case(walls(2), f32, {}, fmt::format("system.bx32.by1.rx3.v1.pf2.t{}.ch2", steps)));
  }
  for (const int steps : {1, 2}) {
    cases.push_back(system_case(walls(3), f32, {Boundary::hold, Boundary::periodic, Boundary::hold},
                                fmt::format("system.bx32.by3.rx2.ry3.v2.pf2.t{}.ch2", steps)));
  }
  return cases;
}

}  // namespace stencil_tune
