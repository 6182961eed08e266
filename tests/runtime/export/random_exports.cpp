// Random kernels through the compilers: NVRTC for each architecture that they keep the limits of, and as exported files
// with their self-check through nvcc, warnings being errors.
//
//   random_exports [SEED [CASES]]     else from STENCIL_TUNE_SEED, STENCIL_TUNE_CASES; else any seed, 40 cases
//
// Case i is the case of random_kernels with seed SEED + i. Every fourth is exported, for nvcc takes seconds: launcher
// and fields are named with words that the file itself uses.
#include "generator/candidates/constraints.hpp"
#include "runtime/compile/nvrtc_compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tests/kernels/random/random_cases.hpp"
#include "tests/kernels/random/random_draw.hpp"
#include "tests/kernels/random/random_run.hpp"
#include "tests/runtime/export/corpus_export.hpp"
#include "tests/runtime/export/exported_launcher.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::uint64_t kExportedOneIn = 4;
constexpr int kSmallGrids = 40;

std::string exported(const Problem& problem, const RandomCase& random, const std::string& launcher) {
  const ExportOptions options{
      .name = launcher, .architecture = random.architecture, .with_main = problem.stencil.storages.empty()};
  return export_kernel(problem, random.host_case.tuning, options).source;
}

/// The identifiers of the launcher and the self-check.
std::vector<std::string> words_of(const std::string& source) {
  const std::string text = source.substr(source.find("---- the launcher"));
  const std::regex identifier("[A-Za-z][A-Za-z0-9_]*");
  std::set<std::string> words;
  for (std::sregex_iterator word(text.begin(), text.end(), identifier), end; word != end; ++word)
    words.insert(word->str());
  return {words.begin(), words.end()};
}

/// The export with fields and launcher named as things that it uses.
std::string named_awkwardly(const RandomCase& random, Draw draw) {
  const std::vector<std::string> words = words_of(exported(random.planned, random, "launcher"));
  Problem problem = random.planned;
  for (std::string& field : problem.stencil.fields) field = draw.one_of(words);
  return exported(problem, random, export_name(draw.one_of(words)));
}

Problem small_grid(const Problem& planned, Draw& draw) {
  Problem grid = planned;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.extents.rank); ++axis) {
    grid.extents.n[axis] = draw.between(std::int64_t{1}, draw.one_of({8, 70, 300}));
  }
  const std::int64_t unit = draw.one_of({1, 4, 16});
  grid.pitch = (grid.extents.n[0] + unit - 1) / unit * unit + draw.one_of({0, 0, 1, 16});
  return grid;
}

std::string launcher_complaint(const RandomCase& random, Draw draw) {
  const ExportedLauncher launcher(random.planned, random.host_case.tuning);
  std::vector<Problem> grids = random.host_case.problems;
  for (int i = 0; i < kSmallGrids; ++i) grids.push_back(small_grid(random.planned, draw));
  for (const Problem& grid : grids) {
    const std::string complaint = launcher.complaint(grid);
    if (!complaint.empty()) return fmt::format("{} on {}, pitch {}", complaint, to_string(grid.extents), grid.pitch);
  }
  return {};
}

class RandomExports {
 public:
  void check(std::uint64_t seed) {
    const RandomCase random = random_case(seed);
    for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
      if (!is_legal({random.planned, random.host_case.tuning}, limits_of_architecture(architecture))) continue;
      count(fmt::format("NVRTC {}", architecture), seed, random, compile(random, architecture));
    }
    if (seed % kExportedOneIn != 0) return;
    const std::string source = named_awkwardly(random, Draw(seed));
    count(fmt::format("nvcc {}", random.architecture), seed, random, nvcc_complaints(source, random.architecture));
    count("launcher", seed, random, launcher_complaint(random, Draw(seed)));
  }

  /// Whether all compiled.
  bool summarize() const {
    bool right = true;
    for (const auto& [compiler, tally] : tallies_) {
      fmt::print("{:12} {:6} kernels, {} failed\n", compiler, tally.kernels, tally.failed);
      right = right && tally.failed == 0;
    }
    return right;
  }

 private:
  struct Tally {
    int kernels = 0;
    int failed = 0;
  };

  /// What NVRTC says against it; empty when it compiles.
  std::string compile(const RandomCase& random, std::string_view architecture) {
    try {
      compiler_->compile(generate({random.planned, random.host_case.tuning}), architecture);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  void count(const std::string& compiler, std::uint64_t seed, const RandomCase& random, const std::string& complaint) {
    Tally& tally = tallies_[compiler];
    ++tally.kernels;
    if (complaint.empty()) return;
    ++tally.failed;
    fmt::print("FAILED with {}, again by: random_exports {} 1\n  {}\n{}\n", compiler, seed, describe(random),
               complaint);
    std::fflush(stdout);
  }

  std::unique_ptr<Compiler> compiler_ = open_nvrtc();
  std::map<std::string, Tally> tallies_;
};

int run(int count, char** words) {
  if (!has_nvcc()) throw Error(ErrorCode::missing_library, "nvcc is not on the PATH; this check is about it");
  const RandomRun asked = random_run(count, words, 40);
  RandomExports exports;
  for (std::uint64_t i = 0; i < asked.cases; ++i) exports.check(asked.seed + i);
  return exports.summarize() ? EXIT_SUCCESS : EXIT_FAILURE;
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
