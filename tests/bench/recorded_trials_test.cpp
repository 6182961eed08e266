#include "bench/fit/write_trials.hpp"

#include "tests/tuner/session/session_fakes.hpp"

#include "db/exchange.hpp"
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/space.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace stencil_tune {
namespace {

class RecordedTrialsTest : public ::testing::Test {
 protected:
  static TrialRecord trial(const Problem& problem, const std::string& code, double rate) {
    TrialRecord record;
    record.problem = problem_key(problem);
    record.platform.gpu = "NVIDIA H200";
    record.code = code;
    record.rate = rate;
    record.registers = 40;
    record.created_at = "2026-11-22T05:18:57.990Z";
    return record;
  }

  testing::TemporaryFolder folder;
  std::string path = (folder.path() / "some.trials.gz").string();
};

TEST_F(RecordedTrialsTest, AreTheSameAfterTheyWereWrittenAndRead) {
  const Problem padded = make_problem(find_builtin("star2d1r-symmetric"), ElementType::f64,
                                      {Boundary::periodic, Boundary::hold}, {2, {100, 50, 1}}, 112, 100);
  const std::vector<TrialRecord> trials{trial(padded, "direct.bx32.by8", 123.456)};
  write_recorded_trials(path, recorded_in(trials));
  const RecordedTrials read = read_recorded_trials(path);
  EXPECT_EQ(read.gpu, "NVIDIA H200");
  EXPECT_NE(read.origin.find("2026-11-22"), std::string::npos) << read.origin;
  ASSERT_EQ(read.problems.size(), 1u);
  const MeasuredProblem measured = parse_recorded(read.problems.front());
  EXPECT_EQ(problem_key(measured.problem), problem_key(padded));
  ASSERT_EQ(measured.candidates.size(), 1u);
  EXPECT_EQ(measured.candidates.front().tuning, parse_code("direct.bx32.by8"));
  EXPECT_DOUBLE_EQ(measured.candidates.front().gstencils, 123.456);
  EXPECT_EQ(measured.candidates.front().registers, 40);
}

TEST_F(RecordedTrialsTest, OfADatabaseAreTheBestOfEachCodeThatWasMeasured) {
  const Problem star = testing::star(1, 64);
  TrialRecord predicted = trial(star, "direct.bx64.by8", 9), failed = trial(star, "direct.bx64.by4", 9),
              nameless = trial(star, "direct.bx64.by2", 9);
  predicted.predicted = true;
  failed.outcome = Outcome::timeout;
  nameless.problem.stencil_key = "a file of somebody's";
  nameless.problem.steps = 2;
  const RecordedTrials recorded = recorded_in(std::vector<TrialRecord>{
      trial(star, "direct.bx32.by8", 5), trial(star, "direct.bx32.by8", 7), predicted, failed, nameless});
  ASSERT_EQ(recorded.problems.size(), 1u);
  ASSERT_EQ(recorded.problems.front().trials.size(), 1u);
  EXPECT_DOUBLE_EQ(recorded.problems.front().trials.front().gstencils, 7);
}

TEST_F(RecordedTrialsTest, OfTwoGpusAreRefused) {
  const Problem star = testing::star(1, 64);
  std::vector<TrialRecord> trials{trial(star, "direct.bx32.by8", 5), trial(star, "direct.bx32.by4", 5)};
  trials.back().platform.gpu = "NVIDIA A100-SXM4-80GB";
  EXPECT_THROW(recorded_in(trials), Error);
}

TEST_F(RecordedTrialsTest, OfCodesThatAreNoMoreArePassedOverAndCounted) {
  const MeasuredProblem measured = parse_recorded(RecordedProblem{
      "star3d1r f32 64x64x64 64 hold 1", {{"direct.bx32.by8", 5, 40, 0}, {"direct.bx32.by8.retired", 6, 40, 0}}});
  EXPECT_EQ(measured.candidates.size(), 1u);
  EXPECT_EQ(measured.passed_over, 1u);
  EXPECT_TRUE(
      parse_recorded(RecordedTrials{"", "", {{"star3d1r f32 64x64x64 64 hold 1", {{"retired", 6, 40, 0}}}}}).empty());
}

TEST_F(RecordedTrialsTest, WithALineCutShortAreRefusedByItsNumber) {
  std::ofstream(path) << "# GPU: NVIDIA H200\nstar3d1r f32 64x64x64 64 hold 1 475.2 40\n";  // text is read as it is
  try {
    read_recorded_trials(path);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file_io);
    EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
  }
  EXPECT_THROW(read_recorded_trials((folder.path() / "none").string()), Error);
  std::ofstream(path) << "# no GPU\n";
  EXPECT_THROW(read_recorded_trials(path), Error);
}

TEST_F(RecordedTrialsTest, ThatShipAreOfProblemsAndCandidatesThatThereAre) {
  std::size_t candidates = 0, passed_over = 0;
  for (const char* file : {"single-sweep", "study", "temporal", "temporal-split", "temporal-suite"}) {
    const RecordedTrials recorded = read_recorded_trials(std::string("bench/results/h200/") + file + ".trials.gz");
    EXPECT_EQ(recorded.gpu, "NVIDIA H200") << file;
    for (const MeasuredProblem& measured : parse_recorded(recorded)) {
      candidates += measured.candidates.size();
      passed_over += measured.passed_over;
    }
  }
  EXPECT_EQ(candidates + passed_over, 85873u);
  EXPECT_LT(passed_over, candidates / 10) << "most should still say something";
}

/// Neighbours of a candidate from which a step of the search does not lead back to it: some value is in no list. Those
/// that have lost other values too are left out.
std::vector<std::string> unreached(const Space& space, const Tuning& tuning) {
  std::vector<std::string> from;
  for (const Tuning& neighbour : space.neighbours(tuning)) {
    if (differences(neighbour, tuning) > 1) continue;
    const std::vector<Tuning> back = space.neighbours(neighbour);
    if (std::find(back.begin(), back.end(), tuning) == back.end()) from.push_back(code(neighbour));
  }
  return from;
}

/// The winners that ship, of every problem that was tuned for them.
TEST(Space, HoldsEveryKernelThatMeasuredBest) {
  std::ifstream file("db/pretuned/h200.json");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<TrialRecord> best;
  for (const WinnerRecord& winner : parse_winners(text.str())) best.push_back(winner.trial);
  const RecordedTrials recorded = recorded_in(best);
  ASSERT_GT(recorded.problems.size(), 100u);
  const Limits limits = limits_of_architecture("sm_90");
  for (const MeasuredProblem& measured : parse_recorded(recorded)) {
    const Space space(measured.problem, limits);
    EXPECT_EQ(measured.passed_over, 0u) << measured.problem.stencil.name;
    for (const MeasuredCandidate& winner : measured.candidates) {
      EXPECT_TRUE(space.legal(winner.tuning)) << winner.tuning;
      EXPECT_EQ(unreached(space, winner.tuning), std::vector<std::string>{}) << measured.problem.stencil.name;
    }
  }
}

TEST(Contenders, CanRaceWithTheWinnersThatShip) {
  std::ifstream file("bench/contenders.txt");
  const Limits limits = limits_of_architecture("sm_90");
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string stencil, type, grid, code;
    int steps = 0;
    if (!(words >> stencil >> type >> grid >> steps >> code)) continue;
    ++count;
    const Extents extents = parse_extents(grid, 1);
    const Stencil found = find_stencil(stencil);
    const int stage = found.stages.size() > 1 ? kWholeStep : 0;
    const Problem problem = make_problem(found, parse_element_type(type), {}, extents, 0, steps, stage);
    const auto violation = first_violation({problem, parse_code(code)}, limits);
    EXPECT_FALSE(violation) << line << ": " << violation->message;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace stencil_tune
