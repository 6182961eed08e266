#include "tests/kernels/placed_cases.hpp"

#include "generator/definition/definition.hpp"
#include "tests/kernels/system_cases.hpp"
#include "tests/kernels/temporal_cases.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace stencil_tune {
namespace {

Boundaries on_all_sides(Boundary boundary) { return {boundary, boundary, boundary}; }

/// Along the first axes of x, y and z.
std::string all_neighbours(int rank) {
  constexpr std::array kNeighbours{"u[x-1] + u[x+1]", " + u[y-1] + u[y+1]", " + u[z-1] + u[z+1]"};
  std::string text;
  for (int axis = 0; axis < rank; ++axis) text += kNeighbours[static_cast<std::size_t>(axis)];
  return text;
}

/// A field whose source is another in each cell and at each step, and a constant beside it.
Stencil travelling_source(int rank) {
  const std::string update = fmt::format("0.5*u + 0.07*k*({}) + {} + 0.02*t", all_neighbours(rank),
                                         std::array{"0.01*x", "0.01*x*y[y-1]", "0.01*x[x-1]*y[y+1] - 0.03*z[z+2]"}
                                             [static_cast<std::size_t>(rank - 1)]);
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

}  // namespace

std::vector<HostCase> placed_temporal_cases(Boundary everywhere) {
  using enum ElementType;
  const Boundaries boundaries = on_all_sides(everywhere);
  std::vector<HostCase> cases;
  for (int steps = 2; steps <= 6; ++steps) {
    const std::string on_a_line = fmt::format("temporal.bx32.by1.rx2.v2.pf1.t{}", steps);
    const std::string in_a_plane = fmt::format("temporal.bx32.by1.rx4.v2.pf2.t{}.ch2.u2", steps);
    cases.push_back(temporal_case(travelling_source(1), f32, boundaries, on_a_line));
    cases.push_back(temporal_case(travelling_source(2), steps % 2 == 0 ? f64 : f32, boundaries, in_a_plane));
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
    cases.push_back(system_case(placed_stages(2), steps % 2 == 0 ? f64 : f32, boundaries, in_a_plane));
    if (steps % 3 == 0) cases.push_back(system_case(placed_wave(), f32, boundaries, in_a_plane));
  }
  for (const int steps : {1, 3}) {
    const std::string in_space = fmt::format("system.bx32.by3.rx2.ry3.v2.pf2.t{}.ch2", steps);
    cases.push_back(system_case(placed_stages(3), f32, boundaries, in_space));
  }
  cases.push_back(wide_index_case(
      system_case(placed_stages(3), f16, boundaries, "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch2.u2")));
  return cases;
}

}  // namespace stencil_tune
