#include "tuner/replay/recorded_stencil.hpp"

#include "stencil_tune/error.hpp"
#include "tests/db/testing.hpp"
#include "tuner/replay/replay.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <set>

namespace stencil_tune {
namespace {

constexpr const char* kColumns = "star3d1r f32 64x64x64 64 hold 1 ";

/// Direct kernels with blocks of 32 to 512 threads, the faster the wider, and lines that are no trials of today.
std::string trials_of(const std::string& gpu = "NVIDIA H200") {
  std::string text = "# GPU: " + gpu + "\n# 2026-11-22\n";
  for (int x = 0; x < 5; ++x) {
    for (int y = 0; y < 5; ++y) {
      text += kColumns + std::to_string(100 + 10 * x + y) + " 40 0 direct.bx" + std::to_string(16 << x) + ".by" +
              std::to_string(1 << y) + "\n";
    }
  }
  text += kColumns + std::string("90 40 0 direct.bx16.by1\n");           // slower than what is known of it
  text += kColumns + std::string("900 40 0 direct.bx16.by1.retired\n");  // no code any more
  text += kColumns + std::string("900 40 0 direct.bx1024.by1024\n");     // not legal
  text += "star3d1r f64 64x64x64 64 hold 1 90 40 0 direct.bx16.by1\n";   // too few of these
  return text;
}

class RecordedStencilTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;

  std::string write(const std::string& text) const {
    const std::string path = folder / "some.trials.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }

  RecordedSpace space() const { return read_spaces(write(trials_of())).at(0); }

  std::string refusal_of(const std::string& text) const {
    try {
      read_spaces(write(text));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(RecordedStencilTest, ASpaceHasTheCandidatesOfAProblemThatAreLegalToday) {
  const auto spaces = read_spaces(write(trials_of()));
  ASSERT_EQ(spaces.size(), 1U);
  const RecordedSpace& space = spaces[0];
  EXPECT_EQ(space.name, "star3d1r f32 64x64x64 64 hold 1");
  ASSERT_TRUE(space.stencil);
  EXPECT_EQ(space.stencil->problem.extents, (Extents{3, {64, 64, 64}}));
  std::set<std::string> codes;
  for (Configuration i = 0; i < space.table.size(); ++i) {
    codes.insert(code(space.stencil->tunings.at(i)));
    if (code(space.stencil->tunings[i]) != "direct.bx16.by1") continue;
    EXPECT_DOUBLE_EQ(space.evaluations[i].time_ms, 62.0 * 62 * 62 / 100 / 1e6) << "the best rate of the two counts";
  }
  EXPECT_EQ(codes.size(), space.table.size());
  EXPECT_TRUE(codes.contains("direct.bx256.by2"));
  EXPECT_FALSE(codes.contains("direct.bx256.by16")) << "4096 threads";
}

TEST_F(RecordedStencilTest, FilesThatHoldNoSpaceEndInOneClearMessage) {
  EXPECT_NE(refusal_of("# GPU: NVIDIA H200\nstar3d1r f32\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal_of("# GPU: NVIDIA H200\n").find("no problem has 20"), std::string::npos);
  EXPECT_NE(refusal_of(trials_of("Riva 128")).find("Riva 128"), std::string::npos);
  std::string unknown = trials_of();
  for (std::size_t at = 0; (at = unknown.find("star3d1r", at)) != std::string::npos;)
    unknown.replace(at, 8, "nowhere:");
  EXPECT_NE(refusal_of(unknown), "");
}

TEST_F(RecordedStencilTest, NeighboursAreThoseOfTheWholeSpaceThatWereRecorded) {
  const RecordedStencil recorded(*space().stencil);
  std::set<std::string> found;
  for (const Tuning& neighbour : recorded.neighbours(parse_code("direct.bx64.by2"))) found.insert(code(neighbour));
  EXPECT_TRUE(found.contains("direct.bx32.by2"));
  EXPECT_TRUE(found.contains("direct.bx64.by4"));
  for (const std::string& each : found) {
    EXPECT_EQ(differences(parse_code(each), parse_code("direct.bx64.by2")), 1) << each;
    EXPECT_NO_THROW(recorded.place_of(parse_code(each)));
  }
}

TEST_F(RecordedStencilTest, TheSearchProposesEachRecordedCandidateOnceAndNoOther) {
  const RecordedSpace small = space();
  const auto search = make_stencil_search(std::make_shared<const RecordedStencil>(*small.stencil), 1);
  std::set<Configuration> proposed;
  while (const auto next = search->propose()) {
    EXPECT_TRUE(proposed.insert(*next).second);
    search->report(*next, small.evaluations.at(*next).time_ms);
  }
  EXPECT_EQ(proposed.size(), small.table.size());
}

TEST_F(RecordedStencilTest, ASpaceWithoutAStencilIsRefused) {
  RecordedSpace plain = space();
  plain.stencil.reset();
  EXPECT_THROW(replay(plain, RandomBaseline(plain), kStencilSearch, 1, 1), Error);
}

/// Recorded runs of box3d1r in f64 on 512^3; nothing where the file has none.
std::optional<RecordedSpace> recorded_box(const std::string& file) {
  const auto spaces = read_spaces("bench/results/h200/" + file + ".trials.gz");
  const auto run = std::find_if(spaces.begin(), spaces.end(), [](const RecordedSpace& space) {
    return space.name.starts_with("box3d1r f64 512x512x512");
  });
  return run == spaces.end() ? std::nullopt : std::optional(*run);
}

/// 720 candidates that an H200 measured. What the search finds there must not fall: it is what docs/search.md shows,
/// on a space that takes no time.
TEST(StencilReplay, TheSearchStaysAsGoodAsItWasOnARecordedRun) {
  const auto run = recorded_box("temporal-split");
  ASSERT_TRUE(run);
  const RandomBaseline baseline(*run);
  const auto search = [&](std::string_view strategy) { return replay(*run, baseline, strategy, 10, 1, 100); };
  const auto runs = search(kStencilSearch);
  EXPECT_EQ(score_of(baseline, runs).mean, score_of(baseline, search(kStencilSearch)).mean) << "seeds decide alone";
  const Nearness nearness = nearness_after(100, baseline.optimum(), runs);
  EXPECT_GT(nearness.share, nearness_after(100, baseline.optimum(), search("random")).share);
  EXPECT_GT(nearness.share, 0.97);
  EXPECT_GT(nearness_after(5, baseline.optimum(), runs).share, 0.95) << "its first trials are of fused steps";
  EXPECT_GT(score_of(baseline, runs).mean, score_of(baseline, search("genetic")).mean);
}

/// With this seed the first basins are of four fused steps, at 93.5 % of the best, which fuses two.
TEST(StencilReplay, TheSearchComesToTheBestOfAnotherNumberOfFusedSteps) {
  const auto run = recorded_box("temporal");
  ASSERT_TRUE(run);
  const RandomBaseline baseline(*run);
  const auto runs = replay(*run, baseline, kStencilSearch, 1, 33, 400);
  EXPECT_GT(nearness_after(400, baseline.optimum(), runs).share, 0.98);
}

}  // namespace
}  // namespace stencil_tune
