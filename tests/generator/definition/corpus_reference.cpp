#include "tests/generator/definition/corpus_reference.hpp"

#include <array>
#include <cmath>
#include <cstdlib>

namespace stencil_tune {
namespace {

using Outputs = std::map<std::string, double>;

double second_difference(const CellReader& at, const std::string& f, int dx, int dy, int dz) {
  return at(f, -dx, -dy, -dz) - 2 * at(f, 0, 0, 0) + at(f, dx, dy, dz);
}

Outputs heat(const CellReader& at, const CoefficientReader& c, bool three) {
  double laplacian = second_difference(at, "u", 1, 0, 0) + second_difference(at, "u", 0, 1, 0);
  if (three) laplacian += second_difference(at, "u", 0, 0, 1);
  return {{"u_next", at("u", 0, 0, 0) + c("alpha") * laplacian}};
}

Outputs heat2d(const CellReader& at, const CoefficientReader& c) { return heat(at, c, false); }
Outputs heat3d(const CellReader& at, const CoefficientReader& c) { return heat(at, c, true); }

Outputs jacobi1d(const CellReader& at, const CoefficientReader& c) {
  return {{"b", c("third") * (at("a", -1, 0, 0) + at("a", 0, 0, 0) + at("a", 1, 0, 0))}};
}

/// Weights of the second derivative as tables print them.
CellUpdate acoustic(const std::vector<double>& weights) {
  return [weights](const CellReader& at, const CoefficientReader& c) -> Outputs {
    double laplacian = 3 * weights[0] * at("p", 0, 0, 0);
    for (int k = 1; k < static_cast<int>(weights.size()); ++k) {
      const double ring = at("p", k, 0, 0) + at("p", -k, 0, 0) + at("p", 0, k, 0) + at("p", 0, -k, 0) +
                          at("p", 0, 0, k) + at("p", 0, 0, -k);
      laplacian += weights[static_cast<std::size_t>(k)] * ring;
    }
    const double v = at("v", 0, 0, 0);
    return {{"p_next", 2 * at("p", 0, 0, 0) - at("p_prev", 0, 0, 0) + c("c2") * v * v * laplacian}};
  };
}

Outputs hotspot2d(const CellReader& at, const CoefficientReader& c) {
  const std::string t = "temperature";
  const double change = at("power", 0, 0, 0) + c("rx") * second_difference(at, t, 1, 0, 0) +
                        c("ry") * second_difference(at, t, 0, 1, 0) + c("rz") * (c("ambient") - at(t, 0, 0, 0));
  return {{"temperature_next", at(t, 0, 0, 0) + c("step") * change}};
}

Outputs hotspot3d(const CellReader& at, const CoefficientReader& c) {
  const std::string t = "temperature";
  return {{"temperature_next", at(t, 0, 0, 0) * c("cc") + at(t, 1, 0, 0) * c("ce") + at(t, -1, 0, 0) * c("ce") +
                                   at(t, 0, 1, 0) * c("cn") + at(t, 0, -1, 0) * c("cn") + at(t, 0, 0, 1) * c("ct") +
                                   at(t, 0, 0, -1) * c("ct") + c("step") * at("power", 0, 0, 0) +
                                   c("ct") * c("ambient")}};
}

Outputs poisson2d(const CellReader& at, const CoefficientReader&) {
  double sum = -6 * at("f", 0, 0, 0);
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) {
      const int distance = std::abs(x) + std::abs(y);
      if (distance > 0) sum += (distance == 1 ? 4 : 1) * at("u", x, y, 0);
    }
  }
  return {{"u_next", sum / 20}};
}

/// The sum of w[number of axes on which the neighbour lies off the centre] * u.
double weighted_box(const CellReader& at, const std::string& field, const std::array<double, 4>& w) {
  double sum = 0;
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        sum += w[static_cast<std::size_t>(std::abs(x) + std::abs(y) + std::abs(z))] * at(field, x, y, z);
      }
    }
  }
  return sum;
}

Outputs poisson3d(const CellReader& at, const CoefficientReader&) {
  return {{"u_next", (weighted_box(at, "u", {0, 2, 1, 0}) - 6 * at("f", 0, 0, 0)) / 24}};
}

Outputs diffusion19(const CellReader& at, const CoefficientReader& c) {
  return {{"u_next", weighted_box(at, "u", {c("centre"), c("face"), c("edge"), 0})}};
}

Outputs box27(const CellReader& at, const CoefficientReader& c) {
  return {{"u_next", weighted_box(at, "u", {c("centre"), c("face"), c("edge"), c("corner")})}};
}

/// The binomial coefficients (2r over r + k), over 4^r.
CellUpdate gaussian(int r) {
  return [r](const CellReader& at, const CoefficientReader&) -> Outputs {
    const auto weight = [r](int k) {
      double value = 1;
      for (int i = 1; i <= r + k; ++i) value *= static_cast<double>(2 * r - (r + k) + i) / i;
      return value / std::pow(4.0, r);
    };
    double sum = 0;
    for (int y = -r; y <= r; ++y) {
      for (int x = -r; x <= r; ++x) sum += weight(x) * weight(y) * at("image", x, y, 0);
    }
    return {{"blurred", sum}};
  };
}

Outputs gradient(const CellReader& at, const CoefficientReader& c) {
  double sum = c("floor");
  for (const int step : {-1, 1}) {
    sum += std::pow(at("u", step, 0, 0) - at("u", 0, 0, 0), 2) + std::pow(at("u", 0, step, 0) - at("u", 0, 0, 0), 2);
  }
  return {{"u_next", c("centre") * at("u", 0, 0, 0) + 1 / std::sqrt(sum)}};
}

Outputs sobel(const CellReader& at, const CoefficientReader&) {
  double gx = 0;
  double gy = 0;
  for (int k = -1; k <= 1; ++k) {
    const int weight = k == 0 ? 2 : 1;
    gx += weight * (at("image", 1, k, 0) - at("image", -1, k, 0));
    gy += weight * (at("image", k, 1, 0) - at("image", k, -1, 0));
  }
  return {{"edges", std::hypot(gx, gy)}};
}

Outputs life(const CellReader& at, const CoefficientReader&) {
  int neighbours = 0;
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) {
      if (x != 0 || y != 0) neighbours += at("alive", x, y, 0) == 1;
    }
  }
  const bool alive = at("alive", 0, 0, 0) == 1;
  return {{"alive_next", neighbours == 3 || (alive && neighbours == 2) ? 1.0 : 0.0}};
}

Outputs gray_scott(const CellReader& at, const CoefficientReader& c) {
  const auto laplacian = [&](const std::string& f) {
    return second_difference(at, f, 1, 0, 0) + second_difference(at, f, 0, 1, 0);
  };
  const double u = at("u", 0, 0, 0);
  const double v = at("v", 0, 0, 0);
  return {{"u_next", u + c("du") * laplacian("u") + c("dt") * (c("feed") * (1 - u) - u * v * v)},
          {"v_next", v + c("dv") * laplacian("v") + c("dt") * (u * v * v - (c("feed") + c("kill")) * v)}};
}

Outputs fdtd_electric(const CellReader& at, const CoefficientReader& c) {
  return {{"ex_next", at("ex", 0, 0, 0) - c("ce") * (at("hz", 0, 0, 0) - at("hz", 0, -1, 0))},
          {"ey_next", at("ey", 0, 0, 0) + c("ce") * (at("hz", 0, 0, 0) - at("hz", -1, 0, 0))}};
}

Outputs fdtd_magnetic(const CellReader& at, const CoefficientReader& c) {
  const double curl =
      at("ey_next", 1, 0, 0) - at("ey_next", 0, 0, 0) - (at("ex_next", 0, 1, 0) - at("ex_next", 0, 0, 0));
  return {{"hz_next", at("hz", 0, 0, 0) + c("ch") * curl}};
}

Outputs advection(const CellReader& at, const CoefficientReader& c) {
  const double u = at("u", 0, 0, 0);
  return {{"u_next", u - c("cx") * (u - at("u", -1, 0, 0)) - c("cy") * (u - at("u", 0, -1, 0))}};
}

Outputs anisotropic_diffusion(const CellReader& at, const CoefficientReader& c) {
  const double u = at("u", 0, 0, 0);
  const double k = at("k", 0, 0, 0);
  double sum = u;
  for (int axis = 0; axis < 3; ++axis) {
    const double weight = c(axis == 0 ? "ax" : axis == 1 ? "ay" : "az");
    for (const int side : {-1, 1}) {
      const int x = axis == 0 ? side : 0;
      const int y = axis == 1 ? side : 0;
      const int z = axis == 2 ? side : 0;
      sum += weight * (k + at("k", x, y, z)) / 2 * (at("u", x, y, z) - u);
    }
  }
  return {{"u_next", sum}};
}

Outputs flux_divergence(const CellReader& at, const CoefficientReader& c) {
  const std::string velocity[] = {"u", "v", "w"};
  const std::string momentum[] = {"mx", "my", "mz"};
  const std::string inverse[] = {"dx_inverse", "dy_inverse", "dz_inverse"};
  Outputs outputs{{"f_rho", 0}, {"f_mx", 0}, {"f_my", 0}, {"f_mz", 0}, {"f_e", 0}};
  for (int axis = 0; axis < 3; ++axis) {
    for (const auto& [distance, weight] :
         std::map<int, double>{{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}}) {
      const int x = axis == 0 ? distance : 0;
      const int y = axis == 1 ? distance : 0;
      const int z = axis == 2 ? distance : 0;
      const double w = -weight * c(inverse[axis]);
      const double speed = at(velocity[axis], x, y, z);
      const double pressure = at("p", x, y, z);
      outputs["f_rho"] += w * at(momentum[axis], x, y, z);
      for (int i = 0; i < 3; ++i) {
        outputs["f_" + momentum[i]] += w * (at(momentum[i], x, y, z) * speed + (i == axis ? pressure : 0));
      }
      outputs["f_e"] += w * (at("e", x, y, z) + pressure) * speed;
    }
  }
  return outputs;
}

Outputs yee_magnetic(const CellReader& at, const CoefficientReader& c) {
  // H -= ch * curl E, by differences to the next cell.
  const auto forward = [&](const char* f, int x, int y, int z) { return at(f, x, y, z) - at(f, 0, 0, 0); };
  const double curl_x = forward("ez", 0, 1, 0) - forward("ey", 0, 0, 1);
  const double curl_y = forward("ex", 0, 0, 1) - forward("ez", 1, 0, 0);
  const double curl_z = forward("ey", 1, 0, 0) - forward("ex", 0, 1, 0);
  return {{"hx_next", at("hx", 0, 0, 0) - c("ch") * curl_x},
          {"hy_next", at("hy", 0, 0, 0) - c("ch") * curl_y},
          {"hz_next", at("hz", 0, 0, 0) - c("ch") * curl_z}};
}

Outputs yee_electric(const CellReader& at, const CoefficientReader&) {
  // E += ca * curl H, by differences to the cell before.
  const auto backward = [&](const char* f, int x, int y, int z) { return at(f, 0, 0, 0) - at(f, -x, -y, -z); };
  const double ca = at("ca", 0, 0, 0);
  const double curl_x = backward("hz_next", 0, 1, 0) - backward("hy_next", 0, 0, 1);
  const double curl_y = backward("hx_next", 0, 0, 1) - backward("hz_next", 1, 0, 0);
  const double curl_z = backward("hy_next", 1, 0, 0) - backward("hx_next", 0, 1, 0);
  return {{"ex_next", at("ex", 0, 0, 0) + ca * curl_x},
          {"ey_next", at("ey", 0, 0, 0) + ca * curl_y},
          {"ez_next", at("ez", 0, 0, 0) + ca * curl_z}};
}

Outputs shallow_water(const CellReader& at, const CoefficientReader& c) {
  struct State {
    double h, uh, vh;
  };
  struct Flux {
    double mass, x_momentum, y_momentum;
  };
  const auto state = [&](int x, int y) { return State{at("h", x, y, 0), at("uh", x, y, 0), at("vh", x, y, 0)}; };
  const auto along_x = [&](const State& s) {
    return Flux{s.uh, s.uh * s.uh / s.h + 0.5 * c("g") * s.h * s.h, s.uh * s.vh / s.h};
  };
  const auto along_y = [&](const State& s) {
    return Flux{s.vh, s.uh * s.vh / s.h, s.vh * s.vh / s.h + 0.5 * c("g") * s.h * s.h};
  };
  const State west = state(-1, 0), east = state(1, 0), south = state(0, -1), north = state(0, 1);
  const Flux in_x = along_x(west), out_x = along_x(east), in_y = along_y(south), out_y = along_y(north);
  const double k = 0.5 * c("c");
  return {{"h_next", (west.h + east.h + south.h + north.h) / 4 - k * (out_x.mass - in_x.mass + out_y.mass - in_y.mass)},
          {"uh_next", (west.uh + east.uh + south.uh + north.uh) / 4 -
                          k * (out_x.x_momentum - in_x.x_momentum + out_y.x_momentum - in_y.x_momentum)},
          {"vh_next", (west.vh + east.vh + south.vh + north.vh) / 4 -
                          k * (out_x.y_momentum - in_x.y_momentum + out_y.y_momentum - in_y.y_momentum)}};
}

/// First differences of accuracy order 4 to the half cell after or before, times the step in time.
struct StaggeredDifferences {
  const CellReader& at;
  double dt;

  double forward(const std::string& f, int x, int y, int z) const {
    return dt *
           (9.0 / 8 * (at(f, x, y, z) - at(f, 0, 0, 0)) - 1.0 / 24 * (at(f, 2 * x, 2 * y, 2 * z) - at(f, -x, -y, -z)));
  }
  double backward(const std::string& f, int x, int y, int z) const {
    return dt * (9.0 / 8 * (at(f, 0, 0, 0) - at(f, -x, -y, -z)) -
                 1.0 / 24 * (at(f, x, y, z) - at(f, -2 * x, -2 * y, -2 * z)));
  }
};

Outputs elastic_velocities(const CellReader& at, const CoefficientReader& c) {
  const StaggeredDifferences d{at, c("dt")};
  const double b = at("b", 0, 0, 0);
  return {{"vx_next", at("vx", 0, 0, 0) +
                          b * (d.forward("sxx", 1, 0, 0) + d.backward("sxy", 0, 1, 0) + d.backward("sxz", 0, 0, 1))},
          {"vy_next", at("vy", 0, 0, 0) +
                          b * (d.backward("sxy", 1, 0, 0) + d.forward("syy", 0, 1, 0) + d.backward("syz", 0, 0, 1))},
          {"vz_next", at("vz", 0, 0, 0) +
                          b * (d.backward("sxz", 1, 0, 0) + d.backward("syz", 0, 1, 0) + d.forward("szz", 0, 0, 1))}};
}

Outputs elastic_stresses(const CellReader& at, const CoefficientReader& c) {
  const StaggeredDifferences d{at, c("dt")};
  const double lambda = at("lambda", 0, 0, 0), mu = at("mu", 0, 0, 0);
  const double xx = d.backward("vx_next", 1, 0, 0), yy = d.backward("vy_next", 0, 1, 0);
  const double zz = d.backward("vz_next", 0, 0, 1);
  return {{"sxx_next", at("sxx", 0, 0, 0) + (lambda + 2 * mu) * xx + lambda * (yy + zz)},
          {"syy_next", at("syy", 0, 0, 0) + (lambda + 2 * mu) * yy + lambda * (xx + zz)},
          {"szz_next", at("szz", 0, 0, 0) + (lambda + 2 * mu) * zz + lambda * (xx + yy)},
          {"sxy_next", at("sxy", 0, 0, 0) + mu * (d.forward("vx_next", 0, 1, 0) + d.forward("vy_next", 1, 0, 0))},
          {"sxz_next", at("sxz", 0, 0, 0) + mu * (d.forward("vx_next", 0, 0, 1) + d.forward("vz_next", 1, 0, 0))},
          {"syz_next", at("syz", 0, 0, 0) + mu * (d.forward("vy_next", 0, 0, 1) + d.forward("vz_next", 0, 1, 0))}};
}

}  // namespace

const std::map<std::string, std::vector<CellUpdate>>& corpus_reference() {
  static const std::map<std::string, std::vector<CellUpdate>> all = [] {
    std::map<std::string, std::vector<CellUpdate>> corpus{
        {"acoustic3d_o2", {acoustic({-2, 1})}},
        {"acoustic3d_o4", {acoustic({-5.0 / 2, 4.0 / 3, -1.0 / 12})}},
        {"acoustic3d_o8", {acoustic({-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560})}},
        {"advection2d", {advection}},
        {"anisotropic_diffusion3d", {anisotropic_diffusion}},
        {"box27", {box27}},
        {"diffusion3d_19pt", {diffusion19}},
        {"elastic3d", {elastic_velocities, elastic_stresses}},
        {"fdtd2d", {fdtd_electric, fdtd_magnetic}},
        {"flux_divergence3d", {flux_divergence}},
        {"gaussian5x5", {gaussian(2)}},
        {"gaussian9x9", {gaussian(4)}},
        {"gradient2d", {gradient}},
        {"gray_scott2d", {gray_scott}},
        {"heat2d", {heat2d}},
        {"heat3d", {heat3d}},
        {"hotspot2d", {hotspot2d}},
        {"hotspot3d", {hotspot3d}},
        {"jacobi1d", {jacobi1d}},
        {"life", {life}},
        {"poisson2d_9pt", {poisson2d}},
        {"poisson3d_19pt", {poisson3d}},
        {"shallow2d", {shallow_water}},
        {"sobel2d", {sobel}},
        {"yee3d", {yee_magnetic, yee_electric}},
    };
    add_flows(corpus);
    add_media(corpus);
    return corpus;
  }();
  return all;
}

}  // namespace stencil_tune
