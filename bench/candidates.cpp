// What does a search pay for each candidate that it judges?
//
//   stencil_tune_bench_candidates star3d1r corpus/lbm_d3q19.toml ...
//
// Microseconds on one core for a 256^3 run of 100 steps, and for each of its stages: to say whether a random point of a
// family is legal, to draw one that is, and to say that of it; a legal one's neighbours, each; its cost by the model.
// Then the seconds that making the space and drawing 6000 candidates of it take. The target is 50 us a candidate of 50
// fields.
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "runtime/model/model.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <random>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kPoints = 20000;
constexpr int kLegal = 200;
constexpr int kPool = 6000;

/// The processor's time: other processes may be at work.
template <class Work>
double seconds(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

std::vector<Tuning> random_points(const Family& family, std::mt19937_64& random) {
  std::vector<Tuning> points;
  for (int i = 0; i < kPoints; ++i) {
    Tuning tuning(family);
    for (const Parameter& parameter : family.parameters) {
      std::uniform_int_distribution<std::size_t> place(0, parameter.values.size() - 1);
      parameter.set(tuning, parameter.drawn ? parameter.values[place(random)] : parameter.default_value);
    }
    points.push_back(with_used_values_alone(tuning));
  }
  return points;
}

void print_family(const Family& family, const Space& space, const PerformanceModel& model) {
  std::mt19937_64 random(1);
  const std::vector<Tuning> points = random_points(family, random);
  int legal = 0;
  const double judged = seconds([&] {
    for (const Tuning& tuning : points) legal += space.legal(tuning) ? 1 : 0;
  });
  fmt::print("  {:<10} {:>9.4f} {:>9.2f}", family.name, 100.0 * legal / kPoints, 1e6 * judged / kPoints);
  std::vector<Tuning> drawn;
  const double sampled = seconds([&] {
    for (int i = 0; i < kLegal; ++i) {
      if (const auto tuning = space.sample(family, random)) drawn.push_back(*tuning);
    }
  });
  if (drawn.empty()) return fmt::print("\n");
  const double said = seconds([&] {
    for (const Tuning& tuning : drawn) legal += space.legal(tuning) ? 1 : 0;
  });
  std::size_t beside = 0;
  const double walked = seconds([&] {
    for (const Tuning& tuning : drawn) beside += space.neighbours(tuning).size();
  });
  double cost = 0;
  const double predicted = seconds([&] {
    for (const Tuning& tuning : drawn) cost += model.cost(tuning);
  });
  const auto each = [&](double all) { return 1e6 * all / static_cast<double>(drawn.size()); };
  fmt::print(" {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", each(sampled), each(said),
             1e6 * walked / static_cast<double>(std::max<std::size_t>(1, beside)), each(predicted));
}

void print_problem(const std::string& name, const Problem& problem) {
  const Limits limits = limits_of_architecture("sm_90");
  const PerformanceModel model(problem, limits, find_device_model("h200"));
  fmt::print("{}, {}, {} fields\n", name,
             problem.stage == kWholeStep ? "steps" : fmt::format("stage {}", problem.stage),
             problem.stencil.fields.size());
  fmt::print("  {:<10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "family", "legal, %", "any, us", "drawn, us",
             "legal, us", "beside", "cost, us");
  const Space space(problem, limits);
  for (const Family* family : families()) {
    if (family->serves(problem)) print_family(*family, space, model);
  }
  const double made = seconds([&] { Space(problem, limits); });
  int drawn = 0;
  const double pool = seconds([&] {
    std::mt19937_64 random(1);
    for (int i = 0; i < kPool; ++i) drawn += space.sample(random) ? 1 : 0;
  });
  fmt::print("  space {:.3f} s, {} of {} candidates {:.3f} s\n", made, drawn, kPool, pool);
  std::fflush(stdout);
}

void print_definition(const std::string& path) {
  const Stencil stencil = path.ends_with(".toml") ? load_definition(path) : find_builtin(path);
  const std::int64_t n = stencil.rank == 3 ? 256 : 4096;
  const Extents extents{stencil.rank, {n, stencil.rank > 1 ? n : 1, stencil.rank > 2 ? n : 1}};
  const ElementType type = stencil.element.value_or(ElementType::f32);
  print_problem(path, make_problem(stencil, type, Boundaries{}, extents, 0, 100, kWholeStep));
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()) && stencil.stages.size() > 1; ++stage) {
    print_problem(path, make_problem(stencil, type, Boundaries{}, extents, 0, 1, stage));
  }
}

}  // namespace
}  // namespace stencil_tune

int main(int count, char** words) {
  try {
    for (int i = 1; i < count; ++i) stencil_tune::print_definition(words[i]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
