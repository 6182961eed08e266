#include "runtime/library/lookup/tuning_job.hpp"

#include "generator/definition/definition.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <sstream>

namespace stencil_tune {
namespace {

/// A program that writes what it is told, and its stencil's file, and ends with a status.
std::string make_program(const TemporaryFolder& folder, int status) {
  const std::filesystem::path path = folder.path() / "program";
  std::ofstream(path) << "#!/bin/sh\n"
                      << "for word in \"$@\"; do echo \"$word\" >> " << folder.path() / "words"
                      << "; done\n"
                      << "cp \"$3\" " << folder.path() / "definition.toml"
                      << "\n"
                      << "echo tried hard\nexit " << status << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TuningJob job() {
  return {.device = "GPU-1234",
          .problems = {make_problem(find_builtin("star2d1r"), ElementType::f64,
                                    {Boundary::periodic, Boundary::hold, Boundary::hold}, {2, {100, 50, 1}}, 112)}};
}

TEST(TuningJob, StartsTheProgramWithTheWholeProblem) {
  const TemporaryFolder folder;
  run_tuner({.program = make_program(folder, 0), .seconds = 2.5, .database = "/some/where.db"}, job());
  const std::string words = read(folder.path() / "words");
  for (const char* pair :
       {"--dims\n100x50\n", "--pitch\n112\n", "--type\nf64\n", "--budget\n2.5s\n", "--device\nGPU-1234\n",
        "--db\n/some/where.db\n", "--boundary\nx=periodic,y=hold\n", "--steps\n1\n"}) {
    EXPECT_NE(words.find(pair), std::string::npos) << pair << "in\n" << words;
  }
  EXPECT_EQ(stencil_key(load_definition((folder.path() / "definition.toml").string())),
            stencil_key(find_builtin("star2d1r")));
}

TEST(TuningJob, ARaceTakesThePlaceOfABudget) {
  const TuningJob one = job();
  const auto words =
      tuner_arguments({.program = "", .seconds = 2, .is_race = true}, one, one.problems.front(), "s.toml");
  const auto race = std::find(words.begin(), words.end(), "--race");
  ASSERT_NE(race, words.end());
  EXPECT_EQ(*std::next(race), "2s");
  EXPECT_EQ(std::find(words.begin(), words.end(), "--budget"), words.end());
  EXPECT_EQ(std::find(words.begin(), words.end(), "--db"), words.end()) << "the user's own, which needs no name";
}

TEST(TuningJob, NamesAStageThatIsNotTheWholeStep) {
  const Stencil two = parse_definition(
      "name = \"s\"\nrank = 1\nfields = [\"a\", \"b\"]\n[[stage]]\nb = \"a[x-1]\"\n[[stage]]\na = \"b[x+1]\"\n",
      "s.toml");
  const auto words = [&](int stage) {
    return tuner_arguments({}, {}, make_problem(two, ElementType::f32, {}, {1, {100, 1, 1}}, 0, 1, stage), "s.toml");
  };
  const auto stage_of = [](const std::vector<std::string>& all) {
    return std::find(all.begin(), all.end(), "--stage");
  };
  const auto first = words(0), whole = words(kWholeStep);
  ASSERT_NE(stage_of(first), first.end());
  EXPECT_EQ(*std::next(stage_of(first)), "0");
  EXPECT_EQ(stage_of(whole), whole.end());
}

TEST(TuningJob, SaysWhatTheProgramSaidWhenItFails) {
  const TemporaryFolder folder;
  EXPECT_ERROR(run_tuner({.program = make_program(folder, 3), .seconds = 1, .database = "x"}, job()),
               ErrorCode::launch_failed, "tried hard");
}

TEST(TuningJob, NamesAProgramThatIsNotThere) {
  EXPECT_ERROR(run_tuner({.program = "/no/such/stencil-tune", .seconds = 1, .database = "x"}, job()),
               ErrorCode::file_io, "/no/such/stencil-tune");
}

}  // namespace
}  // namespace stencil_tune
