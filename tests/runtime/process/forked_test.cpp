// Children of a process of which other threads look kernels up: they go on or are told, and never wait for ever.
#include "runtime/process/forked.hpp"

#include "runtime/library/library_parts.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/fake_driver.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

constexpr unsigned kPatienceS = 60;  // a child is killed then
constexpr int kWentOn = 10, kWasTold = 11, kWrong = 12;

class ForkedTest : public testing::Test {
 protected:
  ForkedTest() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [this] { return std::make_shared<FakeCompiler>(compiled_); };
    parts.winners = [this](const Problem&, const std::string&) {
      if (while_looking_up_) while_looking_up_();
      return std::vector<WinnerRecord>();
    };
    library_.emplace(Library(std::make_unique<Library::Impl>(std::move(parts))));
  }

  void look_up(std::int64_t n) {
    library_->lookup({.stencil = find_builtin("star2d1r"), .extents = {.rank = 2, .n = {n, n, 1}}});
  }

  /// How a child ends that looks up, and frees what its parent made; a signal's number where it had to be killed.
  int end_of_child(std::int64_t n) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kPatienceS);
      int end = kWrong;
      try {
        look_up(n);
        end = kWentOn;
      } catch (const Error& error) {
        if (std::string(error.what()).find("forked") != std::string::npos) end = kWasTold;
      }
      library_.reset();
      ::_exit(end);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  }

  FakeDriver driver_;
  std::atomic<int> compiled_{0};
  std::function<void()> while_looking_up_;
  std::optional<Library> library_;
};

TEST_F(ForkedTest, AChildOfThreadsThatAreIdleLooksUp) {
  std::thread([this] { look_up(64); }).join();
  EXPECT_EQ(end_of_child(64), kWentOn) << "what was known";
  EXPECT_EQ(end_of_child(80), kWentOn) << "what was not";
}

TEST_F(ForkedTest, AChildIsToldWhereAnotherThreadWasLookingUp) {
  std::promise<void> inside, forked;
  while_looking_up_ = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    inside.set_value();
    forked.get_future().wait();
  };
  std::thread other([this] { look_up(64); });
  inside.get_future().wait();
  EXPECT_EQ(end_of_child(80), kWasTold);
  forked.set_value();
  other.join();
  while_looking_up_ = nullptr;
  EXPECT_EQ(end_of_child(96), kWentOn) << "the next child has lost nothing";
}

TEST_F(ForkedTest, NoneOfManyChildrenWaitsForEver) {
  constexpr int kChildren = 60, kThreads = 3;
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (std::int64_t n = 64; !enough; ++n) look_up(64 + (n * kThreads + i) % 500);
    });
  }
  for (int i = 0; i < kChildren; ++i) {
    const int end = end_of_child(1000 + i);
    EXPECT_TRUE(end == kWentOn || end == kWasTold) << "child " << i << " ended with " << end;
  }
  enough = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stencil_tune
