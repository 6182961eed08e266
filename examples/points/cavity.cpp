// A cavity with walls that conduct perfectly: Maxwell's equations in two dimensions on Yee's grid, a current at a
// point, and receivers.
//
//     example_yee_cavity [CELLS_ON_AN_AXIS [STEPS]]      201 and 60 times as many where nothing is given
//
// The current drives the lowest mode, half a wave along each axis. The receivers' records of fused steps must be those
// of single steps, and the field must ring with the mode's frequency when the current is over. Draws the electric
// field, cavity.pgm, and prints what the receivers saw.
//
// The walls: boundary hold keeps the electric field at the low ends, and at the high ends cells that it cannot enter
// (ca is 0) do.
//
// Exit status: 0 right, 1 wrong or an error, 77 there is no GPU.
#include "run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

namespace {

namespace st = stencil_tune;
using examples::PointRun;

constexpr const char* kYee = R"toml(
name = "yee2d"
rank = 2
fields = ["ez", "hx", "hy", "ca", "ez_next", "hx_next", "hy_next"]
[coefficients]
ch = 0.4
[[stage]]
hx_next = "hx - ch*d_y_forward(ez)"
hy_next = "hy + ch*d_x_forward(ez)"
[[stage]]
ez_next = "ez + ca*(d_x_backward(hy_next) - d_y_backward(hx_next))"
[rotate]
ez_next = "ez"
hx_next = "hx"
hy_next = "hy"
)toml";

constexpr float kCa = 0.4F;
constexpr double kSpeed = 0.4;  // sqrt(ca * ch): cells a step

/// Radians a step of the mode with one half wave along x and along y.
double frequency(std::int64_t n) { return kSpeed * std::numbers::pi * std::sqrt(2.0) / static_cast<double>(n - 1); }

/// A pulse of the mode's frequency, some periods long.
std::vector<float> current(std::int64_t steps, std::int64_t n) {
  const double w = frequency(n);
  const double middle = 0.3 * static_cast<double>(steps);
  const double width = 0.09 * static_cast<double>(steps);
  std::vector<float> series;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double t = static_cast<double>(step) - middle;
    series.push_back(static_cast<float>(0.1 * std::sin(w * t) * std::exp(-t * t / (2 * width * width))));
  }
  return series;
}

/// The current in the middle, and three receivers off it, between the cells.
st::PointList make_points(const PointRun& run, std::int64_t n) {
  const double length = static_cast<double>(n);
  st::PointList points;
  points.sources = 1;
  points.source_cells = {{0, run.field("ez_next"), {n / 2, n / 2, 0}, 1}};
  for (const std::array<double, 3>& place : {std::array{0.3 * length, 0.5 * length, 0.0},
                                             {0.55 * length, 0.4 * length, 0.0},
                                             {0.5 * length, 0.7 * length, 0.0}}) {
    const auto cells = st::spread(points.receivers++, run.field("ez"), place);
    points.receiver_cells.insert(points.receiver_cells.end(), cells.begin(), cells.end());
  }
  return points;
}

/// 0 in the cells of the high walls.
std::vector<float> coefficient(std::int64_t n) {
  std::vector<float> ca(static_cast<std::size_t>(n * n), kCa);
  for (std::int64_t i = 0; i < n; ++i) {
    ca[static_cast<std::size_t>(i * n + n - 1)] = 0;
    ca[static_cast<std::size_t>((n - 1) * n + i)] = 0;
  }
  return ca;
}

/// Radians a step between the first and the last upward passage through 0 of what the receiver records at the end.
double found_frequency(const std::vector<float>& records, int receivers) {
  std::vector<double> passages;
  const std::size_t stride = static_cast<std::size_t>(receivers);
  const std::size_t rows = records.size() / stride;
  for (std::size_t step = rows * 3 / 5; step + 1 < rows; ++step) {
    const double before = records[step * stride];
    const double after = records[(step + 1) * stride];
    if (before < 0 && after >= 0) passages.push_back(static_cast<double>(step) - before / (after - before));
  }
  if (passages.size() < 2) return 0;
  return 2 * std::numbers::pi * static_cast<double>(passages.size() - 1) / (passages.back() - passages.front());
}

bool rings_right(const std::vector<float>& records, int receivers, std::int64_t n) {
  const double expected = frequency(n);
  const double found = found_frequency(records, receivers);
  const bool right = std::fabs(found / expected - 1) < 0.05;
  std::printf("the cavity rings with %.5f radians a step; the mode has %.5f: %s\n", found, expected,
              right ? "right" : "WRONG");
  return right;
}

bool solve(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 201;
  const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 60 * n;
  const st::Stencil stencil = st::parse_definition(kYee, "cavity.cpp");
  const st::Extents extents{2, {n, n, 1}};
  const std::vector<float> series = current(steps, n);
  std::vector<float> records[2];
  for (const bool fused : {false, true}) {
    PointRun run(stencil, extents, fused ? 100 : 1);
    const st::PointList points = make_points(run, n);
    run.place(points);
    run.set(run.field("ca"), coefficient(n));
    records[fused] = run.advance(steps, series);
    if (!fused) continue;
    std::printf("%s\n%d steps a launch\n", run.evidence().c_str(), run.fused_steps());
    examples::write_pgm("cavity.pgm", n, n, run.get(run.field("ez")));
    for (std::int64_t step = 0; step < steps; step += std::max<std::int64_t>(1, steps / 10)) {
      std::printf("step %5lld: ez %+.5f %+.5f %+.5f\n", static_cast<long long>(step),
                  records[1][static_cast<std::size_t>(3 * step)], records[1][static_cast<std::size_t>(3 * step + 1)],
                  records[1][static_cast<std::size_t>(3 * step + 2)]);
    }
    if (!rings_right(records[1], points.receivers, n)) return false;
  }
  return examples::agree(records[1], records[0]);
}

}  // namespace

int main(int argc, char** argv) { return examples::run_on_gpu(solve, argc, argv); }
