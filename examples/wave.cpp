// The acoustic wave equation p_tt = v^2 (p_xx + p_yy + p_zz) between rigid walls or in a periodic box: a standing wave
// p = cos(w t) times a product of cosines, w^2 = v^2 sum of k_a^2.
//
// The two-level scheme keeps its shape and amplitude, and gets its phase wrong by a known amount: to leading order time
// stepping makes it run ahead by w^3/24 a step, and differences of order q make it lag by
//   v^2 c_q sum of k_a^(q+2) / (2 w),   c_q = 2 ((q/2)!)^2 / (q+2)!
// (G. Cohen, Higher-Order Numerical Methods for Transient Wave Equations, 2002, chapter 5), lengths in cells and times
// in steps. A scheme of a lower order than it claims shows at once.
#include "cell_algebra.hpp"
#include "command_line.hpp"
#include "eigenmode.hpp"
#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace {

namespace st = stencil_tune;
namespace po = boost::program_options;
using namespace examples;

/// Radians a step.
struct Frequency {
  double analytic = 0;
  double ahead = 0;  ///< what time stepping adds
  double lag = 0;    ///< what differences in space take away

  double numerical() const { return analytic + ahead - lag; }
};

Frequency expected_frequency(const Eigenmode& mode, double courant, int order) {
  const double c_q = 2 * std::pow(std::tgamma(order / 2 + 1), 2) / std::tgamma(order + 3);
  double squares = 0;
  double powers = 0;
  for (const double k : mode.wave_number) {
    squares += k * k;
    powers += std::pow(k, order + 2);
  }
  const double w = courant * std::sqrt(squares);
  return {.analytic = w, .ahead = w * w * w / 24, .lag = courant * courant * c_q * powers / (2 * w)};
}

/// Where the oscillation is, from the amplitudes at the last two steps.
struct Oscillation {
  double size = 0;
  double phase = 0;
};

Oscillation oscillation(double now, double before, double frequency) {
  const double sine = (before - now * std::cos(frequency)) / std::sin(frequency);
  return {.size = std::hypot(now, sine), .phase = std::atan2(sine, now)};
}

double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

bool check(const Projection& now, const Projection& before, const Frequency& frequency, double largest_k,
           std::int64_t steps, st::ElementType type) {
  const auto count = static_cast<double>(steps);
  const Oscillation found = oscillation(now.amplitude, before.amplitude, frequency.numerical());
  const double phase_error = wrapped(found.phase - frequency.analytic * count);
  const double predicted = (frequency.ahead - frequency.lag) * count;
  std::printf(
      "phase error %.6g rad after %.1f periods; the order of the scheme predicts %.6g (%.3g in time, %.3g in "
      "space)\n",
      phase_error, frequency.analytic * count / (2 * std::numbers::pi), wrapped(predicted), frequency.ahead * count,
      -frequency.lag * count);
  // Terms beyond the leading ones are smaller by about k^2 / 2. The first step starts from the analytic solution, which
  // shifts the phase once, and the amplitude by the square of that. Rounding is half a unit in the last place a few
  // times a step, which an oscillator carries on as 1 / frequency.
  const double unit = type == st::ElementType::f64 ? 0x1p-53 : 0x1p-24;
  const double rounding = 2 * unit * (count + 1) / frequency.analytic;
  const double start = 2 * (frequency.ahead + frequency.lag) / frequency.analytic;
  const double beyond = 0.5 * largest_k * largest_k * (frequency.ahead + frequency.lag) * count;
  const bool phase_right =
      within("phase beside the prediction", std::fabs(wrapped(phase_error - predicted)), beyond + start + rounding);
  const bool size_right = within("error of the amplitude", std::fabs(found.size - 1), 2 * start * start + rounding);
  const bool shape_right = within("what is not the mode", now.residual, rounding);
  return phase_right && size_right && shape_right;
}

bool solve(const po::variables_map& given) {
  const CommonOptions options = read_common_options(given, given["rank"].as<int>());
  const Grid& grid = options.grid;
  const auto order = given["order"].as<int>();
  const auto courant = given["courant"].as<double>();
  const st::Stencil stencil = acoustic_wave(grid.extents.rank, order);
  if (grid.boundary != st::Boundary::reflect && grid.boundary != st::Boundary::periodic) {
    throw st::Error(st::ErrorCode::invalid_argument, "--boundary is reflect (rigid walls) or periodic");
  }
  if (!(courant > 0 && courant <= 0.4)) {
    throw st::Error(st::ErrorCode::invalid_argument,
                    "--courant is above 0 and, to be stable at each order, at most 0.4");
  }
  const Eigenmode mode =
      make_eigenmode(grid.extents, grid.boundary, Trigonometric::cosine, given["wavelength"].as<double>());
  const Frequency frequency = expected_frequency(mode, courant, order);

  enum Field : std::size_t { p, p_prev, v };  // in the order of the stencil's
  Simulation simulation(stencil, grid, options.steps, options.database);
  print_problem(stencil.name, options, simulation);
  simulation.use_coefficients({courant * courant});
  simulation.set(p, mode.values(1));
  simulation.set(p_prev, mode.values(std::cos(frequency.analytic)));
  simulation.set(v, std::vector<double>(static_cast<std::size_t>(grid.extents.cells()), 1.0));
  simulation.advance(options.steps);

  const Projection before = project(simulation.get(p_prev), mode);
  const std::vector<double> pressure = simulation.get(p);
  const double largest_k = *std::max_element(mode.wave_number.begin(), mode.wave_number.end());
  const bool right = check(project(pressure, mode), before, frequency, largest_k, options.steps, grid.type);
  write_field(options.picture, mode.along[0].size(), mode.along[1].size(), strongest_plane(pressure, mode));
  print_rate(simulation.measure_rate());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options =
      common_options({.dims = "512", .steps = 1000, .boundary = "reflect", .picture = "wave.png"});
  auto add = options.add_options();
  add("rank", po::value<int>()->default_value(3), "axes, where --dims is one number: 2 or 3");
  add("order", po::value<int>()->default_value(4), "accuracy order in space: 2, 4, 6 or 8");
  add("courant", po::value<double>()->default_value(0.3, "0.3"), "v dt / h");
  add("wavelength", po::value<double>()->default_value(32), "of the mode, in cells; the nearest that fits is taken");
  return run_example(argc, argv, "example_wave: a standing acoustic wave in 2D or 3D, against the analytic solution",
                     options, solve);
}
