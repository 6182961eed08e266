// Several processes on one database.
#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/testing.hpp"

#include <algorithm>
#include <random>

namespace stencil_tune {
namespace {

constexpr int kProcesses = 3;
constexpr int kTrialsEach = 40;

double rate_of(int process, int trial) {
  std::mt19937 random(static_cast<unsigned>(process * 1000 + trial));
  return 100 + static_cast<double>(random() % 400);
}

int write_trials(const std::filesystem::path& path, int process) {
  Database database = Database::open(path);
  TrialStore store(database);
  for (int i = 0; i < kTrialsEach; ++i) {
    store.insert(a_trial("p" + std::to_string(process) + "t" + std::to_string(i), rate_of(process, i)));
    // Reads before it writes: without the write lock from the start it would decide on what it no longer knows.
    WinnerStore(database).settle(a_problem(), kGpu, Objective::burst);
  }
  return 0;
}

TEST(Processes, WritingAtOnceAllFinishAndTheWinnerIsTheTrueBest) {
  const TemporaryFolder folder;
  // None of them finds a database: making it is part of the contest.
  std::vector<int> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(start_child([&, process] { return write_trials(folder / "t.db", process); }));
  }
  for (const int child : children) EXPECT_EQ(wait_for_child(child), 0);

  double best = 0;
  for (int process = 0; process < kProcesses; ++process) {
    for (int i = 0; i < kTrialsEach; ++i) best = std::max(best, rate_of(process, i));
  }
  Database database = Database::open(folder / "t.db");
  EXPECT_EQ(TrialStore(database).find({}).size(), static_cast<std::size_t>(kProcesses * kTrialsEach));
  const auto winner = WinnerStore(database).find(a_problem(), kGpu, Objective::burst);
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->trial.rate, best);
  EXPECT_EQ(winner->trials_seen, kProcesses * kTrialsEach);
  EXPECT_TRUE(database.damaged_rows().empty());
}

TEST(Processes, ReaderSeesWholeWinnersWhileAnotherWrites) {
  const TemporaryFolder folder;
  { Database::open(folder / "t.db"); }
  const int child = start_child([&] { return write_trials(folder / "t.db", 0); });
  double last = 0;
  for (int i = 0; i < 100; ++i) {
    Database database = Database::open(folder / "t.db", {.access = Access::read});
    if (const auto winner = WinnerStore(database).find(a_problem(), kGpu, Objective::burst)) {
      EXPECT_GE(winner->trial.rate, last);
      last = winner->trial.rate;
    }
    EXPECT_TRUE(database.damaged_rows().empty());
  }
  EXPECT_EQ(wait_for_child(child), 0);
}

}  // namespace
}  // namespace stencil_tune
