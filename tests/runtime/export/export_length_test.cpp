// How long the exports of the winners that ship are: a kernel and one launcher.
#include "generator/candidates/family.hpp"
#include "runtime/export/export.hpp"
#include "runtime/library/pretuned.hpp"
#include "tests/runtime/library/corpus_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace stencil_tune {
namespace {

/// Stencils of the corpus, by key.
std::map<std::string, Stencil> corpus_by_key() {
  std::map<std::string, Stencil> stencils;
  for (const std::string& name : corpus_names()) {
    Stencil stencil = corpus_stencil(name);
    const std::string key = stencil_key(stencil);
    stencils.emplace(key, std::move(stencil));
  }
  return stencils;
}

struct Length {
  std::ptrdiff_t lines = 0;
  std::ptrdiff_t code = 0;  ///< of these: neither blank nor a comment alone
};

Length length_of(const std::string& text) {
  Length length;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t first = text.find_first_not_of(' ', at);
    ++length.lines;
    if (first < end && text.compare(first, 2, "//") != 0) ++length.code;
    at = end + 1;
  }
  return length;
}

/// The most that any winner of a kind may take: of direct loads under 600 lines.
Length limit_of(const Tuning& tuning) {
  if (tuning.family->name == "temporal") {
    const bool more = tuning.copies == Copies::tma || tuning.cluster > 1;
    if (tuning.keeps == Keeps::sums) return more ? Length{2165, 1585} : Length{1965, 1435};
    return more ? Length{1885, 1350} : Length{1680, 1200};
  }
  if (tuning.family->name == "system") return {2033, 1530};
  if (tuning.family->name == "direct") return {599, 425};
  if (tuning.planes == Planes::ring) return tuning.keeps == Keeps::sums ? Length{1190, 875} : Length{905, 650};
  return tuning.keeps == Keeps::sums ? Length{900, 685} : Length{696, 505};
}

TEST(ExportLength, OfEveryWinnerThatShipsStaysWithinItsLimit) {
  const auto corpus = corpus_by_key();
  for (const WinnerRecord& winner : with_pretuned({}, "")) {
    const ProblemKey& key = winner.trial.problem;
    const auto known = corpus.find(key.stencil_key);
    const Stencil stencil = known != corpus.end() ? known->second : find_builtin(key.stencil_name);
    const Problem problem =
        make_problem(stencil, key.type, key.boundaries, key.extents, key.pitch, key.steps, key.stage);
    const Tuning tuning = parse_code(winner.trial.code);
    const Length length = length_of(export_kernel(problem, tuning, {.name = "heat"}).source);
    EXPECT_LE(length.lines, limit_of(tuning).lines) << winner.trial.code << " of " << key.stencil_name;
    EXPECT_LE(length.code, limit_of(tuning).code) << winner.trial.code << " of " << key.stencil_name;
  }
}

}  // namespace
}  // namespace stencil_tune
