// Whole sessions on a real GPU in which kernels hang and break the context, and kernels whose duration is known.
//
// STENCIL_TUNE_GPU_FAULTS=N: candidates of the session with faults, of which a tenth hang and a tenth access what is
// not theirs (40; 1000 before a release). Each hang costs its deadline and a worker. scripts/check-gpu repeats the
// lines that these tests print.
#include "db/trial_store.hpp"
#include "generator/candidates/space.hpp"
#include "runtime/compile/compiler.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/planted.hpp"
#include "tests/runtime/temporary_folder.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/stencil_parts.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>

namespace stencil_tune {
namespace {

constexpr int kFewCandidates = 40;
constexpr int kFastestUs = 100;
constexpr int kSlowestUs = 600;

/// Each thread waits so long before its first cell, then all is right. Blocks of a small grid run at once.
std::string spin(int microseconds) {
  return "if (i - a.low[0] < threads) {\n" + waiting(microseconds) + "}\na.out[i] = right;";
}

/// What the candidate of this number does: every tenth hangs, every tenth breaks the context, the others take a time
/// that one of them alone is fastest in.
std::string deed(int number, int count) {
  if (number % 10 == 3) return "while (atomicAdd(a.out + i, 0.0f) != 12345.0f) {}";
  if (number % 10 == 7) return "*reinterpret_cast<float*>(16 + i) = right;";
  if (number == count / 2 / 10 * 10) return spin(kFastestUs);
  return spin(kFastestUs * 11 / 10 + number * 37 % (kSlowestUs - kFastestUs));
}

/// Compiles the planted kernels, one after another.
class PlantedCompilers : public CompileWorkers {
 public:
  PlantedCompilers(std::vector<Tuning> candidates, std::string architecture)
      : candidates_(std::move(candidates)), architecture_(std::move(architecture)), compiler_(open_nvrtc()) {}

  int width() const override { return 4; }
  void submit(const std::string& code) override { queue_.push_back(code); }
  int pending() const override { return static_cast<int>(queue_.size()); }

  std::optional<CompileResult> poll(std::chrono::milliseconds) override {
    if (queue_.empty()) return std::nullopt;
    CompileResult result;
    result.code = queue_.front();
    queue_.pop_front();
    const auto place = std::find(candidates_.begin(), candidates_.end(), parse_code(result.code));
    const auto number = static_cast<int>(place - candidates_.begin());
    result.kernel = compiler_->compile(planted(deed(number, static_cast<int>(candidates_.size()))), architecture_);
    return result;
  }

 private:
  std::vector<Tuning> candidates_;
  std::string architecture_;
  std::unique_ptr<Compiler> compiler_;
  std::deque<std::string> queue_;
};

/// Legal ones of the direct family, whose launch geometry covers the grid once.
std::vector<Tuning> some_candidates(const Space& space, std::size_t count) {
  std::vector<Tuning> candidates;
  for (std::uint64_t point = 0; point < space.size() && candidates.size() < count; ++point) {
    const auto tuning = space.at(point);
    if (tuning && tuning->family->name == "direct") candidates.push_back(*tuning);
  }
  return candidates;
}

class GpuFaults : public GpuTest<> {};

TEST_F(GpuFaults, HangsAndIllegalAccessesCostThemselvesAndNeverTheWinner) {
  const char* const asked = std::getenv("STENCIL_TUNE_GPU_FAULTS");
  const std::size_t count = asked != nullptr ? std::strtoul(asked, nullptr, 10) : kFewCandidates;
  const Problem problem = make_problem(three_points(), ElementType::f32, {}, {1, {4096, 1, 1}});
  const Space space(problem, device_.limits);
  const auto candidates = some_candidates(space, count);
  ASSERT_EQ(candidates.size(), count);

  const TemporaryFolder folder;
  Database database = Database::open(folder.path() / "trials.db");
  PlantedCompilers compilers(candidates, device_.architecture);
  WorkerOptions options;
  options.device = device_.uuid;
  options.run_deadline_s = 1.5;
  const StencilSubject subject(problem);
  const auto device = start_device_worker(subject, options);
  const auto strategy = by_code(make_listed(space, candidates));
  const SteadyClock clock;
  SilentProgress observer;
  const std::atomic<bool> stop = false;
  const PlatformKey platform{device_.name, device_.architecture, device_.driver, "13.0", ""};
  SessionOptions session;
  session.budget_s = 1e6;
  const SessionResult result =
      run_session({subject, platform, *strategy, compilers, *device, database, clock, observer, stop, {}, {}}, session);

  const int faults = static_cast<int>(count) / 10;
  EXPECT_EQ(result.trials, static_cast<int>(count));
  EXPECT_EQ(result.failures.at(Outcome::timeout), faults);
  EXPECT_EQ(result.failures.at(Outcome::launch_failed), faults);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->code, code(candidates[count / 2 / 10 * 10]));
  fmt::print("faults on a GPU: {} candidates, {} hangs, {} illegal accesses, the winner is {}\n", count, faults, faults,
             result.winner->code == code(candidates[count / 2 / 10 * 10]) ? "the right one" : "wrong");
}

TEST_F(GpuFaults, AKernelOfKnownDurationIsTimedWithin2Point5Percent) {
  const Problem problem = make_problem(three_points(), ElementType::f32, {}, {1, {4096, 1, 1}});
  const Tuning tuning = *default_candidate(family_named("direct"), problem, device_.limits);
  WorkerOptions options;
  options.device = device_.uuid;
  const auto worker = start_device_worker(StencilSubject(problem), options);
  worker->start();
  const auto compiler = open_nvrtc();
  for (const int microseconds : {300, 1000, 5000}) {
    const auto kernel = compiler->compile(planted(spin(microseconds)), device_.architecture);
    const DeviceResult alone = worker->run(code(tuning), kernel, {});
    ASSERT_EQ(alone.outcome, Outcome::ok) << alone.message;
    const DeviceResult raced = worker->race({{code(tuning), kernel}}, {.rounds = 3}).front();
    for (const double found : {alone.timing.median_ms, raced.timing.median_ms}) {
      EXPECT_NEAR(found, microseconds / 1e3, 0.025 * microseconds / 1e3);
      fmt::print("a kernel of {} us: timed as {:.1f} us\n", microseconds, 1e3 * found);
    }
  }
}

}  // namespace
}  // namespace stencil_tune
