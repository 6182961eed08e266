// Definitions of the corpus whose coefficients are fields, and systems that react, in plain C++.
#include "tests/generator/definition/corpus_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace stencil_tune {
namespace {

using Outputs = std::map<std::string, double>;

double second_difference(const CellReader& at, const std::string& f, int dx, int dy, int dz) {
  return at(f, -dx, -dy, -dz) - 2 * at(f, 0, 0, 0) + at(f, dx, dy, dz);
}

double laplacian2d(const CellReader& at, const std::string& f) {
  return second_difference(at, f, 1, 0, 0) + second_difference(at, f, 0, 1, 0);
}

Outputs fitzhugh_nagumo(const CellReader& at, const CoefficientReader& c) {
  const double u = at("u", 0, 0, 0);
  const double v = at("v", 0, 0, 0);
  const double laplacian = laplacian2d(at, "u") + second_difference(at, "u", 0, 0, 1);
  return {{"u_next", u + c("diffusion") * laplacian + c("dt") * (u - u * u * u / 3 - v)},
          {"v_next", v + c("dt") * c("epsilon") * (u + c("beta") - c("gamma") * v)}};
}

Outputs chemical_potential(const CellReader& at, const CoefficientReader& c) {
  const double own = at("c", 0, 0, 0);
  return {{"mu", std::pow(own, 3) - own - c("kappa") * laplacian2d(at, "c")}};
}

Outputs flow_along_potential(const CellReader& at, const CoefficientReader& c) {
  return {{"c_next", at("c", 0, 0, 0) + c("mobility") * laplacian2d(at, "mu")}};
}

/// The benchmark's own loop, whose p[i][j][k] has k fastest.
Outputs himeno(const CellReader& at, const CoefficientReader& c) {
  const auto p = [&](int i, int j, int k) { return at("p", k, j, i); };
  const auto own = [&](const std::string& field) { return at(field, 0, 0, 0); };
  const double s0 = own("a0") * p(1, 0, 0) + own("a1") * p(0, 1, 0) + own("a2") * p(0, 0, 1) +
                    own("b0") * (p(1, 1, 0) - p(1, -1, 0) - p(-1, 1, 0) + p(-1, -1, 0)) +
                    own("b1") * (p(0, 1, 1) - p(0, -1, 1) - p(0, 1, -1) + p(0, -1, -1)) +
                    own("b2") * (p(1, 0, 1) - p(-1, 0, 1) - p(1, 0, -1) + p(-1, 0, -1)) + own("c0") * p(-1, 0, 0) +
                    own("c1") * p(0, -1, 0) + own("c2") * p(0, 0, -1) + own("wrk1");
  const double ss = (s0 * own("a3") - p(0, 0, 0)) * own("bnd");
  return {{"p_next", p(0, 0, 0) + c("omega") * ss}};
}

Outputs tilted_wave(const CellReader& at, const CoefficientReader& c) {
  const std::array<std::string, 3> axes{"x", "y", "z"};
  const auto p = [&](int a, int by_a, int b, int by_b) {
    std::array<int, 3> offset{};
    offset[static_cast<std::size_t>(a)] += by_a;
    offset[static_cast<std::size_t>(b)] += by_b;
    return at("p", offset[0], offset[1], offset[2]);
  };
  double sum = 0;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {  // the tensor is symmetric: each mixed derivative comes twice
      double derivative = 0;
      if (a == b) {
        derivative = -5.0 / 2 * p(a, 0, b, 0);
        for (const int side : {-1, 1}) derivative += 4.0 / 3 * p(a, side, b, 0) - 1.0 / 12 * p(a, 2 * side, b, 0);
      } else {
        derivative = (p(a, 1, b, 1) - p(a, 1, b, -1) - p(a, -1, b, 1) + p(a, -1, b, -1)) / 4;
      }
      const std::string first = axes[static_cast<std::size_t>(std::min(a, b))];
      sum += at("a" + first + axes[static_cast<std::size_t>(std::max(a, b))], 0, 0, 0) * derivative;
    }
  }
  return {{"p_next", 2 * at("p", 0, 0, 0) - at("p_prev", 0, 0, 0) + c("dt2") * sum}};
}

/// What flows in through the six faces of a cell.
Outputs variable_diffusion(const CellReader& at, const CoefficientReader& c) {
  const double u = at("u", 0, 0, 0);
  double inflow = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const std::string k = axis == 0 ? "kx" : axis == 1 ? "ky" : "kz";
    const int x = axis == 0 ? 1 : 0;
    const int y = axis == 1 ? 1 : 0;
    const int z = axis == 2 ? 1 : 0;
    inflow += at(k, 0, 0, 0) * (at("u", x, y, z) - u) + at(k, -x, -y, -z) * (at("u", -x, -y, -z) - u);
  }
  return {{"u_next", u + c("dt") * inflow}};
}

/// curl of a field whose parts are named prefix + axis + suffix, by differences to the next cell, or to the one before.
std::array<double, 3> curl(const CellReader& at, const std::string& prefix, const std::string& suffix, bool forward) {
  const auto derivative = [&](const std::string& part, int axis) {
    const int side = forward ? 1 : -1;
    const double other = at(prefix + part + suffix, axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0);
    return side * (other - at(prefix + part + suffix, 0, 0, 0));
  };
  return {derivative("z", 1) - derivative("y", 2), derivative("x", 2) - derivative("z", 0),
          derivative("y", 0) - derivative("x", 1)};
}

Outputs lossy_magnetic(const CellReader& at, const CoefficientReader&) {
  const std::array<double, 3> around = curl(at, "e", "", true);
  const double da = at("da", 0, 0, 0), db = at("db", 0, 0, 0);
  return {{"hx_next", da * at("hx", 0, 0, 0) - db * around[0]},
          {"hy_next", da * at("hy", 0, 0, 0) - db * around[1]},
          {"hz_next", da * at("hz", 0, 0, 0) - db * around[2]}};
}

Outputs lossy_electric(const CellReader& at, const CoefficientReader&) {
  const std::array<double, 3> around = curl(at, "h", "_next", false);
  const double ca = at("ca", 0, 0, 0), cb = at("cb", 0, 0, 0);
  return {{"ex_next", ca * at("ex", 0, 0, 0) + cb * around[0]},
          {"ey_next", ca * at("ey", 0, 0, 0) + cb * around[1]},
          {"ez_next", ca * at("ez", 0, 0, 0) + cb * around[2]}};
}

/// The share of a step that the layer takes where a component is: half a cell up on those axes.
double layer_loss(const CellReader& at, const std::array<bool, 3>& half_up) {
  const double x = half_up[0] ? (at("sx", 0, 0, 0) + at("sx", 1, 0, 0)) / 2 : at("sx", 0, 0, 0);
  const double y = half_up[1] ? (at("sy", 0, 0, 0) + at("sy", 0, 1, 0)) / 2 : at("sy", 0, 0, 0);
  const double z = half_up[2] ? (at("sz", 0, 0, 0) + at("sz", 0, 0, 1)) / 2 : at("sz", 0, 0, 0);
  return x + y + z;
}

/// A component of the electric field lies half a cell up on its own axis, one of the magnetic field on the other two.
Outputs lossy_layer(const CellReader& at, const std::string& field, const std::array<double, 3>& sources) {
  Outputs outputs;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::array<bool, 3> half_up{field == "h", field == "h", field == "h"};
    half_up[axis] = field == "e";
    const double loss = layer_loss(at, half_up);
    const std::string name = field + "xyz"[axis];
    outputs[name + "_next"] = (1 - loss) / (1 + loss) * at(name, 0, 0, 0) + sources[axis] / (1 + loss);
  }
  return outputs;
}

Outputs layer_magnetic(const CellReader& at, const CoefficientReader& c) {
  std::array<double, 3> sources = curl(at, "e", "", true);
  for (double& source : sources) source *= -c("ch");
  return lossy_layer(at, "h", sources);
}

Outputs layer_electric(const CellReader& at, const CoefficientReader&) {
  std::array<double, 3> sources = curl(at, "h", "_next", false);
  for (double& source : sources) source *= at("ca", 0, 0, 0);
  return lossy_layer(at, "e", sources);
}

/// The loop of Cerjan et al.: the step, then the sponge over both time levels, here before what was written last is
/// read.
Outputs wave_in_a_sponge(const CellReader& at, const CoefficientReader& c) {
  const double sponge = at("gx", 0, 0, 0) * at("gy", 0, 0, 0) * at("gz", 0, 0, 0);
  double laplacian = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto p = [&](int along) {
      return at("p", axis == 0 ? along : 0, axis == 1 ? along : 0, axis == 2 ? along : 0);
    };
    laplacian += -5.0 / 2 * p(0) + 4.0 / 3 * (p(-1) + p(1)) - 1.0 / 12 * (p(-2) + p(2));
  }
  const double before = sponge * at("p_prev", 0, 0, 0);
  const double speed = at("v", 0, 0, 0);
  return {{"p_next", sponge * (2 * at("p", 0, 0, 0) - before + c("c2") * speed * speed * laplacian)}};
}

/// A field along an axis.
class Line {
 public:
  Line(const CellReader& at, int axis, int order) : at_(at), axis_(axis), order_(order) {}

  double read(const std::string& field, int along) const {
    return at_(field, axis_ == 0 ? along : 0, axis_ == 1 ? along : 0, axis_ == 2 ? along : 0);
  }
  double second(const std::string& field) const {
    const auto f = [&](int along) { return read(field, along); };
    if (order_ == 2) return f(1) - 2 * f(0) + f(-1);
    if (order_ == 8) {
      return -205.0 / 72 * f(0) + 8.0 / 5 * (f(1) + f(-1)) - 1.0 / 5 * (f(2) + f(-2)) + 8.0 / 315 * (f(3) + f(-3)) -
             1.0 / 560 * (f(4) + f(-4));
    }
    return -5.0 / 2 * f(0) + 4.0 / 3 * (f(1) + f(-1)) - 1.0 / 12 * (f(2) + f(-2));
  }
  /// Half a cell ahead of a cell: second() is the difference of two.
  double flux(const std::string& field, int cell) const {
    const auto f = [&](int along) { return read(field, cell + along); };
    if (order_ == 8) {  // weights of second(), added up from the farthest cell
      return (f(4) - f(-3)) * (-1.0 / 560) + (f(3) - f(-2)) * (8.0 / 315 - 1.0 / 560) +
             (f(2) - f(-1)) * (-1.0 / 5 + 8.0 / 315 - 1.0 / 560) +
             (f(1) - f(0)) * (8.0 / 5 - 1.0 / 5 + 8.0 / 315 - 1.0 / 560);
    }
    return order_ == 2 ? f(1) - f(0) : (15 * f(1) - 15 * f(0) - f(2) + f(-1)) / 12;
  }

 private:
  const CellReader& at_;
  int axis_, order_;
};

/// Komatitsch and Martin's recursion for the two memory variables of each axis.
CellUpdate wave_in_matched_layers(int rank, int order) {
  return [rank, order](const CellReader& at, const CoefficientReader&) {
    Outputs outputs;
    double sum = 0;
    for (int axis = 0; axis < rank; ++axis) {
      const Line line(at, axis, order);
      const std::string a(1, "xyz"[axis]);
      const auto memory = [&](int cell) {
        if (line.read(a + "_in_layer", cell) == 0) return 0.0;
        return line.read("b" + a + "h", cell) * line.read("ps" + a, cell) +
               line.read("a" + a + "h", cell) * line.flux("p", cell);
      };
      const double stretched = line.second("p") + memory(0) - memory(-1);
      const bool inside = line.read(a + "_in_layer", 0) == 0;
      const double kept =
          inside ? 0 : line.read("b" + a, 0) * line.read("zt" + a, 0) + line.read("a" + a, 0) * stretched;
      outputs["ps" + a + "_next"] = memory(0);
      outputs["zt" + a + "_next"] = kept;
      sum += stretched + kept;
    }
    outputs["p_next"] = 2 * at("p", 0, 0, 0) - at("p_prev", 0, 0, 0) + at("v", 0, 0, 0) * sum;
    return outputs;
  };
}

}  // namespace

void add_media(std::map<std::string, std::vector<CellUpdate>>& corpus) {
  corpus["acoustic2d_o4_cpml"] = {wave_in_matched_layers(2, 4)};
  corpus["acoustic3d_o2_cpml"] = {wave_in_matched_layers(3, 2)};
  corpus["acoustic3d_o4_cpml"] = {wave_in_matched_layers(3, 4)};
  corpus["acoustic3d_o8_cpml"] = {wave_in_matched_layers(3, 8)};
  corpus["acoustic3d_sponge"] = {wave_in_a_sponge};
  corpus["cahn_hilliard2d"] = {chemical_potential, flow_along_potential};
  corpus["fitzhugh_nagumo3d"] = {fitzhugh_nagumo};
  corpus["himeno"] = {himeno};
  corpus["tti3d"] = {tilted_wave};
  corpus["variable_diffusion3d"] = {variable_diffusion};
  corpus["yee3d_layer"] = {layer_magnetic, layer_electric};
  corpus["yee3d_lossy"] = {lossy_magnetic, lossy_electric};
}

}  // namespace stencil_tune
