// Random kernels on the host executor: what nobody has tried yet.
//
//   random_kernels [systems] [SEED [CASES]]     else from STENCIL_TUNE_SEED, STENCIL_TUNE_CASES; else any seed, 200
//                                               cases, or 2000 of systems
//
// systems: whole steps of systems alone, in place of every fifth case.
// Case i has the seed SEED + i and depends on it alone, so that each can be run by itself.
#include "generator/candidates/family.hpp"
#include "stencil_tune/error.hpp"
#include "tests/kernels/random/random_cases.hpp"
#include "tests/kernels/random/random_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::uint64_t kTogether = 8;    // kernels compiled in one go
constexpr std::uint64_t kLineEvery = 40;  // cases: minutes of one core
constexpr std::uint64_t kUsualCases = 200, kUsualSystems = 2000;

struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t wrong = 0;
  std::int64_t cells = 0;
};

class RandomKernels {
 public:
  explicit RandomKernels(bool systems) : systems_(systems) {}

  /// Checks the cases of these seeds together.
  void check(std::uint64_t first, std::uint64_t count) {
    std::vector<RandomCase> cases;
    std::vector<HostCase> host_cases;
    for (std::uint64_t i = 0; i < count; ++i) {
      cases.push_back(systems_ ? random_system_case(first + i) : random_case(first + i));
      host_cases.push_back(cases.back().host_case);
    }
    try {
      const auto verdicts = check_cases_on_host(host_cases);
      for (std::size_t i = 0; i < cases.size(); ++i) tell(first + i, cases[i], verdicts[i]);
    } catch (const Error& error) {
      if (count == 1) tell(first, cases.front(), {cases.front().host_case.tuning, false, error.what(), 0});
      for (std::uint64_t i = 0; count > 1 && i < count; ++i) check(first + i, 1);
    }
  }

  /// Says how many of the `cases` that were asked for are done.
  void report(std::uint64_t cases) const {
    const Tally all = together();
    fmt::print("{} of {} cases, {} cells, {} wrong\n", all.cases, cases, all.cells, all.wrong);
    std::fflush(stdout);
  }

  /// Whether all were right.
  bool summarize() const {
    for (const auto& [family, tally] : tallies_) {
      fmt::print("{:10} {:6} cases, {:9} cells, {} wrong\n", family, tally.cases, tally.cells, tally.wrong);
    }
    return together().wrong == 0;
  }

 private:
  Tally together() const {
    Tally all;
    for (const auto& [family, tally] : tallies_) {
      all.cases += tally.cases;
      all.wrong += tally.wrong;
      all.cells += tally.cells;
    }
    return all;
  }

  void tell(std::uint64_t seed, const RandomCase& random_case, const HostVerdict& verdict) {
    Tally& tally = tallies_[verdict.tuning.family->name];
    ++tally.cases;
    tally.cells += verdict.cells_checked;
    if (verdict.right && verdict.cells_checked > 0) return;
    ++tally.wrong;
    fmt::print("WRONG, again by: random_kernels {}{} 1\n  {}\n  {}\n{}\n", systems_ ? "systems " : "", seed,
               describe(random_case), verdict.right ? "no cell was checked" : verdict.message,
               canonical_text(random_case.planned.stencil));
    std::fflush(stdout);
  }

  bool systems_;
  std::map<std::string_view, Tally> tallies_;
};

int run(int count, char** words) {
  const bool systems = count > 1 && std::string_view(words[1]) == "systems";
  const RandomRun asked =
      random_run(count - (systems ? 1 : 0), words + (systems ? 1 : 0), systems ? kUsualSystems : kUsualCases);
  RandomKernels kernels(systems);
  for (std::uint64_t done = 0; done < asked.cases; done += kTogether) {
    kernels.check(asked.seed + done, std::min(kTogether, asked.cases - done));
    if ((done + kTogether) % kLineEvery == 0) kernels.report(asked.cases);
  }
  return kernels.summarize() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace stencil_tune

int main(int count, char** words) {
  try {
    return stencil_tune::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
