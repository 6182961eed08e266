// Gaussian blur of a PNG picture: the 5x5 binomial filter, a Gaussian of variance 1, over and over. Variances add up:
// N passes blur by sqrt(N) cells.
//
// The known answer: N passes of the row 1 4 6 4 1 (over 16) are one pass of the binomial row of order 4 N, along x and
// then along y. Mirrored at the edges, a picture stays mirrored under a symmetric filter, so that this holds up to
// them.
#include "cell_algebra.hpp"
#include "command_line.hpp"
#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace {

namespace st = stencil_tune;
namespace po = boost::program_options;
using namespace examples;

/// Weights from the centre outwards of the binomial row of order 4 * passes.
std::vector<double> binomial_row(std::int64_t passes) {
  const auto half = static_cast<double>(2 * passes);
  std::vector<double> weights;
  for (double k = 0; k <= half; ++k) {
    const double log_choices = std::lgamma(2 * half + 1) - std::lgamma(half + k + 1) - std::lgamma(half - k + 1);
    weights.push_back(std::exp(log_choices - 2 * half * std::log(2.0)));
  }
  return weights;
}

/// The cell that stands for cell i of a line of n, mirrored at both ends as often as needed.
std::size_t mirrored(std::int64_t i, std::int64_t n) {
  const std::int64_t period = 2 * (n - 1);
  const std::int64_t folded = ((i % period) + period) % period;
  return static_cast<std::size_t>(std::min(folded, period - folded));
}

/// Filters `lines` lines of `n` cells, `stride` apart within a line and `next` from one line to the next.
std::vector<double> filter_lines(const std::vector<double>& in, const std::vector<double>& weights, std::size_t lines,
                                 std::size_t next, std::size_t n, std::size_t stride) {
  const auto reach = static_cast<std::int64_t>(weights.size()) - 1;
  const auto cells = static_cast<std::int64_t>(n);
  std::vector<double> extended(n + 2 * static_cast<std::size_t>(reach));
  std::vector<double> out(in.size());
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::int64_t i = -reach; i < cells + reach; ++i) {
      extended[static_cast<std::size_t>(i + reach)] = in[line * next + mirrored(i, cells) * stride];
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double* centre = extended.data() + i + reach;
      double sum = weights[0] * centre[0];
      for (std::int64_t k = 1; k <= reach; ++k) sum += weights[static_cast<std::size_t>(k)] * (centre[-k] + centre[k]);
      out[line * next + i * stride] = sum;
    }
  }
  return out;
}

/// On the CPU, in f64.
std::vector<double> known_answer(const std::vector<double>& plane, std::size_t width, std::size_t height,
                                 std::int64_t passes) {
  const std::vector<double> weights = binomial_row(passes);
  const std::vector<double> rows = filter_lines(plane, weights, height, width, width, 1);
  return filter_lines(rows, weights, width, 1, height, width);
}

/// Rings that grow finer outwards, one colour's beside the other's.
Picture rings(std::size_t width, std::size_t height) {
  Picture picture{.width = width, .height = height, .planes = {}};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double centre_x = static_cast<double>(width) * (0.3 + 0.2 * static_cast<double>(channel));
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const double distance =
            std::hypot(static_cast<double>(x) - centre_x, static_cast<double>(y) - 0.5 * static_cast<double>(height));
        picture.planes[channel].push_back(0.5 + 0.5 * std::cos(distance * distance / static_cast<double>(width)));
      }
    }
  }
  return picture;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;  // a NaN stays
  }
  return largest;
}

bool solve(const po::variables_map& given) {
  CommonOptions options = read_common_options(given, 2);
  st::Extents& extents = options.grid.extents;
  if (options.grid.boundary != st::Boundary::reflect) {
    throw st::Error(st::ErrorCode::invalid_argument, "--boundary is reflect here, which has the known answer");
  }
  const auto input = given["input"].as<std::string>();
  Picture picture = input.empty()
                        ? rings(static_cast<std::size_t>(extents.n[0]), static_cast<std::size_t>(extents.n[1]))
                        : read_png(input);
  extents = {.rank = 2, .n = {static_cast<std::int64_t>(picture.width), static_cast<std::int64_t>(picture.height), 1}};
  if (extents.n[0] < 3 || extents.n[1] < 3) {
    throw st::Error(st::ErrorCode::invalid_argument, "a picture of " + st::to_string(extents) + ": 3x3 is the least");
  }

  Simulation simulation(gaussian_5x5(), options.grid, options.steps, options.database);
  print_problem("gaussian5x5", options, simulation);
  std::printf("blurred by %.2f cells\n", std::sqrt(static_cast<double>(options.steps)));
  double error = 0;
  for (std::vector<double>& plane : picture.planes) {
    const std::vector<double> expected = known_answer(plane, picture.width, picture.height, options.steps);
    simulation.set(0, plane);
    simulation.advance(options.steps);
    plane = simulation.get(0);
    const double difference = largest_difference(plane, expected);
    if (!(difference <= error)) error = difference;
  }
  write_png(options.picture, picture);

  // A pass adds 25 numbers from 0 to 1 with weights that sum to 1: its tree of sums is 6 roundings deep, and averages
  // what was rounded before. The known answer's weights are good to 1e-12.
  const double unit = options.grid.type == st::ElementType::f64 ? 0x1p-53 : 0x1p-24;
  const bool right =
      within("largest error of a cell", error, 12 * unit * static_cast<double>(options.steps + 1) + 1e-10);
  print_rate(simulation.measure_rate());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options =
      common_options({.dims = "4096", .steps = 16, .boundary = "reflect", .picture = "blur.png"});
  options.add_options()("input", po::value<std::string>()->default_value(""),
                        "PNG file to blur; else rings of --dims cells");
  return run_example(argc, argv, "example_blur: Gaussian blur of a picture, against one wide binomial filter", options,
                     solve);
}
