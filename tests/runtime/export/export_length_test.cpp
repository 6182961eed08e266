// How long the exports of the winners that ship are: a kernel and one launcher, or two for runs of systems.
#include "generator/candidates/family.hpp"
#include "generator/definition/corpus.hpp"
#include "runtime/export/export.hpp"
#include "runtime/library/lookup/pretuned.hpp"
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
    Stencil stencil = corpus(name);
    const std::string key = stencil_key(stencil);
    stencils.emplace(key, std::move(stencil));
  }
  return stencils;
}

struct Length {
  std::ptrdiff_t lines = 0;
  std::ptrdiff_t code = 0;  ///< lines that are neither blank nor a comment alone
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

/// What a stencil itself says, longer with each of its outputs, is no kernel's doing. That of a system, whose stages
/// the levels of its kernel name, stays.
std::string without_the_stencil(std::string text) {
  const std::size_t begin = text.find("struct Stencil {");
  if (begin == std::string::npos) return text;
  return text.erase(begin, text.find("\n};", begin) - begin);
}

bool has_pipeline(const Tuning& tuning) { return tuning.planes == Planes::ring; }
bool has_fused_steps(const Tuning& tuning) { return tuning.family->name == "temporal"; }

bool in_strips(const Tuning& tuning) {
  return tuning.order == BlockOrder::raster || tuning.order == BlockOrder::raster32;
}

/// The most that any winner of a kind may take, but for a rim, shares, and of systems the order of tiles.
Length limit_of_kind(const Tuning& tuning) {
  if (has_fused_steps(tuning)) {
    const bool by_tma = tuning.copies == Copies::tma, in_clusters = tuning.cluster > 1;
    const bool more = by_tma || in_clusters;
    if (tuning.keeps == Keeps::sums) return more ? Length{2045, 1440} : Length{1835, 1270};
    if (by_tma && in_clusters) return {1860, 1315};
    return more ? Length{1860, 1290} : Length{1675, 1135};
  }
  if (tuning.family->name == "system")
    return {2125, 1545};  // with what outputs keep of their boxes, updates along axes, which cells an input has
  if (tuning.family->name == "systolic") return {1180, 840};
  if (tuning.family->name == "direct") return {515, 360};
  if (has_pipeline(tuning)) return tuning.keeps == Keeps::sums ? Length{775, 565} : Length{665, 475};
  return tuning.keeps == Keeps::sums ? Length{615, 435} : Length{525, 365};
}

Length limit_of(const Problem& problem, const Tuning& tuning) {
  constexpr Length kRim{160, 135};        // copying the rows beyond a tile, and publishing them
  constexpr Length kShares{105, 45};      // which planes of which tiles are a block's
  constexpr Length kStrips{9, 9};         // which tile a block of a strip has
  constexpr Length kPlaced{130, 72};      // profiles, layers: what updates ask for that is no field's cell
  constexpr Length kManyRows{15, 20};     // which rows a thread reads that reads in three axes by order 8
  constexpr Length kField{4, 6};          // an argument of the kernel's
  constexpr std::ptrdiff_t kFields = 12;  // more than these take lines of their own
  Length limit = limit_of_kind(tuning);
  if (tuning.rim == Rim::read) limit = {limit.lines + kRim.lines, limit.code + kRim.code};
  if (tuning.family->name == "system" && in_strips(tuning))
    limit = {limit.lines + kStrips.lines, limit.code + kStrips.code};
  if (tuning.family->name == "temporal" && tuning.shares > 0)
    limit = {limit.lines + kShares.lines, limit.code + kShares.code};
  if (problem.facts.placed) limit = {limit.lines + kPlaced.lines, limit.code + kPlaced.code};
  if (problem.facts.placed && problem.facts.radius[0] >= 4 && problem.extents.rank == 3)
    limit = {limit.lines + kManyRows.lines, limit.code + kManyRows.code};
  const auto fields = static_cast<std::ptrdiff_t>(problem.facts.inputs.size() + problem.facts.outputs.size());
  const std::ptrdiff_t many = std::max<std::ptrdiff_t>(0, fields - kFields);
  limit = {limit.lines + many * kField.lines, limit.code + many * kField.code};
  return limit;
}

/// The limit for the 3D star of order 1, which reads 7 points: fewer lines than this.
std::ptrdiff_t limit_of_seven_points(const Tuning& tuning) {
  constexpr std::ptrdiff_t kOneSweep = 690, kFused = 2070;
  return has_fused_steps(tuning) ? kFused : kOneSweep;
}

Problem problem_of(const ProblemKey& key, const std::map<std::string, Stencil>& corpus) {
  const auto known = corpus.find(key.stencil_key);
  const auto named = known == corpus.end() ? known_stencil(key.stencil_name, key.stencil_key) : known->second;
  const Stencil stencil = named ? *named : find_builtin(key.stencil_name);
  return make_problem(stencil, key.type, key.boundaries, key.extents, key.pitch, key.steps, key.stage);
}

TEST(ExportLength, OfEveryWinnerThatShipsStaysWithinItsLimit) {
  const auto corpus = corpus_by_key();
  for (const WinnerRecord& winner : with_pretuned({})) {
    const ProblemKey& key = winner.trial.problem;
    const Problem problem = problem_of(key, corpus);
    const Tuning tuning = parse_code(winner.trial.code);
    if (tuning.family->name == "resident") continue;  // are not exported
    const std::string exported = export_kernel(problem, tuning, {.name = "heat"}).source;
    const Length whole = length_of(exported), length = length_of(without_the_stencil(exported));
    EXPECT_LE(length.lines, limit_of(problem, tuning).lines) << winner.trial.code << " of " << key.stencil_name;
    EXPECT_LE(length.code, limit_of(problem, tuning).code) << winner.trial.code << " of " << key.stencil_name;
    const bool seven_points = problem.facts.taps.size() == 7 && key.extents.rank == 3;
    EXPECT_TRUE(!seven_points || whole.lines < limit_of_seven_points(tuning))
        << winner.trial.code << " takes " << whole.lines << " lines";
  }
}

TEST(ExportLength, FusedAndSingleStepsOfOneFamilyHaveTheTemplatesOnce) {
  constexpr std::ptrdiff_t kBoth = 2350, kOfPlaced = 380;
  const auto corpus = corpus_by_key();
  int files = 0;
  for (const WinnerRecord& winner : with_pretuned({})) {
    if (winner.trial.problem.stage != kWholeStep) continue;
    const Problem problem = problem_of(winner.trial.problem, corpus);
    const Tuning tuning = parse_code(winner.trial.code);
    const auto single = single_steps_of(problem, tuning, "sm_90");
    ASSERT_TRUE(single && single->family == tuning.family) << winner.trial.code;
    const std::string source = export_kernel(problem, tuning, {.name = "maxwell"}, single).source;
    EXPECT_LE(length_of(source).lines, kBoth + (problem.facts.placed ? kOfPlaced : 0))
        << winner.trial.code << " of " << problem.stencil.name;
    EXPECT_EQ(source.find("maxwell_step_detail"), std::string::npos) << winner.trial.code;
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace stencil_tune
