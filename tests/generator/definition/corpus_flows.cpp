// Definitions of the corpus that carry something along, in plain C++.
#include "tests/generator/definition/corpus_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace stencil_tune {
namespace {

using Outputs = std::map<std::string, double>;

/// The smaller of two slopes of one sign, else 0.
double minmod(double a, double b) {
  if (a * b <= 0) return 0;
  return std::fabs(a) < std::fabs(b) ? a : b;
}

/// What limited upwind fluxes change in a step of the whole length.
double limited_change(const CellReader& at, const CoefficientReader& c, const std::string& f) {
  const auto flux = [&](int x, int y, int dx, int dy) {
    const double own = at(f, x, y, 0);
    return own + minmod(own - at(f, x - dx, y - dy, 0), at(f, x + dx, y + dy, 0) - own) / 2;
  };
  return -c("cx") * (flux(0, 0, 1, 0) - flux(-1, 0, 1, 0)) - c("cy") * (flux(0, 0, 0, 1) - flux(0, -1, 0, 1));
}

Outputs runge_kutta_first(const CellReader& at, const CoefficientReader& c) {
  return {{"u1", at("u", 0, 0, 0) + limited_change(at, c, "u")}};
}

Outputs runge_kutta_second(const CellReader& at, const CoefficientReader& c) {
  return {{"u2", (3 * at("u", 0, 0, 0) + at("u1", 0, 0, 0) + limited_change(at, c, "u1")) / 4}};
}

Outputs runge_kutta_third(const CellReader& at, const CoefficientReader& c) {
  return {{"u_next", (at("u", 0, 0, 0) + 2 * at("u2", 0, 0, 0) + 2 * limited_change(at, c, "u2")) / 3}};
}

Outputs burgers(const CellReader& at, const CoefficientReader& c) {
  const double u = at("u", 0, 0, 0);
  const double v = at("v", 0, 0, 0);
  Outputs outputs;
  for (const std::string f : {"u", "v"}) {
    const double own = at(f, 0, 0, 0);
    const double in_x = u > 0 ? own - at(f, -1, 0, 0) : at(f, 1, 0, 0) - own;
    const double in_y = v > 0 ? own - at(f, 0, -1, 0) : at(f, 0, 1, 0) - own;
    const double around = at(f, -1, 0, 0) + at(f, 1, 0, 0) + at(f, 0, -1, 0) + at(f, 0, 1, 0);
    outputs[f + "_next"] = own - c("c") * (u * in_x + v * in_y) + c("nu") * (around - 4 * own);
  }
  return outputs;
}

/// Velocities in the order of the fields, and their weights by how many axes they have a part in.
struct Lattice {
  std::vector<std::array<int, 3>> velocities;
  std::array<double, 3> weights;
};

Lattice d2q9() {
  return {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {-1, -1, 0}, {1, -1, 0}},
          {4.0 / 9, 1.0 / 9, 1.0 / 36}};
}

/// Each velocity is followed by its opposite: along the axes, then in the planes xy, xz and yz.
Lattice d3q19() {
  Lattice lattice{{{0, 0, 0}}, {1.0 / 3, 1.0 / 18, 1.0 / 36}};
  const auto add = [&](int x, int y, int z) {
    lattice.velocities.push_back({x, y, z});
    lattice.velocities.push_back({-x, -y, -z});
  };
  add(1, 0, 0);
  add(0, 1, 0);
  add(0, 0, 1);
  for (const int side : {1, -1}) add(1, side, 0);
  for (const int side : {1, -1}) add(1, 0, side);
  for (const int side : {1, -1}) add(0, 1, side);
  return lattice;
}

CellUpdate boltzmann(Lattice lattice) {
  return [lattice = std::move(lattice)](const CellReader& at, const CoefficientReader& c) -> Outputs {
    std::vector<double> arrived;
    std::array<double, 3> momentum{};
    double density = 0;
    for (std::size_t i = 0; i < lattice.velocities.size(); ++i) {
      const auto& [x, y, z] = lattice.velocities[i];
      arrived.push_back(at("f" + std::to_string(i), -x, -y, -z));
      density += arrived.back();
      for (std::size_t axis = 0; axis < 3; ++axis) momentum[axis] += arrived.back() * lattice.velocities[i][axis];
    }
    Outputs outputs;
    for (std::size_t i = 0; i < lattice.velocities.size(); ++i) {
      double along = 0;
      double squared = 0;
      int parts = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        along += momentum[axis] / density * lattice.velocities[i][axis];
        squared += momentum[axis] * momentum[axis] / (density * density);
        parts += std::abs(lattice.velocities[i][axis]);
      }
      const double equilibrium = lattice.weights[static_cast<std::size_t>(parts)] * density *
                                 (1 + 3 * along + 9.0 / 2 * along * along - 3.0 / 2 * squared);
      outputs["f" + std::to_string(i) + "_next"] = arrived[i] + c("omega") * (equilibrium - arrived[i]);
    }
    return outputs;
  };
}

}  // namespace

void add_flows(std::map<std::string, std::vector<CellUpdate>>& corpus) {
  corpus["advection2d_rk3"] = {runge_kutta_first, runge_kutta_second, runge_kutta_third};
  corpus["burgers2d"] = {burgers};
  corpus["lbm_d2q9"] = {boltzmann(d2q9())};
  corpus["lbm_d3q19"] = {boltzmann(d3q19())};
}

}  // namespace stencil_tune
