// The heat equation u_t = k (u_xx + u_yy + u_zz) in a box: a product of sines keeps its shape and decays.
//
// Forward Euler with the 7-point Laplacian multiplies it in each step by exactly
//   g = 1 - 4 alpha sum over the axes of sin^2(k_a / 2),   alpha = k dt / h^2, k_a radians a cell
// (R. J. LeVeque, Finite Difference Methods for Ordinary and Partial Differential Equations, 2007, chapter 9);
// the equation itself by exp(-alpha sum k_a^2).
#include "command_line.hpp"
#include "eigenmode.hpp"
#include "picture.hpp"

#include <cmath>
#include <cstdio>

namespace {

namespace st = stencil_tune;
namespace po = boost::program_options;
using namespace examples;

struct Decay {
  double discrete = 0;  ///< the scheme's factor after all steps
  double analytic = 0;  ///< the equation's
};

Decay expected_decay(const Eigenmode& mode, double alpha, std::int64_t steps) {
  double sines = 0;
  double squares = 0;
  for (const double k : mode.wave_number) {
    sines += std::pow(std::sin(k / 2), 2);
    squares += k * k;
  }
  const auto count = static_cast<double>(steps);
  return {.discrete = std::pow(1 - 4 * alpha * sines, count), .analytic = std::exp(-alpha * squares * count)};
}

bool solve(const po::variables_map& given) {
  const CommonOptions options = read_common_options(given, 3);
  const Grid& grid = options.grid;
  const auto alpha = given["alpha"].as<double>();
  if (grid.extents.rank != 3) throw st::Error(st::ErrorCode::invalid_argument, "--dims takes three extents, or one");
  if (grid.boundary != st::Boundary::hold && grid.boundary != st::Boundary::periodic) {
    throw st::Error(st::ErrorCode::invalid_argument, "--boundary is hold (cold walls) or periodic");
  }
  if (!(alpha > 0 && alpha <= 1.0 / 6)) {
    throw st::Error(st::ErrorCode::invalid_argument, "--alpha is above 0 and, to be stable, at most 1/6");
  }
  const Eigenmode mode =
      make_eigenmode(grid.extents, grid.boundary, Trigonometric::sine, given["wavelength"].as<double>());

  Simulation simulation(st::find_builtin("heat3d"), grid, options.steps, options.database);
  print_problem("heat3d", options, simulation);
  simulation.use_coefficients({alpha});
  simulation.set(0, mode.values(1));
  simulation.advance(options.steps);
  const std::vector<double> u = simulation.get(0);

  const Projection result = project(u, mode);
  const Decay decay = expected_decay(mode, alpha, options.steps);
  std::printf("decayed to %.9g; the scheme says %.9g, the equation %.9g\n", result.amplitude, decay.discrete,
              decay.analytic);
  // A step rounds a few times, by half a unit in the last place at most, and never amplifies what was rounded before.
  const double unit = grid.type == st::ElementType::f64 ? 0x1p-53 : 0x1p-24;
  const double rounding = 2 * unit * static_cast<double>(options.steps + 1);
  const bool amplitude_right = within("error of the amplitude", std::fabs(result.amplitude - decay.discrete), rounding);
  const bool shape_right = within("what is not the mode", result.residual, rounding);

  write_field(options.picture, mode.along[0].size(), mode.along[1].size(), strongest_plane(u, mode));
  print_rate(simulation.measure_rate());
  return amplitude_right && shape_right;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options =
      common_options({.dims = "512", .steps = 1000, .boundary = "hold", .picture = "heat3d.png"});
  options.add_options()("alpha", po::value<double>()->default_value(0.08, "0.08"), "diffusivity * dt / h^2")(
      "wavelength", po::value<double>()->default_value(128), "of the mode, in cells; the nearest that fits is taken");
  return run_example(argc, argv, "example_heat3d: heat conduction in a box, against the exact decay of a mode", options,
                     solve);
}
