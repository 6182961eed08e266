#include "generator/stencil/passes.hpp"

#include "generator/definition/definition.hpp"
#include "tests/generator/systems.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

using Names = std::vector<std::string>;
using Times = std::map<std::pair<int, int>, double>;

Problem step_of(const char* definition) {
  return make_problem(parse_definition(definition, "s.toml"), ElementType::f32, testing::kHold, {2, {64, 64, 1}}, 0, 1,
                      kWholeStep);
}

Names names(const Problem& problem, const std::vector<int>& fields) {
  Names result;
  for (const int field : fields) result.push_back(problem.stencil.fields[static_cast<std::size_t>(field)]);
  return result;
}

std::vector<std::string> ranges(const std::vector<StageRange>& passes) {
  std::vector<std::string> texts;
  for (const StageRange& range : passes) texts.push_back(to_string(range));
  return texts;
}

/// Times of passes from a table, by first stage and count.
PassTime known(Times times) {
  return [times = std::move(times)](const StageRange& range) -> std::optional<double> {
    const auto time = times.find({range.first, range.count});
    return time == times.end() ? std::nullopt : std::optional(time->second);
  };
}

TEST(Passes, StoreWhatIsNeededAfterThem) {
  const Problem step = step_of(testing::kThreeStages);
  const Problem front = pass_problem(step, {0, 2});
  EXPECT_EQ(names(front, kernel_inputs(front)), (Names{"u", "slope"})) << "held layers of what the second stage reads";
  EXPECT_EQ(names(front, kernel_outputs(front, 1)), (Names{"slope", "guess"})) << "the last stage reads both";
  const Problem back = pass_problem(step, {1, 2});
  EXPECT_EQ(names(back, kernel_outputs(back, 1)), (Names{"u_next"})) << "nobody reads the guess afterwards";
  EXPECT_EQ(pass_problem(step, {2, 1}).stage, 2);
}

TEST(Passes, AreProblemsOfTheirOwn) {
  const Problem step = step_of(testing::kThreeStages);
  EXPECT_NE(stencil_key(pass_problem(step, {0, 2}).stencil), stencil_key(step.stencil));
  EXPECT_NE(stencil_key(pass_problem(step, {0, 2}).stencil), stencil_key(pass_problem(step, {1, 2}).stencil));
  EXPECT_EQ(pass_problem(step, {0, 2}).stencil.name, "three_stages_stages_0_1");
}

TEST(Passes, AreSharedByNeighboursButNotByAll) {
  EXPECT_EQ(ranges(shared_passes(step_of(testing::kThreeStages))), (Names{"stages 0-1", "stages 1-2"}));
  EXPECT_TRUE(shared_passes(step_of(testing::kYee)).empty());
}

TEST(Passes, AreNotSharedWhereAResultWouldNeedAnotherBuffer) {
  const Problem step = step_of(R"toml(
name = "in_place"
rank = 2
fields = ["a", "b", "c"]
[[stage]]
b = "0.5*a[x-1]"
[[stage]]
a = "0.5*b[x+1]"
[[stage]]
c = "a[y+1] + b[y-1]"
)toml");
  EXPECT_EQ(ranges(shared_passes(step)), (Names{"stages 1-2"})) << "stages 0 and 1 read and write a";
}

TEST(Passes, AreDividedForTheLeastTime) {
  const Times times{{{0, 1}, 1}, {{1, 1}, 1}, {{2, 1}, 1}, {{0, 2}, 1.5}, {{1, 2}, 1.25}, {{0, 3}, 0.5}};
  EXPECT_EQ(ranges(best_passes(3, known(times))), (Names{"stage 0", "stages 1-2"})) << "the whole step is left out";
}

TEST(Passes, OfEqualTimesAreTheShorterOnes) {
  const Times times{{{0, 1}, 1}, {{1, 1}, 1}, {{2, 1}, 1}, {{0, 2}, 2}, {{1, 2}, 2}};
  EXPECT_EQ(best_passes(3, known(times)).size(), 3U);
}

TEST(Passes, CoverWhatHasNoTimeOfItsOwn) {
  EXPECT_EQ(ranges(best_passes(3, known({{{0, 1}, 1}, {{1, 2}, 4}}))), (Names{"stage 0", "stages 1-2"}));
  EXPECT_TRUE(best_passes(3, known({{{0, 2}, 1}})).empty());
}

}  // namespace
}  // namespace stencil_tune
