#include "generator/candidates/textbook/textbook.hpp"
#include "generator/candidates/family.hpp"

#include "tests/generator/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace stencil_tune {
namespace {

using testing::box;
using ::testing::HasSubstr;
using testing::kSm90;
using testing::star;

Baseline find(const Problem& problem, std::string_view name) {
  const auto all = textbook_baselines(problem, kSm90);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Baseline& baseline) { return baseline.name == name; });
  return found != all.end() ? *found : Baseline{"", std::nullopt, "not listed"};
}

/// The baseline's code, or "n/a".
std::string code_of(const Problem& problem, std::string_view name) {
  const Baseline baseline = find(problem, name);
  return baseline.tuning ? code(*baseline.tuning) : "n/a";
}

Intensity intensity(const Problem& problem, std::string_view code) {
  return textbook_intensity({problem, parse_code(code)});
}

TEST(Textbook, ListsFiveBaselinesInOrder) {
  std::vector<std::string> names;
  for (const Baseline& baseline : textbook_baselines(star(1, 16), kSm90)) names.push_back(baseline.name);
  EXPECT_THAT(names, ::testing::ElementsAre("naive", "pmpp-basic", "pmpp-tiled", "pmpp-coarsened", "pmpp-register"));
  for (const std::string& name : names) EXPECT_TRUE(is_baseline(name)) << name;
  EXPECT_FALSE(is_baseline("pmpp"));
}

TEST(Textbook, UsesTheBooksBlocksIn3D) {
  const Problem problem = star(3, 1);
  EXPECT_EQ(code_of(problem, "naive"), "direct.bx32.by8");
  EXPECT_EQ(code_of(problem, "pmpp-basic"), "direct.bx8.by8.bz8");
  EXPECT_EQ(code_of(problem, "pmpp-tiled"), "tiled.bx8.by8.bz8.cin");
  EXPECT_EQ(code_of(problem, "pmpp-coarsened"), "streaming.bx32.by32.cz30.shared.cin");
  EXPECT_EQ(code_of(problem, "pmpp-register"), "streaming.bx32.by32.cz30.mixed.cin");
}

TEST(Textbook, UsesTheBooksConvolutionTilesIn1DAnd2D) {
  EXPECT_EQ(code_of(box(2, 2), "pmpp-basic"), "direct.bx16.by16");
  EXPECT_EQ(code_of(box(2, 2), "pmpp-tiled"), "tiled.bx32.by32.cin");
  EXPECT_EQ(code_of(box(1, 2), "pmpp-tiled"), "tiled.bx256.by1.cin");
  EXPECT_EQ(code_of(star(2, 1), "pmpp-coarsened"), "streaming.bx256.by1.cz30.shared.cin");
}

TEST(Textbook, TakesTheSmallestTileThatIsNotEmpty) {
  EXPECT_EQ(code_of(star(3, 3), "pmpp-tiled"), "tiled.bx8.by8.bz8.cin");
  EXPECT_EQ(code_of(star(3, 4), "pmpp-tiled"), "tiled.bx9.by9.bz9.cin");
}

TEST(Textbook, SaysWhyABaselineIsNotApplicable) {
  EXPECT_EQ(code_of(star(3, 5), "pmpp-tiled"), "n/a");
  EXPECT_THAT(find(star(3, 5), "pmpp-tiled").reason, HasSubstr("11 cells a side: threads_per_block: 1331 threads"));
  EXPECT_THAT(find(box(3, 1), "pmpp-register").reason, HasSubstr("mixed_needs_axis_taps"));
  EXPECT_THAT(find(star(1, 1), "pmpp-coarsened").reason, HasSubstr("streaming_needs_rank_2"));
  EXPECT_EQ(find(star(3, 1), "pmpp-tiled").reason, "");
}

TEST(Textbook, BaselinesAreLegalWhateverTheOrder) {
  for (int order = 1; order <= 16; ++order) {
    for (int rank = 1; rank <= 3; ++rank) {
      for (const Baseline& baseline : textbook_baselines(star(rank, order, ElementType::f64), kSm90)) {
        if (baseline.tuning) {
          EXPECT_TRUE(is_legal({star(rank, order, ElementType::f64), *baseline.tuning}, kSm90)) << *baseline.tuning;
        } else {
          EXPECT_FALSE(baseline.reason.empty()) << baseline.name;
        }
      }
    }
  }
}

TEST(Textbook, NaiveCandidatesAreDirectWithOneOutputAThread) {
  const auto candidates = naive_candidates(star(3, 1), kSm90);
  EXPECT_GE(candidates.size(), 20u);
  for (const Tuning& tuning : candidates) {
    EXPECT_EQ(tuning.family->name, "direct");
    EXPECT_EQ(tuning.register_x * tuning.register_y * tuning.register_z, 1);
    EXPECT_TRUE(is_legal({star(3, 1), tuning}, kSm90));
  }
  EXPECT_FALSE(naive_candidates(star(1, 1), kSm90).empty());
}

// ---- arithmetic intensity: numbers from the book's chapters on convolution and stencils ----

TEST(Intensity, OfTheBasicKernelIs13Over28) {
  const Intensity basic = intensity(star(3, 1), "direct.bx8.by8.bz8");
  EXPECT_DOUBLE_EQ(basic.operations, 13);
  EXPECT_DOUBLE_EQ(basic.bytes_loaded, 28);
  EXPECT_NEAR(basic.ratio, 0.46, 0.005);
}

TEST(Intensity, OfTheTiledKernelFollowsItsFormula) {
  const Intensity t8 = intensity(star(3, 1), "tiled.bx8.by8.bz8.cin");
  EXPECT_DOUBLE_EQ(t8.bytes_loaded, 4 * 512.0 / 216);
  EXPECT_NEAR(t8.ratio, 1.37, 0.005);
  EXPECT_DOUBLE_EQ(t8.bound, 3.25);
  // No block has 32^3 threads, but the formula needs none.
  EXPECT_NEAR(intensity(star(3, 1), "tiled.bx32.by32.bz32.cin").ratio, 2.68, 0.005);
  EXPECT_NEAR(intensity(star(3, 1), "streaming.bx32.by32.cz30.shared.cin").ratio, 2.68, 0.005)
      << "thread coarsening reaches T = 32";
}

TEST(Intensity, HaloShareIsLargeForSmallCubesAndSmallForLargeSquares) {
  EXPECT_NEAR(intensity(star(3, 1), "tiled.bx8.by8.bz8.cin").halo_share, 0.58, 0.005);
  EXPECT_NEAR(intensity(box(2, 1), "tiled.bx32.by32.cin").halo_share, 0.12, 0.005);
}

TEST(Intensity, CountsBytesOfTheElementType) {
  EXPECT_DOUBLE_EQ(intensity(star(3, 1, ElementType::f64), "direct.bx8.by8.bz8").bytes_loaded, 56);
  EXPECT_DOUBLE_EQ(intensity(star(3, 1, ElementType::f64), "direct.bx8.by8.bz8").bound, 13.0 / 8);
}

TEST(Intensity, RegisterTilesLoadSharedCellsOnce) {
  // Four outputs in a row read 4 + 2 cells of their row and 4 of each of four others.
  EXPECT_DOUBLE_EQ(intensity(star(3, 1), "direct.bx32.by4.rx4").bytes_loaded, 4 * 22.0 / 4);
  EXPECT_DOUBLE_EQ(intensity(box(3, 1), "direct.bx32.by4.rx4").bytes_loaded, 4 * 6.0 * 9 / 4);
}

TEST(Intensity, WalkingInRegistersLoadsEachPlaneOnce) {
  // In z 4 + 2 own cells for 4 outputs; in x and y two neighbours an output.
  EXPECT_DOUBLE_EQ(intensity(star(3, 1), "streaming.bx32.by4.cz4.regs").bytes_loaded, 4 * (6.0 + 4 * 4) / 4);
}

TEST(Intensity, ShufflesLoadTheHaloOfARowOnce) {
  EXPECT_DOUBLE_EQ(intensity(star(3, 1), "direct.bx32.by4.shfl").bytes_loaded, 4 * (5 + 2.0 / 32));
}

TEST(Intensity, MixedPlanesLoadTheHaloOfTheCurrentPlaneOnly) {
  EXPECT_DOUBLE_EQ(intensity(star(3, 1), "streaming.bx32.by4.cz4.mixed").bytes_loaded,
                   4 * (128 * 6 + 4 * (34 * 6 - 128)) / 512.0);
}

}  // namespace
}  // namespace stencil_tune
