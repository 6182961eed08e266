#include "tests/runtime/export/export_cases.hpp"

#include "generator/definition/definition.hpp"
#include "tests/generator/corpus.hpp"
#include "tests/kernels/fused/system_cases.hpp"

namespace stencil_tune {
namespace {

using enum Boundary;
using enum ElementType;

ExportCase of(const Stencil& stencil, ElementType type, const Boundaries& boundaries, const char* code,
              const char* single_steps) {
  const Extents extents{stencil.rank, {128, 128, stencil.rank == 3 ? 128 : 1}};
  ExportCase found{stencil.name, make_problem(stencil, type, boundaries, extents, 0, 100, kWholeStep),
                   parse_code(code)};
  if (single_steps) found.single_steps = parse_code(single_steps);
  return found;
}

/// A stencil with a slope beyond the edges of y, which ends where x does: the caller makes x's boundary zero.
Stencil sloping() {
  return parse_definition(R"toml(
name = "sloping"
rank = 2
fields = ["u", "u_next"]
[update]
u_next = "0.5*u + 0.2*u[x-1, y-1] - 0.1*u[x+1, y+1]"
[boundary]
y = "neumann(0.25)"
)toml",
                          "sloping.toml");
}

/// Heat over a ground, with fields of two axes.
Stencil hilly() {
  Stencil stencil = parse_stencil("u_next = u + 0.1*h[x+1]*(laplacian(u) + g[z-1] - b); h(x, y); g(y, z); b(x, z)", 3);
  stencil.name = "hilly";
  return stencil;
}

}  // namespace

ExportCase driven_wave() {
  const Stencil wave = parse_definition(R"toml(
name = "driven_wave"
rank = 2
fields = ["u", "u_old", "damp(x)", "u_next", "w(t)"]
[coefficients]
c = 0.2
[update]
u_next = "damp*(2*u - damp*u_old + c*(u[x-1] + u[x+2] + u[y-1] + u[y+1] - 4*u)) + 0.01*x + 0.02*y + 0.5*sin(t) + 0.1*random(11) - 0.2*(x % 3) + 0.1*floor(4*u[x-1]) + 0.2*w"
[rotate]
u_next = "u"
u = "u_old"
)toml",
                                        "driven_wave.toml");
  return of(wave, f32, {hold, zero, hold}, "system.bx32.by1.rx2.v2.pf1.t3.ch2", "direct.bx32.by4");
}

std::vector<ExportCase> export_cases() {
  return {
      driven_wave(),
      of(corpus("yee3d"), f32, {hold, periodic, hold}, "system.bx32.by2.rx1.ry3.v1.pf1.t2.ch2",
         "system.bx32.by2.rx1.ry3.v1.pf1.t1.ch2"),
      of(corpus("acoustic3d_o4"), f32, {hold, clamp, hold}, "system.bx32.by4.rx2.ry4.v2.pf1.t2.ch2", "direct.bx32.by4"),
      of(corpus("gray_scott2d"), f32, {reflect, hold, hold}, "system.bx32.by1.rx2.v2.pf2.t4.ch2", "direct.bx32.by4"),
      of(corpus("shallow2d"), f64, {periodic, hold, hold}, "system.bx32.by1.rx2.v2.pf2.t3.once.ch2", "direct.bx32.by4"),
      of(corpus("advection2d_rk3"), f32, {hold, hold, hold}, "system.bx32.by1.rx2.v2.pf1.t1.ch2",
         "system.bx32.by1.rx2.v2.pf1.t1.ch2"),
      of(predictor_corrector(2), f16, {hold, hold, hold}, "system.bx32.by1.rx3.v1.pf2.t2",
         "system.bx32.by1.rx3.v1.pf2.t1"),
      of(sloping(), f64, {zero, hold, hold}, "temporal.bx32.by1.rx4.v2.pf2.t3.ch2", "direct.bx32.by4"),
      of(corpus("life"), f32, {periodic, hold, hold}, "direct.bx32.by4", nullptr),
      of(hilly(), bf16, {hold, zero, hold}, "temporal.bx32.by4.rx2.ry2.v2.pf1.t3", "direct.bx32.by4"),
      of(corpus("heat3d"), f32, {hold, periodic, clamp}, "direct.bx32.by4", "direct.bx32.by4"),
      of(make_builtin(Shape::star, 2, 1), f64, {hold, hold, hold}, "systolic.bx32.by1.rx3.pf1.t8.tg4",
         "direct.bx64.by2"),
  };
}

}  // namespace stencil_tune
