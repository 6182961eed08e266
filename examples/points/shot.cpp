// An acoustic shot: a source above a layer of rock, and receivers along a line that record what comes back.
//
//     example_shot [CELLS_ON_AN_AXIS [STEPS [RECEIVERS]]]      150, 300 and 100 where nothing is given
//
// The receivers lie between the cells: each has eight of them. The records of fused steps must be those of single
// steps, and the first arrival must come when the wave can. Draws a section of the wave field, shot.pgm, prints the
// records' arrival times, and what the points cost.
//
// Exit status: 0 right, 1 wrong or an error, 77 there is no GPU.
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

namespace {

namespace st = stencil_tune;
using examples::PointRun;

// corpus/acoustic3d_o2.toml, so that what was tuned for that serves here; v: cells a step, over sqrt(c2).
constexpr const char* kWave = R"toml(
name = "acoustic3d_o2"
rank = 3
fields = ["p", "p_prev", "v", "p_next"]
[coefficients]
c2 = 0.1
[update]
p_next = "2*p - p_prev + c2 * v^2 * laplacian(p, accuracy=2)"
[rotate]
p_next = "p"
p = "p_prev"
)toml";

constexpr double kCourant = 0.31622776601683794;  // sqrt(c2): cells a step where v is 1
constexpr double kPeriod = 30;                    // period of the wavelet, in steps
constexpr double kDelay = 40;                     // step of its peak

/// Ricker's wavelet.
std::vector<float> wavelet(std::int64_t steps) {
  std::vector<float> series;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double a = std::pow(std::numbers::pi * (static_cast<double>(step) - kDelay) / kPeriod, 2);
    series.push_back(static_cast<float>((1 - 2 * a) * std::exp(-a)));
  }
  return series;
}

struct Shot {
  std::int64_t n;
  double x, y, z;  ///< position of the source
  st::PointList points;
  std::vector<double> distances;  ///< distances of the receivers, in cells
};

/// Receivers in rows, around the source and some cells below it.
Shot make_shot(const PointRun& run, std::int64_t n, int receivers) {
  const double middle = 0.5 * static_cast<double>(n) + 0.3;
  Shot shot{n, middle, middle, 10.3, {}, {}};
  shot.points.sources = 1;
  shot.points.source_cells = st::spread(0, run.field("p_next"), {shot.x, shot.y, shot.z});
  shot.points.receivers = receivers;
  const int a_row = static_cast<int>(std::ceil(std::sqrt(receivers)));
  const double apart = 0.8 * static_cast<double>(n) / a_row;
  for (int i = 0; i < receivers; ++i) {
    const double x = 0.1 * static_cast<double>(n) + apart * (i % a_row) + 0.6;
    const double y = 0.1 * static_cast<double>(n) + apart * (i / a_row) + 0.4;
    const double z = shot.z + 4.5;
    const auto cells = st::spread(i, run.field("p"), {x, y, z});
    shot.points.receiver_cells.insert(shot.points.receiver_cells.end(), cells.begin(), cells.end());
    shot.distances.push_back(std::hypot(x - shot.x, y - shot.y, z - shot.z));
  }
  return shot;
}

/// Water above rock, in which waves are twice as fast.
std::vector<float> velocities(std::int64_t n) {
  std::vector<float> v(static_cast<std::size_t>(n * n * n), 0.8F);
  std::fill(v.begin() + static_cast<std::ptrdiff_t>(n * n * (n / 2)), v.end(), 1.6F);
  return v;
}

/// The step at which the receiver first has a tenth of its largest value.
std::int64_t arrival(const std::vector<float>& records, int receivers, int receiver) {
  float most = 0;
  std::vector<float> trace;
  for (std::size_t i = static_cast<std::size_t>(receiver); i < records.size();
       i += static_cast<std::size_t>(receivers)) {
    trace.push_back(std::fabs(records[i]));
    most = std::max(most, trace.back());
  }
  const auto first = std::find_if(trace.begin(), trace.end(), [&](float value) { return value > 0.1F * most; });
  return first - trace.begin();
}

/// Whether the wave comes to receivers near the source when it has run there through water.
bool arrivals_right(const Shot& shot, const std::vector<float>& records, std::int64_t steps) {
  bool right = true;
  for (std::size_t i = 0; i < shot.distances.size(); i += std::max<std::size_t>(1, shot.distances.size() / 10)) {
    const double expected = kDelay + shot.distances[i] / (0.8 * kCourant);
    if (expected > 0.8 * static_cast<double>(steps) || shot.distances[i] > 0.3 * static_cast<double>(shot.n)) continue;
    const auto found = static_cast<double>(arrival(records, shot.points.receivers, static_cast<int>(i)));
    const bool good = found > expected - kPeriod && found < expected + kPeriod / 2;
    std::printf("receiver %4zu, %5.1f cells away: the wave arrives at step %3.0f, its middle is due at %5.1f%s\n", i,
                shot.distances[i], found, expected, good ? "" : ": WRONG");
    right = right && good;
  }
  return right;
}

void print_cost(PointRun& run, std::int64_t n, std::int64_t steps) {
  constexpr int kRuns = 7;
  std::vector<double> without, with;
  for (int i = 0; i < kRuns; ++i) {
    without.push_back(run.seconds(steps, false));
    with.push_back(run.seconds(steps, true));
  }
  std::sort(without.begin(), without.end());
  std::sort(with.begin(), with.end());
  const double cells = std::pow(static_cast<double>(n - 2), 3) * static_cast<double>(steps) * 1e-9;
  const double plain = without[kRuns / 2];
  const double points = with[kRuns / 2];
  std::printf("GStencil/s over %d runs of %lld steps: %.1f without points, %.1f with: %.1f %% slower\n", kRuns,
              static_cast<long long>(steps), cells / plain, cells / points, 100 * (points / plain - 1));
}

bool shoot(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 150;
  const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 300;
  const int receivers = argc > 3 ? std::atoi(argv[3]) : 100;
  const st::Stencil stencil = st::parse_definition(kWave, "shot.cpp");
  const st::Extents extents{3, {n, n, n}};
  const std::vector<float> series = wavelet(steps);
  std::vector<float> records[2];
  for (const bool fused : {false, true}) {
    PointRun run(stencil, extents, fused ? 100 : 1);
    const Shot shot = make_shot(run, n, receivers);
    run.place(shot.points);
    run.set(run.field("v"), velocities(n));
    records[fused] = run.advance(steps, series);
    if (!fused) continue;
    std::printf("%s\n%d steps a launch\n", run.evidence().c_str(), run.fused_steps());
    const std::vector<float> p = run.get(run.field("p"));
    std::vector<float> section;
    for (std::int64_t z = 0; z < n; ++z) {
      const auto row = p.begin() + static_cast<std::ptrdiff_t>((z * n + n / 2) * n);
      section.insert(section.end(), row, row + static_cast<std::ptrdiff_t>(n));
    }
    examples::write_pgm("shot.pgm", n, n, section);
    const bool right = arrivals_right(shot, records[1], steps);
    print_cost(run, n, steps);
    if (!right) return false;
  }
  return examples::agree(records[1], records[0]);
}

}  // namespace

int main(int argc, char** argv) { return examples::run_on_gpu(shoot, argc, argv); }
