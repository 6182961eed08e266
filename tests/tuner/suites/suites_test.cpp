#include "tuner/suites/suites.hpp"
#include "tuner/suites/suite_table.hpp"

#include "generator/definition/definition.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace stencil_tune {
namespace {

bool has(const Suite& cases, const std::string& stencil, ElementType type, std::array<std::int64_t, kMaxRank> n,
         Boundary boundary = Boundary::hold) {
  return std::any_of(cases.begin(), cases.end(), [&](const SuiteCase& item) {
    const Problem& problem = item.problem;
    return problem.stencil.name == stencil && problem.type == type && problem.extents.n == n &&
           problem.boundaries == Boundaries{boundary, boundary, boundary};
  });
}

TEST(SingleSweepSuite, HoldsEveryCaseThatHasATarget) {
  const Suite cases = suite("single-sweep");
  for (const std::string suffix : {"", "-symmetric"}) {
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
      for (const std::string order : {"1", "2", "4"}) {
        EXPECT_TRUE(has(cases, "star3d" + order + "r" + suffix, type, {512, 512, 512})) << order;
        EXPECT_TRUE(has(cases, "star2d" + order + "r" + suffix, type, {16384, 16384, 1})) << order;
      }
      EXPECT_TRUE(has(cases, "box3d1r" + suffix, type, {512, 512, 512}));
    }
    EXPECT_TRUE(has(cases, "star3d8r" + suffix, ElementType::f32, {512, 512, 512}));
    EXPECT_TRUE(has(cases, "box2d1r" + suffix, ElementType::f32, {16384, 16384, 1}));
    EXPECT_TRUE(has(cases, "box2d2r" + suffix, ElementType::f32, {16384, 16384, 1}));
  }
  EXPECT_TRUE(has(cases, "star3d1r", ElementType::f32, {1024, 1024, 1024}));
  EXPECT_TRUE(has(cases, "star3d1r", ElementType::f32, {2048, 1024, 256}));
  EXPECT_TRUE(has(cases, "star3d1r", ElementType::f16, {512, 512, 512}));
  for (const Boundary boundary : {Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    EXPECT_TRUE(has(cases, "star3d1r", ElementType::f32, {512, 512, 512}, boundary)) << name(boundary);
  }
}

TEST(SingleSweepSuite, HasOddGridsWithDenseRowsAndWithRowsThatTheLibraryPads) {
  std::multiset<std::int64_t> pitches;
  for (const SuiteCase& item : suite("single-sweep")) {
    if (item.problem.extents.n[0] == 509) pitches.insert(item.problem.pitch);
  }
  const std::int64_t padded = padded_pitch(509, ElementType::f32);
  EXPECT_EQ(pitches, (std::multiset<std::int64_t>{509, 509, padded, padded}));
}

TEST(SingleSweepSuite, ComparesWithTheSameStencilOnTheCube) {
  const Suite cases = suite("single-sweep");
  int compared = 0;
  for (const SuiteCase& item : cases) {
    if (!item.against) continue;
    ++compared;
    const Problem& other = cases.at(*item.against - 1).problem;
    EXPECT_EQ(other.stencil.name, item.problem.stencil.name);
    EXPECT_EQ(other.type, ElementType::f32);
    EXPECT_EQ(to_string(other.extents), "512x512x512");
  }
  EXPECT_EQ(compared, 10);
}

TEST(TemporalSuite, HoldsEveryCaseThatHasATarget) {
  const Suite cases = suite("temporal");
  using Grid = std::array<std::int64_t, kMaxRank>;
  constexpr Grid kCube{512, 512, 512}, kSquare{16384, 16384, 1};
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    for (const std::string stencil : {"star3d1r", "star3d2r", "diffusion3d_19pt", "box3d1r", "star3d4r"}) {
      EXPECT_TRUE(has(cases, stencil, type, kCube)) << stencil;
    }
    for (const std::string stencil : {"star2d1r", "box2d1r", "star2d2r", "gradient2d"}) {
      EXPECT_TRUE(has(cases, stencil, type, kSquare)) << stencil;
    }
    for (const Grid& grid : {Grid{509, 487, 601}, Grid{192, 192, 192}}) EXPECT_TRUE(has(cases, "star3d1r", type, grid));
    for (const Grid& grid : {Grid{10007, 9973, 1}, Grid{2816, 2816, 1}}) {
      EXPECT_TRUE(has(cases, "star2d1r", type, grid));
    }
  }
  for (const std::string stencil : {"star2d3r", "box2d2r", "box2d3r"}) {
    EXPECT_TRUE(has(cases, stencil, ElementType::f64, kSquare)) << stencil;
  }
  EXPECT_TRUE(has(cases, "star3d1r", ElementType::f32, {1024, 1024, 1024}));
  int compared = 0;
  for (const SuiteCase& item : cases) {
    EXPECT_EQ(item.problem.steps, 100);
    EXPECT_EQ(item.problem.pitch, item.problem.extents.n[0]) << "dense rows";
    if (!item.against) continue;
    ++compared;
    const Problem& other = cases.at(*item.against - 1).problem;
    EXPECT_EQ(other.stencil.name, item.problem.stencil.name);
    EXPECT_EQ(other.type, item.problem.type);
    EXPECT_EQ(other.extents.n, item.problem.extents.rank == 3 ? kCube : kSquare);
  }
  EXPECT_EQ(compared, 4);
}

TEST(SystemsSuite, HasEverySystemThatHasATargetOnOddGridsAndWithEveryBoundary) {
  const Suite cases = suite("systems");
  const std::set<std::string> systems{"yee3d",        "acoustic3d_o2", "acoustic3d_o4", "acoustic3d_o8",
                                      "gray_scott2d", "shallow2d",     "fdtd2d",        "anisotropic_diffusion3d",
                                      "elastic3d"};
  // What each has: rows, boundaries; always in f32, in runs of whole steps, compared with the even grid under hold.
  std::map<std::string, std::set<std::string>> found;
  for (const SuiteCase& item : cases) {
    const Problem& problem = item.problem;
    EXPECT_EQ(problem.steps, 100);
    EXPECT_TRUE(is_whole_step(problem)) << problem.stencil.name;
    if (!item.against) continue;
    const Problem& plain = cases.at(*item.against - 1).problem;
    EXPECT_EQ(plain.stencil.name, problem.stencil.name);
    EXPECT_EQ(plain.type, problem.type);
    EXPECT_EQ(to_string(plain.boundaries, plain.extents.rank), "hold");
    const bool odd = problem.extents.n[0] % 2 != 0;
    EXPECT_EQ(odd, problem.extents.n != plain.extents.n);
    std::string what = to_string(problem.boundaries, problem.extents.rank);
    if (odd) what = problem.pitch == problem.extents.n[0] ? "odd, dense" : "odd, padded";
    found[problem.stencil.name].insert(what);
  }
  EXPECT_EQ(found.size(), systems.size());
  for (const std::string& system : systems) {
    const bool flat = find_stencil(system).rank == 2;
    const std::set<std::string> expected{"odd, dense",
                                         "odd, padded",
                                         "periodic",
                                         "reflect",
                                         "clamp",
                                         "zero",
                                         flat ? "x=periodic,y=reflect" : "x=periodic,y=reflect,z=zero"};
    EXPECT_EQ(found[system], expected) << system;
  }
}

TEST(TemporalSuite, CarriesTheCorpusDefinitions) {
  std::set<std::string> defined;
  for (const SuiteCase& item : suite("temporal")) {
    const std::string& name = item.problem.stencil.name;
    if (!std::filesystem::exists("corpus/" + name + ".toml")) continue;
    EXPECT_EQ(stencil_key(item.problem.stencil), stencil_key(load_definition("corpus/" + name + ".toml")));
    defined.insert(name);
  }
  EXPECT_EQ(defined, (std::set<std::string>{"diffusion3d_19pt", "gradient2d"}));
}

TEST(TemporalSuite, TimesWhatOtherSystemsWereMeasuredOn) {
  std::ifstream file("bench/rivals.json");
  const auto rivals = nlohmann::json::parse(file);
  const Suite cases = suite("temporal");
  const auto text = [](const auto& rival, const char* name) { return rival.at(name).template get<std::string>(); };
  EXPECT_GE(rivals.at("cases").size(), 20U);
  for (const auto& rival : rivals.at("cases")) {
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const SuiteCase& item) {
      const Problem& problem = item.problem;
      return problem.stencil.name == text(rival, "stencil") && name(problem.type) == text(rival, "type") &&
             to_string(problem.extents) == text(rival, "dims");
    })) << rival;
  }
}

TEST(ChooseCases, TakesANumberOrARange) {
  const Suite all = suite("main");
  const auto names = [](const Suite& cases) {
    std::vector<std::string> texts;
    for (const SuiteCase& item : cases) texts.push_back(to_string(item.problem.extents) + item.problem.stencil.name);
    return texts;
  };
  const auto whole = names(all);
  EXPECT_EQ(names(choose_cases(all, "2")), std::vector(whole.begin() + 1, whole.begin() + 2));
  EXPECT_EQ(names(choose_cases(all, "2-4")), std::vector(whole.begin() + 1, whole.begin() + 4));
  EXPECT_EQ(names(choose_cases(all, "9-")), std::vector(whole.begin() + 8, whole.end()));
  EXPECT_EQ(names(choose_cases(all, "-2")), std::vector(whole.begin(), whole.begin() + 2));
  for (const std::string wrong : {"0", "11", "4-2", "x", "1-2-3", "1,2", "99999999999999999999"}) {
    EXPECT_THROW(choose_cases(all, wrong), Error) << wrong;
  }
}

TEST(ChooseCases, TakesEverySoManieth) {
  const auto numbers = [](const std::string& chosen) {
    std::vector<std::size_t> found;
    for (const SuiteCase& item : choose_cases(suite("main"), chosen)) found.push_back(item.number);
    return found;
  };
  EXPECT_EQ(numbers("1-/4"), (std::vector<std::size_t>{1, 5, 9}));
  EXPECT_EQ(numbers("4-/4"), (std::vector<std::size_t>{4, 8}));
  EXPECT_EQ(numbers("2-6/3"), (std::vector<std::size_t>{2, 5}));
  for (const std::string wrong : {"1-/0", "1-/", "1-/x", "/2/3", "1-/11"}) {
    EXPECT_THROW(choose_cases(suite("main"), wrong), Error) << wrong;
  }
}

TEST(ChooseCases, KeepsNumbersAndComparisons) {
  const Suite all = suite("single-sweep");
  const auto odd = std::find_if(all.begin(), all.end(), [](const SuiteCase& item) { return item.against.has_value(); });
  const SuiteCase alone = choose_cases(all, std::to_string(odd->number)).front();
  EXPECT_EQ(alone.number, static_cast<std::size_t>(odd - all.begin()) + 1);
  EXPECT_EQ(alone.against, odd->against);
}

TEST(SuiteTable, ShowsTheEffectiveBandwidthOfSystems) {
  const Problem problem = make_problem(load_definition("corpus/gray_scott2d.toml"), ElementType::f32, {},
                                       {2, {8192, 8192, 1}}, 0, 100, kWholeStep);
  const Suite cases{{.problem = problem, .number = 1}};
  TrialRecord trial;
  trial.rate = 840;
  trial.ceiling_gbs = 4200;
  trial.share = 3.2;
  std::vector<Report> reports(1);
  reports[0].problem = &problem;
  reports[0].rows = {{"winner", trial, ""}};
  const std::string table = suite_table(cases, reports);
  EXPECT_NE(table.find("| effective GB/s |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| 13440 |\n"), std::string::npos) << table;
}

TEST(SuiteTable, ShowsSharesAndComparisons) {
  const Suite all = suite("single-sweep");
  Suite cases = choose_cases(all, "1-2");
  cases[1].against = 1;
  const auto row = [](const std::string& name, double rate) {
    TrialRecord trial;
    trial.rate = rate;
    return ReportRow{name, trial, ""};
  };
  std::vector<Report> reports(2);
  for (std::size_t i = 0; i < 2; ++i) reports[i].problem = &cases[i].problem;
  reports[0].device.ceiling_gbs = 4000;
  reports[0].rows = {row("winner", 400), row("naive", 200)};
  reports[1].rows = {row("winner", 300), {"pmpp-tiled", std::nullopt, "too large"}};
  const std::string table = suite_table(cases, reports);
  EXPECT_NE(table.find("| naive | pmpp-tiled |"), std::string::npos) << table;
  EXPECT_NE(table.find("| 1 | star3d1r, f32, 512x512x512 | "), std::string::npos) << table;
  EXPECT_NE(table.find("| **400** | 80.5 % | | 200 | n/a |"), std::string::npos) << table;
  EXPECT_NE(table.find("| **300** | n/a | 0.75 of 1 | n/a | n/a |"), std::string::npos) << table;

  cases[0].number = 7;
  const std::string part = suite_table(cases, reports);
  EXPECT_NE(part.find("| 7 | star3d1r, f32, 512x512x512 | "), std::string::npos) << part;
  EXPECT_NE(part.find("| **300** | n/a | | n/a | n/a |"), std::string::npos) << "case 1 is not among them\n" << part;
}

}  // namespace
}  // namespace stencil_tune
