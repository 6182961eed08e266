// Grids with layers whose kernels run on the CPU, zone by zone, with the winners that a test wants.
#pragma once

#include "generator/cut/zones.hpp"
#include "generator/definition/definition.hpp"
#include "tests/runtime/library/systems_on_host.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil_tune {

/// A wave with memory variables in the layers of both axes.
inline constexpr const char* kAbsorbed = R"toml(
name = "absorbed"
rank = 2
fields = ["p", "p_prev", "v", "psx(x in layer)", "psy(y in layer)", "ztx(x in layer)", "bx(x)", "by(y)",
          "p_next", "psx_next(x in layer)", "psy_next(y in layer)", "ztx_next(x in layer)"]
[let]
ddx = "p[x+1] - 2*p + p[x-1] + psx_next - psx_next[x-1]"
ddy = "p[y+1] - 2*p + p[y-1] + psy_next - psy_next[y-1]"
[[stage]]
psx_next = "bx*psx + 0.25*(p[x+1] - p)"
psy_next = "by*psy + 0.25*(p[y+1] - p)"
[[stage]]
ztx_next = "0.5*bx*ztx + 0.25*ddx"
p_next = "2*p - p_prev + v*(ddx + ddy + 0.5*ztx)"
[rotate]
p_next = "p"
p = "p_prev"
psx_next = "psx"
psy_next = "psy"
ztx_next = "ztx"
)toml";

/// One stage of two levels in time, with a reach to one side alone and a sponge by a word.
inline constexpr const char* kSponge = R"toml(
name = "sponge"
rank = 2
fields = ["u", "u_prev", "m(y in layer)", "u_next", "m_next(y in layer)"]
[update]
u_next = "0.5*u - 0.1*u_prev + 0.1*(u[x+1] + u[x-1] + u[y+1]) - 0.1*x_in_layer*u + m[y-1] + m[x+1]"
m_next = "0.5*m + 0.25*u[x-1]"
[rotate]
u_next = "u"
u = "u_prev"
m_next = "m"
)toml";

inline Problem layered(const char* definition, const Extents& extents, const char* layers, Boundary boundary,
                       ElementType type = ElementType::f64) {
  Stencil stencil = parse_definition(definition, "layered.toml");
  stencil.layers = parse_layer_widths(layers, stencil.rank);
  return make_problem(std::move(stencil), type, {boundary, boundary, boundary}, extents, 0, 1, kWholeStep);
}

/// Two stages, of which the second reads what the first leaves, both in the layers of both axes.
inline constexpr const char* kStaggered = R"toml(
name = "staggered"
rank = 2
fields = ["v", "p", "k", "qx(x in layer)", "qy(y in layer)", "rx(x in layer)", "v_next", "p_next",
          "qx_next(x in layer)", "qy_next(y in layer)", "rx_next(x in layer)"]
[let]
fx = "select(x_in_layer, 0.5*qx + 0.1*(p[x+1] - p), 0)"
fy = "select(y_in_layer, 0.5*qy + 0.1*(v_next - v_next[y-1]), 0)"
[[stage]]
qx_next = "fx"
v_next = "0.9*v + 0.2*(p[x+1] - p + p[y+2] - p) + fx"
[[stage]]
qy_next = "fy"
rx_next = "0.25*rx + 0.1*(v_next[x-2] - v_next)"
p_next = "0.9*p + k*(v_next - v_next[x-1] + v_next - v_next[y-1]) + fy - rx"
[rotate]
v_next = "v"
p_next = "p"
qx_next = "qx"
qy_next = "qy"
rx_next = "rx"
)toml";

class TunedZones : public SystemsOnHost {
 protected:
  /// A library in which problems of so many steps have a winner that fuses all of them: all problems, or those of no
  /// layer ("inside"), or of one stage ("stages"). Flat ones are walked through along y.
  /// wanted: the code of a candidate that zones take where it is legal.
  Kernel lookup_tuned(const Problem& step, std::set<int> steps, std::string_view known = "all",
                      std::string_view wanted = "") {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
    parts.winners = [this, steps, known, wanted, whole = step.extents](const Problem& problem, const std::string&) {
      const int fused = problem.steps;
      const bool inside_alone = known == "inside" || (known == "two whole, three inside" && fused == 3);
      if (steps.count(fused) == 0 || (inside_alone && asks_layers(problem))) return std::vector<WinnerRecord>();
      if (known == "stages" && problem.stencil.stages.size() > 1) return std::vector<WinnerRecord>();
      const bool fuses = fused > 1 || problem.stencil.stages.size() > 1;
      auto tuning = default_candidate(family_named(fuses ? "system" : "direct"), problem, {});
      if (!tuning) return std::vector<WinnerRecord>();
      if (fuses) tuning->steps = fused;
      Tuning along_y = parse_code("system.bx32.by4.rx1.ry4.v1.pf2.t2.walky");
      along_y.steps = fused;
      const bool is_flat = problem.extents.rank == 3 && problem.extents.n[2] < problem.extents.n[1] / 2;
      if (is_flat && fuses && is_legal({problem, along_y}, {})) tuning = along_y;
      if (!wanted.empty() && fuses) {
        Tuning other = parse_code(wanted);
        other.steps = fused;
        if (is_legal({problem, other}, {.compute_capability = 90})) tuning = other;
        takes_wanted_ += tuning->copies == other.copies;
      }
      walks_along_y_ += tuning->walk_axis == WalkAxis::y;
      WinnerRecord won = winner_of(problem, fused, *tuning);
      won.trial.rate = fused * (problem.extents != whole ? 2 : 1);
      return std::vector<WinnerRecord>{won};
    };
    library_.emplace(std::make_unique<Library::Impl>(std::move(parts)));
    return library_->lookup({.stencil = step.stencil,
                             .type = step.type,
                             .extents = step.extents,
                             .boundaries = step.boundaries,
                             .slabs = step.slabs,
                             .alignment = wanted.empty() ? 8U : 16U,
                             .steps = 100});
  }

  int walks_along_y_ = 0;  ///< winners that do
  int takes_wanted_ = 0;   ///< winners that copy as the wanted candidate does
};

}  // namespace stencil_tune
