// How long from a definition's text to the source of a first candidate?
//
//   stencil_tune_bench_definitions corpus/*.toml
//
// The first time in a process and the median of many, in milliseconds, for the whole way: file read and parsed, facts
// derived, a legal candidate found for the first family that has one, source generated. The target is 10 ms.
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kRepeats = 51;

std::size_t source_bytes(const std::string& path) {
  const Stencil stencil = load_definition(path);
  const Extents extents{stencil.rank, {512, stencil.rank > 1 ? 512 : 1, stencil.rank > 2 ? 512 : 1}};
  const Problem problem = make_problem(stencil, stencil.element.value_or(ElementType::f32), Boundaries{}, extents);
  for (const Family* family : families()) {
    const auto tuning = default_candidate(*family, problem, limits_of_architecture("sm_90"));
    if (tuning) return generate({problem, *tuning}).text.size();
  }
  throw Error(ErrorCode::illegal_candidate, path + ": no family serves it");
}

double milliseconds(const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  source_bytes(path);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void print_times(const std::string& path) {
  const double first = milliseconds(path);
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(milliseconds(path));
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  fmt::print("{:<40} {:>8.2f} {:>8.2f} {:>8}\n", path, first, times[kRepeats / 2], source_bytes(path));
}

}  // namespace
}  // namespace stencil_tune

int main(int count, char** words) {
  try {
    fmt::print("{:<40} {:>8} {:>8} {:>8}\n", "definition", "first ms", "median", "bytes");
    for (int i = 1; i < count; ++i) stencil_tune::print_times(words[i]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
