// Sources and receivers of runs on the host executor, fused and stage by stage, against plain loops.
#include "generator/definition/definition.hpp"
#include "generator/points/tile_points.hpp"
#include "tests/generator/systems.hpp"
#include "tests/runtime/library/points/point_cases.hpp"
#include "tests/runtime/library/systems_on_host.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

using testing::kHold;
using testing::kMixed;
using testing::kReaction;
using testing::kWave;
using testing::kYee;
using enum Boundary;

constexpr double kTolerance = 1e-12;
constexpr Extents kGrid{2, {150, 41, 1}};

Problem problem_of(const char* definition, const Boundaries& boundaries, const Extents& extents) {
  return make_problem(parse_definition(definition, "system.toml"), ElementType::f64, boundaries, extents, 0, 1,
                      kWholeStep);
}

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

/// How far a run by the kernel is from `expected`.
double difference(const Problem& problem, const Kernel& kernel, const Points& points, const PointList& list,
                  const std::vector<double>& series, const PointResult& expected, int steps) {
  Fields now = random_fields(problem, 1);
  std::vector<void*> fields;
  for (auto& field : now) fields.push_back(field.data());
  std::vector<double> records(static_cast<std::size_t>(points.records(steps) * list.receivers));
  kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, fields, steps);
  Fields after;
  for (void* field : fields) {
    const auto is_here = [&](const std::vector<double>& each) { return each.data() == field; };
    after.push_back(*std::find_if(now.begin(), now.end(), is_here));
  }
  return difference(problem, after, records, expected);
}

TEST(PointsObstacle, IsSaidOfKernelsThatSharePlanesOut) {
  const Problem problem =
      make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 8);
  const std::string code = "temporal.bx32.by4.rx2.ry4.v2.pf3.t2";
  EXPECT_EQ(points_obstacle({problem, parse_code(code + ".ch3")}, {}), "");
  EXPECT_NE(points_obstacle({problem, parse_code(code + ".sh66")}, {}), "");
}

class PointsOnHost : public SystemsOnHost {
 protected:
  /// Runs of several lengths, all by the kernel.
  void expect_right(const Problem& problem, Kernel& kernel, int every, std::initializer_list<int> lengths) {
    expect_right(problem, kernel, random_points(problem, 7, every), lengths);
  }

  void expect_right(const Problem& problem, Kernel& kernel, const PointList& list, std::initializer_list<int> lengths) {
    const Points points = kernel.place_points(list);
    for (const int steps : lengths) {
      const std::vector<double> series = random_series(list, steps, 3);
      const PointResult expected = run_with_points(problem, random_fields(problem, 1), list, series, steps);
      EXPECT_LT(difference(problem, kernel, points, list, series, expected, steps), kTolerance)
          << problem.stencil.name << ", " << to_string(problem.boundaries, problem.extents.rank) << ", "
          << kernel.run_evidence().code << ": " << steps << " steps, recorded every " << list.every;
    }
  }

  Kernel fused(const Problem& problem, int steps) {
    Kernel kernel = lookup(problem, {winner(problem, 100, steps)});
    EXPECT_EQ(kernel.fused_steps(), steps) << problem.stencil.name;
    return kernel;
  }

  Kernel fused(const PointCase& each) {
    Kernel kernel = lookup(each.problem(), {each.winner()});
    EXPECT_EQ(kernel.run_evidence().code, each.code) << kernel.run_evidence().sentence();
    return kernel;
  }
};

TEST_F(PointsOnHost, StepsThatAreMadeStageByStage) {
  for (const char* definition : {kWave, kReaction, kYee}) {
    const Problem problem = problem_of(definition, kMixed, kGrid);
    Kernel kernel = lookup(problem, {});
    EXPECT_FALSE(kernel.fuses_stages());
    for (const ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::descending}) {
      driver_.order = order;
      expect_right(problem, kernel, 1, {1, 5});
      expect_right(problem, kernel, 3, {7});
    }
  }
}

/// Receivers at the cells of sources and at others, of which one launch adds and records but where too many share
/// cells.
TEST_F(PointsOnHost, ReceiversOfAStepSeeItsSources) {
  const Problem problem = problem_of(kWave, everywhere(zero), kGrid);
  const int next = problem.stencil.rotations[0].from, now = problem.stencil.rotations[0].to;
  Kernel kernel = lookup(problem, {});
  for (const auto& [sharing, launches] : {std::pair{2, 2}, std::pair{1000, 3}}) {
    PointList list;
    for (int i = 0; i < sharing; ++i) {
      const std::array<std::int64_t, kMaxRank> cell{i % 150, 1 + i / 150, 0};
      list.source_cells.push_back({list.sources++, next, cell});
      list.receiver_cells.push_back({list.receivers++, now, {i % 150, 40 - i / 150, 0}});
      list.receiver_cells.push_back({list.receivers++, now, cell});
    }
    const Points points = kernel.place_points(list);
    for (const ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::descending}) {
      driver_.order = order;
      Fields fields = random_fields(problem, 1);
      std::vector<void*> addresses;
      for (auto& field : fields) addresses.push_back(field.data());
      std::vector<double> records(static_cast<std::size_t>(list.receivers));
      const std::vector<double> series = random_series(list, 1, 3);
      driver_.launched = 0;
      kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, addresses, 1);
      EXPECT_EQ(driver_.launched, launches) << sharing;
      const auto* left = static_cast<const double*>(addresses[static_cast<std::size_t>(now)]);
      for (const PointCell& read : list.receiver_cells) {
        ASSERT_EQ(records[static_cast<std::size_t>(read.point)], left[read.cell[1] * 150 + read.cell[0]])
            << sharing << ": " << read.point;
      }
    }
  }
}

TEST_F(PointsOnHost, OneToSixFusedStepsOfTwoTimeLevels) {
  const Problem problem = problem_of(kWave, kMixed, kGrid);
  for (const int steps : {2, 3, 4, 5, 6}) {
    Kernel kernel = fused(problem, steps);
    EXPECT_EQ(kernel.place_points({}).fused_steps(), steps);
    expect_right(problem, kernel, 1, {1, steps, 2 * steps + 1});
    expect_right(problem, kernel, 2, {3 * steps + 1});
    expect_right(problem, kernel, 5, {11});
  }
}

/// Kernels that share planes out take no points.
TEST_F(PointsOnHost, RunsWithPointsHaveTheBestWinnerThatTakesThem) {
  const Problem problem = make_problem(find_builtin("heat2d"), ElementType::f64, everywhere(hold), {2, {300, 61, 1}});
  const auto won = [&](const char* code, double rate) {
    WinnerRecord record = winner_of(problem, 100, parse_code(code));
    record.trial.rate = rate;
    return record;
  };
  Kernel kernel = lookup(problem, {won("temporal.bx32.by1.rx4.pf2.t3.sh4", 3), won("temporal.bx32.by1.rx4.pf1.t2", 2),
                                   won("temporal.bx32.by1.rx4.pf1.t4", 1)});
  kernel.prepare();
  EXPECT_TRUE(kernel.ready()) << "what only runs with points need is not awaited";
  EXPECT_EQ(kernel.fused_steps(), 3);
  EXPECT_EQ(kernel.place_points({}).fused_steps(), 3);
  const PointList list = random_points(problem, 7);
  EXPECT_EQ(kernel.place_points(list).fused_steps(), 2);
  expect_right(problem, kernel, list, {1, 7});
  Fields now = random_fields(problem, 1);
  std::vector<void*> fields;
  for (auto& field : now) fields.push_back(field.data());
  driver_.launched = 0;
  kernel.advance(nullptr, fields, 7);
  EXPECT_EQ(driver_.launched, 3) << "3 + 3 + 1 steps without points";
}

TEST_F(PointsOnHost, SeveralStagesInOneLaunchAndInSeveralSteps) {
  const Problem problem = problem_of(kYee, kMixed, kGrid);
  Kernel step = lookup(problem, {winner(problem, 1, 1)});
  EXPECT_TRUE(step.fuses_stages());
  expect_right(problem, step, 1, {1, 4});
  Kernel kernel = fused(problem, 3);
  expect_right(problem, kernel, 2, {7});
}

/// With points on both sides of every edge of tiles.
class PointsOfEachCase : public PointsOnHost, public ::testing::WithParamInterface<PointCase> {};

TEST_P(PointsOfEachCase, AreThoseOfSingleSteps) {
  const Problem problem = GetParam().problem();
  Kernel kernel = fused(GetParam());
  const int steps = GetParam().fused();
  expect_right(problem, kernel, points_of(GetParam(), 1), {steps, 2 * steps + 1});
  expect_right(problem, kernel, points_of(GetParam(), 3), {2 * steps + 2});
}

INSTANTIATE_TEST_SUITE_P(Points, PointsOfEachCase, ::testing::ValuesIn(point_cases()),
                         [](const auto& test) { return test.param.name; });

/// Calls that follow each other, each with its own rows of series and records.
TEST_F(PointsOnHost, SeveralCallsMakeOneRun) {
  const Problem problem = problem_of(kWave, kMixed, kGrid);
  Kernel kernel = fused(problem, 3);
  const PointList list = random_points(problem, 5, 2);
  const Points points = kernel.place_points(list);
  constexpr int kSteps = 11;
  const std::vector<double> series = random_series(list, kSteps, 3);
  const PointResult expected = run_with_points(problem, random_fields(problem, 1), list, series, kSteps);
  Fields now = random_fields(problem, 1);
  std::vector<void*> fields;
  for (auto& field : now) fields.push_back(field.data());
  std::vector<double> records(expected.records.size());
  double* next = records.data();
  std::int64_t done = 0;
  for (const int steps : {4, 2, 5}) {
    kernel.advance_with_points(points, {series.data() + done * list.sources, next}, nullptr, fields, steps);
    done += steps;
    next += points.records(steps) * list.receivers;
  }
  EXPECT_EQ(next, records.data() + records.size());
  for (std::size_t i = 0; i < records.size(); ++i) ASSERT_NEAR(records[i], expected.records[i], 1e-9) << i;
}

/// Also when a call ends between two sums, and with records that skip whole launches.
TEST_F(PointsOnHost, WhatManyLaunchesCaptureIsSummedUpTogether) {
  PointCase row{"row", find_builtin("heat1d"), everywhere(hold), {1, {300, 1, 1}}, "temporal.bx32.by1.rx4.pf1.t2"};
  const Problem problem = row.problem();
  Kernel kernel = fused(row);
  expect_right(problem, kernel, 1, {2 * 40 + 1});
  expect_right(problem, kernel, 5, {2 * 16, 2 * 17, 2 * 40 + 1});
}

TEST_F(PointsOnHost, EqualRunsHaveEqualBitsAndReceiversAddInTheOrderOfTheList) {
  const Problem problem = problem_of(kYee, kMixed, kGrid);
  const PointList list = random_points(problem, 5);
  const std::vector<double> series = random_series(list, 4, 3);
  const auto records_of = [&](Kernel kernel) {
    Fields now = random_fields(problem, 1);
    std::vector<void*> fields;
    for (auto& field : now) fields.push_back(field.data());
    std::vector<double> records(static_cast<std::size_t>(4 * list.receivers));
    const Points points = kernel.place_points(list);
    kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, fields, 4);
    return records;
  };
  const std::vector<double> once = records_of(fused(problem, 2));
  EXPECT_EQ(once, records_of(fused(problem, 2)));
}

// ---- what is refused ------------------------------------------------------------------------------------------------

class RefusedPoints : public PointsOnHost {
 protected:
  void expect_refused(const PointList& list, const std::string& why) {
    try {
      kernel_.place_points(list);
      ADD_FAILURE() << "placed; expected: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }
  static PointList source(const PointCell& cell) { return {.sources = 1, .source_cells = {cell}}; }
  static PointList receiver(const PointCell& cell) { return {.receivers = 1, .receiver_cells = {cell}}; }

  const Problem problem_ = problem_of(kYee, everywhere(hold), kGrid);  // e, h, c, e_next, h_next
  Kernel kernel_ = lookup(problem_, {});
};

TEST_F(RefusedPoints, CellsThatAreHeldOrOutside) {
  expect_refused(source({0, 3, {0, 5, 0}}), "source 0: cell (0, 5, 0) lies in the layers of 'e_next'");
  expect_refused(source({0, 4, {149, 5, 0}}),
                 "'h_next' that boundary hold keeps; the cells from (0, 0, 0) to (148, 39, 0)");
  expect_refused(receiver({0, 0, {5, 0, 0}}), "receiver 0: cell (5, 0, 0) lies in the layers of 'e'");
  expect_refused(source({0, 3, {150, 5, 0}}), "outside the grid of 150x41");
  expect_refused(source({0, 3, {5, 5, 1}}), "outside the grid");
  EXPECT_NO_THROW(kernel_.place_points(source({0, 4, {0, 0, 0}}))) << "the first stage holds nothing there";
}

TEST_F(RefusedPoints, FieldsThatCannotHaveThem) {
  expect_refused(source({0, 0, {5, 5, 0}}),
                 "adds to 'e', which no stage writes; sources add to what one stage writes: h_next, e_next");
  expect_refused(receiver({0, 3, {5, 5, 0}}),
                 "records 'e_next', which is none of the fields that a step changes and hands to the next: e, h");
  expect_refused(receiver({0, 2, {5, 5, 0}}), "records 'c'");
  expect_refused(source({0, 5, {5, 5, 0}}), "field 5; stencil 'yee' has 5");
}

TEST_F(RefusedPoints, NumbersThatMakeNoSense) {
  expect_refused(source({1, 3, {5, 5, 0}}), "a cell of source 1: there are 1");
  expect_refused(receiver({-1, 0, {5, 5, 0}}), "a cell of receiver -1");
  expect_refused(source({0, 3, {5, 5, 0}, std::nan("")}), "weight nan");
  expect_refused({.every = 0}, "every is 0");
}

TEST_F(RefusedPoints, DataThatIsMissingAndPointsOfAnotherKernel) {
  const Points points = kernel_.place_points({.sources = 1, .source_cells = {{0, 3, {5, 5, 0}}}, .receivers = 1});
  Fields now = random_fields(problem_, 1);
  std::vector<void*> fields;
  for (auto& field : now) fields.push_back(field.data());
  double value = 0;
  EXPECT_THROW(kernel_.advance_with_points(points, {nullptr, &value}, nullptr, fields, 1), Error);
  EXPECT_THROW(kernel_.advance_with_points(points, {&value, nullptr}, nullptr, fields, 1), Error);
  EXPECT_NO_THROW(kernel_.advance_with_points(points, {&value, &value}, nullptr, fields, 1));
  EXPECT_EQ(value, 0) << "a receiver without cells";
  const Problem other = problem_of(kYee, everywhere(zero), kGrid);
  EXPECT_THROW(lookup(other, {}).advance_with_points(points, {&value, &value}, nullptr, fields, 1), Error);
}

// ---- what the checks would notice -----------------------------------------------------------------------------------

struct Mutation {
  const char* from;
  const char* to;
};

/// Changes of templates/points/block_points.cuh.
constexpr Mutation kMutations[] = {
    {"tables.series + step * tables.series_stride", "tables.series + (step > 0 ? step - 1 : 0) * tables.series_stride"},
    {"source.weight * series", "(tile.x < tile.low_x ? Value(0) : source.weight) * series"},
    {"if (z < next ||", "if (z < next || z < tile.low_z ||"},
    {"if (z < next ||", "if (z <= next ||"},
    {"Index met = next + kFirstDelay", "Index met = next + kFirstDelay + 1"},
    {"next = next_plane(z - T::kDelay)", "next = next_plane(z)"},
    {"tables.captured + step * tables.captured_stride", "tables.captured + (step ^ 1) * tables.captured_stride"},
    {"return static_cast<long long>(round) * 32 + Shape::lane()", "return Shape::lane()"},
    {"receivers.cells >> c % 32 & 1", "receivers.cells >> (c + 1) % 32 & 1"},
    {"*to++ =", "*to ="},
    {"[c % Shape::kCells] += source.value", "[c % Shape::kCells] = source.value"},
};

TEST_F(PointsOnHost, WouldNoticeALateSourceAndAMissingHalo) {
  const Problem problem = problem_of(kWave, {hold, hold, hold}, {2, {300, 61, 1}});
  const PointList list = random_points(problem, 7);
  constexpr int kSteps = 4;
  const std::vector<double> series = random_series(list, kSteps, 3);
  const PointResult expected = run_with_points(problem, random_fields(problem, 1), list, series, kSteps);
  for (const Mutation& mutation : kMutations) {
    std::vector<TemplateFile> files(template_files().begin(), template_files().end());
    std::string text;
    for (TemplateFile& file : files) {
      if (file.name != "stencil_tune/points/block_points.cuh") continue;
      text = file.text;
      const std::size_t at = text.find(mutation.from);
      ASSERT_NE(at, std::string::npos) << mutation.from;
      text.replace(at, std::string(mutation.from).size(), mutation.to);
      file.text = text;
    }
    driver_.files = files;
    Kernel kernel = fused(problem, 2);
    const Points points = kernel.place_points(list);
    EXPECT_GT(difference(problem, kernel, points, list, series, expected, kSteps), 1e-4) << mutation.to;
    driver_.files = template_files();
  }
}

}  // namespace
}  // namespace stencil_tune
