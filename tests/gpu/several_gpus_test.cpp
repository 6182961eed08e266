// Two GPUs of a model share the trials of one session.
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/source.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/tuner/search/random_search.hpp"
#include "tests/tuner/session/session_fakes.hpp"
#include "tuner/session/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace stencil_tune {
namespace {

/// Compiles in this process, one after the other.
class OwnCompilers : public CompileWorkers {
 public:
  OwnCompilers(const Problem& problem, std::string architecture)
      : problem_(problem), architecture_(std::move(architecture)), compiler_(open_nvrtc()) {}

  int width() const override { return 4; }
  void submit(const std::string& code) override { queue_.push_back(code); }
  int pending() const override { return static_cast<int>(queue_.size()); }
  std::optional<CompileResult> poll(std::chrono::milliseconds) override {
    if (queue_.empty()) return std::nullopt;
    CompileResult result;
    result.code = queue_.front();
    queue_.pop_front();
    result.kernel = compiler_->compile(generate({problem_, parse_code(result.code)}), architecture_);
    return result;
  }

 private:
  const Problem& problem_;
  std::string architecture_;
  std::unique_ptr<Compiler> compiler_;
  std::deque<std::string> queue_;
};

class SeveralGpus : public GpuTest<> {
 protected:
  void SetUp() override {
    GpuTest<>::SetUp();
    if (IsSkipped()) return;
    for (const DeviceFacts& device : list_devices()) {
      if (device.name == device_.name) alike_.push_back(device);
    }
    if (alike_.size() < 2) GTEST_SKIP() << "one GPU of a model alone";
  }

  std::vector<DeviceFacts> alike_;
};

TEST_F(SeveralGpus, ShareTheTrialsOfASessionAndTryEachCandidateOnce) {
  constexpr int kTrials = 24;
  const Problem problem = testing::star(1, 128);
  const Space space(problem, device_.limits);
  const StencilSubject subject(problem);
  const testing::TemporaryFolder folder;
  Database database = Database::open(folder.path() / "trials.db");
  OwnCompilers compilers(problem, device_.architecture);
  WorkerOptions options;
  options.device = alike_[0].uuid;
  const auto first = start_device_worker(subject, options);
  options.device = alike_[1].uuid;
  const auto second = start_device_worker(subject, options);
  const auto strategy = by_code(make_random(space, 1));
  const SteadyClock clock;
  SilentProgress observer;
  const std::atomic<bool> stop = false;
  SessionOptions session;
  session.budget_s = 300;
  session.max_trials = kTrials;
  const PlatformKey platform{device_.name, device_.architecture, device_.driver, "13.0", ""};
  const SessionResult result = run_session(
      {subject, platform, *strategy, compilers, *first, database, clock, observer, stop, {}, {}, {second.get()}},
      session);
  EXPECT_EQ(result.trials, kTrials);
  ASSERT_EQ(result.trials_of_devices.size(), 2u);
  EXPECT_GT(result.trials_of_devices[0], 0);
  EXPECT_GT(result.trials_of_devices[1], 0);
  EXPECT_EQ(result.trials_of_devices[0] + result.trials_of_devices[1], kTrials);
  ASSERT_TRUE(result.winner);
  EXPECT_TRUE(result.winner->raced);
}

}  // namespace
}  // namespace stencil_tune
