// The program of docs/tutorial.md: a loop, the tuned kernel in its place, a time loop, and its checks.
//
//     example_tutorial heat.toml [CELLS_ON_AN_AXIS [STEPS]]      512 and 1000 where nothing is given
//
// Exit status: 0 right, 1 wrong or an error, 2 usage, 77 there is no GPU: the loop alone was run and checked.
#include "stencil_tune/stencil_tune.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <span>
#include <string>
#include <vector>

namespace {

namespace st = stencil_tune;

constexpr float kAlpha = 0.1F;
constexpr int kCheckedSteps = 10;

/// The loop that there was before: one step of the heat equation; the outermost cells stay as they are.
void loop(const std::vector<float>& u, std::vector<float>& next, std::size_t n) {
  for (std::size_t z = 1; z < n - 1; ++z) {
    for (std::size_t y = 1; y < n - 1; ++y) {
      for (std::size_t x = 1; x < n - 1; ++x) {
        const std::size_t i = (z * n + y) * n + x;
        next[i] = u[i] + kAlpha * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n] - 6 * u[i]);
      }
    }
  }
}

/// A product of sines between cold walls: it keeps its shape and decays by `decay_a_step`.
std::vector<float> first_state(std::size_t n) {
  std::vector<double> sine;
  for (std::size_t i = 0; i < n; ++i) {
    sine.push_back(std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1)));
  }
  std::vector<float> u(n * n * n);
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = static_cast<float>(sine[i % n] * sine[i / n % n] * sine[i / n / n]);
  }
  return u;
}

double decay_a_step(std::size_t n) {
  return 1 - 12.0 * kAlpha * std::pow(std::sin(std::numbers::pi / static_cast<double>(n - 1) / 2), 2);
}

/// Prints the largest difference to `factor` times the other field; whether `steps` steps of rounding explain it.
bool agrees(const char* what, const std::vector<float>& u, const std::vector<float>& other, double factor, int steps) {
  double worst = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double error = std::fabs(u[i] - factor * static_cast<double>(other[i]));
    if (!(error <= worst)) worst = error;  // a NaN stays
  }
  const bool right = worst < 1.2e-7 * (steps + 1);
  std::printf("%s: largest difference of a cell after %d steps %.2g%s\n", what, steps, worst, right ? "" : "  WRONG");
  return right;
}

/// The tuned kernel on the first GPU.
class TunedHeat {
 public:
  TunedHeat(const st::Stencil& stencil, std::int64_t n, int steps)
      : u_({.rank = 3, .n = {n, n, n}}, st::ElementType::f32, n),
        next_({.rank = 3, .n = {n, n, n}}, st::ElementType::f32, n),
        kernel_(library_.lookup({.stencil = stencil, .extents = {.rank = 3, .n = {n, n, n}}, .steps = steps})) {
    kernel_.prepare();
  }

  void set(const std::vector<float>& cells) {
    fields_[0] = u_.data();
    fields_[1] = next_.data();
    u_.copy_from(std::as_bytes(std::span(cells)));
  }

  /// Asynchronous. Buffers take turns: afterwards fields_[0] is the newest state.
  void advance(int steps) {
    const double alpha = kAlpha;
    kernel_.advance(nullptr, fields_, steps, {&alpha, 1});
  }

  /// GStencil/s of a whole run.
  double rate(int steps) {
    using Clock = std::chrono::steady_clock;
    context_.synchronize();
    const Clock::time_point begin = Clock::now();
    advance(steps);
    context_.synchronize();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return static_cast<double>(kernel_.updated_box().cells()) * steps / seconds / 1e9;
  }

  std::vector<float> get() const {
    const st::DeviceField& newest = fields_[0] == u_.data() ? u_ : next_;
    std::vector<float> cells(newest.bytes() / sizeof(float));
    newest.copy_to(std::as_writable_bytes(std::span(cells)));
    return cells;
  }

  const st::Kernel& kernel() const { return kernel_; }

 private:
  st::DeviceContext context_;  // before the fields, which live in it
  st::Library library_;
  st::DeviceField u_;
  st::DeviceField next_;
  st::Kernel kernel_;
  void* fields_[2] = {nullptr, nullptr};
};

/// The loop for a few steps, and what it should give. Returns its result.
std::vector<float> run_loop(const std::vector<float>& start, std::size_t n, bool& right) {
  std::vector<float> u = start;
  std::vector<float> next = start;  // the walls stand in both buffers
  for (int step = 0; step < kCheckedSteps; ++step) {
    loop(u, next, n);
    u.swap(next);
  }
  right = agrees("the loop beside the exact decay", u, start, std::pow(decay_a_step(n), kCheckedSteps), kCheckedSteps);
  return u;
}

bool run_tuned(const st::Stencil& stencil, const std::vector<float>& start, const std::vector<float>& expected,
               std::size_t n, int steps) {
  TunedHeat heat(stencil, static_cast<std::int64_t>(n), steps);
  std::printf("kernel: %s\n", heat.kernel().evidence().sentence().c_str());
  heat.set(start);
  heat.advance(kCheckedSteps);
  bool right = agrees("the tuned kernel beside the loop", heat.get(), expected, 1, kCheckedSteps);

  heat.set(start);
  heat.advance(steps);
  right &= agrees("the whole run beside the exact decay", heat.get(), start, std::pow(decay_a_step(n), steps), steps);

  TunedHeat single(stencil, static_cast<std::int64_t>(n), 1);
  single.set(start);
  const double fused_rate = heat.rate(steps);
  const double single_rate = single.rate(steps);
  std::printf("%d steps, %d a launch: %.1f GStencil/s; one a launch: %.1f; fusing them gains %.2f x\n", steps,
              heat.kernel().fused_steps(), fused_rate, single_rate, fused_rate / single_rate);
  return right;
}

int run(const std::string& definition, std::size_t n, int steps) {
  const st::Stencil stencil = st::load_stencil(definition);
  const st::StageFacts facts = st::analyse(stencil, 0);
  std::printf("%s: %zu points, %d operations and at least %zu bytes an update\n", stencil.name.c_str(),
              facts.taps.size(), facts.operations, st::minimal_bytes(facts, st::ElementType::f32));
  const std::vector<float> start = first_state(n);
  bool right = false;
  const std::vector<float> expected = run_loop(start, n, right);
  if (!right) return 1;
  try {
    return run_tuned(stencil, start, expected, n, steps) ? 0 : 1;
  } catch (const st::Error& error) {
    if (error.code() != st::ErrorCode::no_device && error.code() != st::ErrorCode::missing_library) throw;
    std::printf("no GPU, so that the loop alone was run: %s\n", error.what());
    return 77;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 2 ? std::atoi(argv[2]) : 512;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 1000;
  if (argc < 2 || n < 4 || steps < 1) {
    std::fprintf(stderr, "usage: example_tutorial heat.toml [CELLS_ON_AN_AXIS [STEPS]], from 4 cells and 1 step on\n");
    return 2;
  }
  try {
    return run(argv[1], static_cast<std::size_t>(n), steps);
  } catch (const st::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
