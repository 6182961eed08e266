// Sources and receivers of runs on the host executor, fused and stage by stage, against plain loops.
#include "generator/definition/definition.hpp"
#include "tests/generator/systems.hpp"
#include "tests/runtime/library/point_reference.hpp"
#include "tests/runtime/library/systems_on_host.hpp"

#include <algorithm>
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

/// There and back, without a rotation.
constexpr const char* kInPlace = R"toml(
name = "in_place"
rank = 2
fields = ["a", "b"]
[[stage]]
b = "0.5*a + 0.25*(a[x-1] + a[y+1])"
[[stage]]
a = "0.5*b + 0.25*(b[x+1] + b[y-1])"
)toml";

constexpr const char* kWave3d = R"toml(
name = "wave3d"
rank = 3
fields = ["p", "p_prev", "p_next"]
[[stage]]
p_next = "2*p - p_prev + 0.1*laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
)toml";

constexpr const char* kYee3d = R"toml(
name = "yee3d"
rank = 3
fields = ["e", "h", "c", "e_next", "h_next"]
[[stage]]
h_next = "h - 0.2*(e[x+1] - e) - 0.2*(e[y+1] - e) + 0.1*(e[z+1] - e)"
[[stage]]
e_next = "e + 0.1*c*(h_next - h_next[x-1]) + 0.2*(h_next - h_next[y-1]) - 0.2*(h_next - h_next[z-1])"
[rotate]
e_next = "e"
h_next = "h"
)toml";

constexpr double kTolerance = 1e-12;

Problem problem_of(const char* definition, const Boundaries& boundaries, const Extents& extents) {
  return make_problem(parse_definition(definition, "system.toml"), ElementType::f64, boundaries, extents, 0, 1,
                      kWholeStep);
}

Extents grid_of(int rank) {
  if (rank == 1) return {1, {300, 1, 1}};
  return rank == 2 ? Extents{2, {150, 41, 1}} : Extents{3, {76, 43, 19}};
}

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

/// The largest difference from `expected` in what the next step reads, and in the records; of their largest value where
/// that is above 1.
double difference(const Problem& problem, const Kernel& kernel, const Points& points, const PointList& list,
                  const std::vector<double>& series, const PointResult& expected, int steps) {
  Fields now = random_fields(problem, 1);
  std::vector<void*> fields;
  for (auto& field : now) fields.push_back(field.data());
  std::vector<double> records(static_cast<std::size_t>(points.records(steps) * list.receivers));
  kernel.advance_with_points(points, {series.data(), records.data()}, nullptr, fields, steps);
  double most = 0;
  double largest = 1;
  const auto compare = [&](double found, double wanted) {
    most = std::max(most, std::abs(found - wanted));
    largest = std::max(largest, std::abs(wanted));
  };
  for (const int field : problem.step.state) {
    const auto number = static_cast<std::size_t>(field);
    const auto* found = static_cast<const double*>(fields[number]);
    for (std::size_t i = 0; i < now[number].size(); ++i) {
      compare(found[i], expected.fields[number][i]);
    }
  }
  EXPECT_EQ(records.size(), expected.records.size());
  for (std::size_t i = 0; i < records.size(); ++i) compare(records[i], expected.records[i]);
  return most / largest;
}

class PointsOnHost : public SystemsOnHost {
 protected:
  /// Runs of several lengths, all by the kernel.
  void expect_right(const Problem& problem, Kernel& kernel, int every, std::initializer_list<int> lengths) {
    const PointList list = random_points(problem, 7, every);
    const Points points = kernel.place_points(list);
    for (const int steps : lengths) {
      const std::vector<double> series = random_series(list, steps, 3);
      const PointResult expected = run_with_points(problem, random_fields(problem, 1), list, series, steps);
      EXPECT_LT(difference(problem, kernel, points, list, series, expected, steps), kTolerance)
          << problem.stencil.name << ", " << to_string(problem.boundaries, problem.extents.rank) << ", "
          << kernel.run_evidence().code << ": " << steps << " steps, recorded every " << every;
    }
  }

  Kernel fused(const Problem& problem, int steps) {
    Kernel kernel = lookup(problem, {winner(problem, 100, steps)});
    EXPECT_EQ(kernel.fused_steps(), steps) << problem.stencil.name;
    return kernel;
  }

  /// A run of one field whose steps that candidate fuses.
  Kernel by_candidate(const Problem& problem, const char* code) {
    WinnerRecord record;
    record.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                            .stencil_name = problem.stencil.name,
                            .stage = problem.stage,
                            .type = problem.type,
                            .boundaries = problem.boundaries,
                            .extents = problem.extents,
                            .pitch = problem.pitch,
                            .steps = 100};
    record.trial.platform.architecture = "sm_90";
    record.trial.code = code;
    record.trial.gstencils = 1;
    Kernel kernel = lookup(problem, {record});
    EXPECT_EQ(kernel.run_evidence().code, code) << kernel.run_evidence().sentence();
    return kernel;
  }
};

TEST_F(PointsOnHost, StepsThatAreMadeStageByStage) {
  for (const char* definition : {kWave, kReaction, kYee, kInPlace}) {
    const Problem problem = problem_of(definition, kMixed, grid_of(2));
    Kernel kernel = lookup(problem, {});
    EXPECT_FALSE(kernel.fuses_stages());
    expect_right(problem, kernel, 1, {1, 5});
    expect_right(problem, kernel, 3, {7});
  }
}

TEST_F(PointsOnHost, OneToSixFusedStepsOfTwoTimeLevels) {
  const Problem problem = problem_of(kWave, kMixed, grid_of(2));
  for (const int steps : {2, 3, 4, 5, 6}) {
    Kernel kernel = fused(problem, steps);
    EXPECT_EQ(kernel.place_points({}).fused_steps(), steps);
    expect_right(problem, kernel, 1, {1, steps, 2 * steps + 1});
    expect_right(problem, kernel, 2, {3 * steps + 1});
    expect_right(problem, kernel, 5, {11});
  }
}

TEST_F(PointsOnHost, SeveralStagesInOneLaunchAndInSeveralSteps) {
  for (const char* definition : {kYee, kInPlace, kReaction}) {
    const Problem problem = problem_of(definition, kMixed, grid_of(2));
    if (definition != kReaction) {
      Kernel step = lookup(problem, {winner(problem, 1, 1)});
      EXPECT_TRUE(step.fuses_stages());
      expect_right(problem, step, 1, {1, 4});
    }
    Kernel kernel = fused(problem, 3);
    expect_right(problem, kernel, 1, {3, 7});
    expect_right(problem, kernel, 2, {7});
  }
}

TEST_F(PointsOnHost, EveryBoundary) {
  for (const Boundary boundary : {hold, zero, clamp, periodic, reflect}) {
    const Problem problem = problem_of(kYee, everywhere(boundary), grid_of(2));
    Kernel kernel = fused(problem, 2);
    expect_right(problem, kernel, 1, {2, 5});
  }
}

TEST_F(PointsOnHost, SystemsInThreeDimensions) {
  const Boundaries mixed{periodic, hold, reflect};
  for (const auto& [definition, boundaries] :
       {std::pair{kWave3d, mixed}, {kYee3d, everywhere(hold)}, {kYee3d, everywhere(periodic)}}) {
    const Problem problem = problem_of(definition, boundaries, grid_of(3));
    Kernel kernel = fused(problem, 2);
    expect_right(problem, kernel, 1, {5});
  }
  const Problem wave = problem_of(kWave3d, everywhere(hold), grid_of(3));
  Kernel by_tma = by_candidate(wave, "system.bx32.by4.rx2.ry2.tmarows.pf2.t3.ch2.u2");
  expect_right(wave, by_tma, 1, {7});
}

constexpr const char* kHeat = "u_next = 0.5*u + 0.1*(u[x-1] + u[x+1]) + 0.1*(u[y-1] + u[y+1])";

Problem heat_of(int rank, const Boundaries& boundaries) {
  Stencil stencil = rank == 2 ? parse_stencil(kHeat, 2) : find_builtin(rank == 1 ? "heat1d" : "heat3d");
  return make_problem(std::move(stencil), ElementType::f64, boundaries, grid_of(rank), 0, 1);
}

TEST_F(PointsOnHost, FusedStepsOfOneField) {
  const Boundaries mixed{hold, periodic, clamp};
  for (const auto& [code, boundaries] :
       {std::pair{"temporal.bx32.by4.rx2.ry2.v2.pf2.t3.ch2", mixed},
        {"temporal.bx32.by4.rx2.ry4.sums.pf2.t3", everywhere(hold)},
        {"temporal.bx64.by2.ry3.pf2.t2.sp1.u2", everywhere(zero)},
        {"temporal.bx32.by4.rx2.ry4.pf2.t4.ch2.tg2", everywhere(hold)},
        {"temporal.bx32.by3.rx2.ry4.sums.tmarows.pf2.t2.split.cl2", everywhere(hold)}}) {
    const Problem problem = heat_of(3, boundaries);
    Kernel kernel = by_candidate(problem, code);
    expect_right(problem, kernel, 1, {7});
    expect_right(problem, kernel, 3, {8});
  }
}

TEST_F(PointsOnHost, FusedStepsOfOneFieldOnRowsAndPlanes) {
  const Problem plane = heat_of(2, kMixed);
  Kernel kernel = by_candidate(plane, "temporal.bx32.by1.rx2.v2.pf2.t5.ch3.u2");
  expect_right(plane, kernel, 2, {5, 11});
  const Problem row = heat_of(1, everywhere(periodic));
  Kernel other = by_candidate(row, "temporal.bx32.by1.rx4.pf1.t4");
  expect_right(row, other, 1, {9});
}

/// Calls that follow each other, each with its own rows of series and records.
TEST_F(PointsOnHost, SeveralCallsMakeOneRun) {
  const Problem problem = problem_of(kWave, kMixed, grid_of(2));
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
  const Problem problem = heat_of(1, everywhere(hold));
  Kernel kernel = by_candidate(problem, "temporal.bx32.by1.rx4.pf1.t2");
  expect_right(problem, kernel, 1, {2 * 40 + 1});
  expect_right(problem, kernel, 5, {2 * 16, 2 * 17, 2 * 40 + 1});
}

TEST_F(PointsOnHost, EqualRunsHaveEqualBitsAndReceiversAddInTheOrderOfTheList) {
  const Problem problem = problem_of(kYee, kMixed, grid_of(2));
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

  const Problem problem_ = problem_of(kYee, everywhere(hold), grid_of(2));  // e, h, c, e_next, h_next
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
  const Problem other = problem_of(kYee, everywhere(zero), grid_of(2));
  EXPECT_THROW(lookup(other, {}).advance_with_points(points, {&value, &value}, nullptr, fields, 1), Error);
}

// ---- what the checks would notice -----------------------------------------------------------------------------------

struct Mutation {
  const char* from;
  const char* to;
};

/// Of templates/points/block_points.cuh.
constexpr Mutation kMutations[] = {
    {"tables.series + step * tables.series_stride", "tables.series + (step > 0 ? step - 1 : 0) * tables.series_stride"},
    {"source.weight * series", "(tile.x < tile.low_x ? Value(0) : source.weight) * series"},
    {"if (z < next ||", "if (z < next || z < tile.low_z ||"},
    {"if (z < next ||", "if (z <= next ||"},
    {"Index met = next + kFirstDelay", "Index met = next + kFirstDelay + 1"},
    {"next = next_plane(z - T::kDelay)", "next = next_plane(z)"},
    {"tables.captured[step * tables.captured_stride", "tables.captured[(step ^ 1) * tables.captured_stride"},
    {"return static_cast<long long>(round) * 32 + Shape::lane()", "return Shape::lane()"},
    {"receiver.cell == c) value", "receiver.cell <= c) value"},
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
