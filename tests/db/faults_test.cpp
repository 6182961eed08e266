// Full disks, failing disks and processes that die in the middle of a write.
#include "db/check.hpp"
#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/fault_vfs.hpp"
#include "tests/db/testing.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

namespace stencil_tune {
namespace {

void expect_whole(const std::filesystem::path& path) {
  const CheckResult check = check_database(path);
  for (const auto& problem : check.problems) ADD_FAILURE() << problem;
}

/// Stores two trials, then one more that meets the fault, then, the fault repaired, the same one again.
int store_through(const std::filesystem::path& path, Fault fault, int at) {
  Database database = Database::open(path);
  TrialStore store(database);
  store.insert(a_trial("a", 100));
  store.insert(a_trial("b", 200));
  install_faults(fault, at);
  Database faulty = Database::open(path);  // only connections opened under the layer feel it
  bool failed = false;
  try {
    TrialStore(faulty).insert(a_trial("c", 300));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::database_io) return 1;
    failed = true;
  }
  repair_faults();
  if (failed) TrialStore(faulty).insert(a_trial("c", 300));
  return counted_writes() > at ? 0 : 50;
}

class FaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultTest, LosesNothingAtAnyWriteAndGoesOnAfterwards) {
  int status = 0;
  int at = 8;  // opening for writing writes a little too; the insert comes after
  for (; at < 200 && status == 0; ++at) {
    const TemporaryFolder folder;
    status = in_child([&] { return store_through(folder / "t.db", GetParam(), at); });
    if (status == 50) break;
    ASSERT_EQ(status, 0) << at;
    expect_whole(folder / "t.db");
    Database database = Database::open(folder / "t.db");
    EXPECT_GE(TrialStore(database).find({}).size(), 3U) << at;
    EXPECT_EQ(WinnerStore(database).find(a_problem(), kGpu, Objective::burst)->trial.code, a_code("c")) << at;
  }
  EXPECT_EQ(status, 50) << "the fault never ran out of writes to hit";
  EXPECT_GT(at, 15);
}

INSTANTIATE_TEST_SUITE_P(Writes, FaultTest, ::testing::Values(Fault::disk_full, Fault::io_error));

TEST(Faults, FullDiskWhileOpeningIsSaidAndLeavesTheDatabaseWhole) {
  for (int at = 0; at < 3; ++at) {
    const TemporaryFolder folder;
    {
      Database database = Database::open(folder / "t.db");
      TrialStore(database).insert(a_trial("a", 100));
    }
    EXPECT_EQ(in_child([&] {
                install_faults(Fault::disk_full, at);
                try {
                  Database database = Database::open(folder / "t.db");
                  TrialStore(database).insert(a_trial("b", 200));
                } catch (const Error& error) {
                  return error.code() == ErrorCode::database_io ? 0 : 1;
                }
                return 2;
              }),
              0);
    expect_whole(folder / "t.db");
    Database database = Database::open(folder / "t.db");
    EXPECT_TRUE(database.report().moved_aside.empty());
    EXPECT_EQ(TrialStore(database).find({}).size(), 1U);
  }
}

TEST(Faults, FileSizeLimitIsAnIoErrorAndLosesNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(in_child([&] {
              Database database = Database::open(folder / "t.db");
              TrialStore store(database);
              store.insert(a_trial("a", 100));
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{64 * 1024, 64 * 1024};
              setrlimit(RLIMIT_FSIZE, &limit);
              for (int stored = 1; stored < 1000; ++stored) {
                try {
                  store.insert(a_trial("more" + std::to_string(stored), 50));
                } catch (const Error& error) {
                  if (error.code() != ErrorCode::database_io) return 1;
                  return static_cast<int>(store.find({}).size()) == stored ? 0 : 2;
                }
              }
              return 3;
            }),
            0);
  expect_whole(folder / "t.db");
}

TEST(Faults, DyingInAnyWriteKeepsEveryStoredTrial) {
  int status = kCrashStatus;
  int deaths = 0;
  for (int at = 0; status == kCrashStatus && at < 500; ++at) {
    const TemporaryFolder folder;
    int stored[2];
    ASSERT_EQ(pipe(stored), 0);
    status = in_child([&] {
      install_faults(Fault::torn_crash, at);
      Database database = Database::open(folder / "t.db");
      TrialStore store(database);
      for (int i = 0; i < 3; ++i) {
        store.insert(a_trial("t" + std::to_string(i), 100 + i));
        if (write(stored[1], "", 1) != 1) return 1;
      }
      return 0;
    });
    close(stored[1]);
    std::size_t promised = 0;
    for (char byte = 0; read(stored[0], &byte, 1) == 1;) ++promised;
    close(stored[0]);
    deaths += status == kCrashStatus ? 1 : 0;

    Database database = Database::open(folder / "t.db");
    EXPECT_TRUE(database.report().moved_aside.empty()) << at << ": " << database.report().damage;
    const auto trials = TrialStore(database).find({});
    // The last one may be on disk without the process having lived to say so.
    EXPECT_TRUE(trials.size() == promised || trials.size() == promised + 1) << at;
    const auto winner = WinnerStore(database).find(a_problem(), kGpu, Objective::burst);
    EXPECT_EQ(winner.has_value(), !trials.empty()) << at;
    if (winner) {
      EXPECT_EQ(winner->trial.id, trials.back().id) << at;
    }
    expect_whole(folder / "t.db");
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(deaths, 20);
}

}  // namespace
}  // namespace stencil_tune
