#include "tests/kernels/random/random_run.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

namespace stencil_tune {
namespace {

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc() && end == text.data() + text.size()) return value;
  throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is no number; give a seed and a number of cases", text));
}

std::uint64_t asked(int count, char** words, int place, const char* variable, std::uint64_t otherwise) {
  if (count > place) return number(words[place]);
  const char* value = std::getenv(variable);
  return value ? number(value) : otherwise;
}

}  // namespace

RandomRun random_run(int count, char** words, std::uint64_t usual_cases) {
  const RandomRun run{asked(count, words, 1, "STENCIL_TUNE_SEED", std::random_device()()),
                      asked(count, words, 2, "STENCIL_TUNE_CASES", usual_cases)};
  fmt::print("{} cases from seed {} on\n", run.cases, run.seed);
  std::fflush(stdout);
  return run;
}

}  // namespace stencil_tune
