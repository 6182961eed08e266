#include "tuner/commands/program/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace stencil_tune {
namespace {

TEST(InterruptGuard, NotesASignalAndForgetsThoseOfEarlierGuards) {
  {
    const InterruptGuard guard;
    EXPECT_FALSE(InterruptGuard::requested());
    std::raise(SIGTERM);
    EXPECT_TRUE(InterruptGuard::requested());
  }
  const InterruptGuard later;
  EXPECT_FALSE(InterruptGuard::requested());
}

TEST(InterruptGuard, NotesAHangUpUnlessItWasIgnored) {
  {
    const InterruptGuard guard;
    std::raise(SIGHUP);
    EXPECT_TRUE(InterruptGuard::requested());
  }
  std::signal(SIGHUP, SIG_IGN);
  {
    const InterruptGuard guard;
    std::raise(SIGHUP);
    EXPECT_FALSE(InterruptGuard::requested());
  }
  EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST(InterruptGuard, TheExitStatusNamesTheFirstSignal) {
  const InterruptGuard guard;
  EXPECT_EQ(InterruptGuard::exit_status(1), 1);
  std::raise(SIGTERM);
  EXPECT_EQ(InterruptGuard::exit_status(1), 143);
  std::raise(SIGINT);
  EXPECT_EQ(InterruptGuard::exit_status(0), 143);
}

TEST(InterruptGuard, OneWithinAnotherKeepsWhatTheOuterOneNoted) {
  const InterruptGuard outer;
  std::raise(SIGINT);
  { const InterruptGuard inner; }
  EXPECT_TRUE(InterruptGuard::requested());
}

TEST(InterruptGuard, TheOuterOneStillNotesWhenTheInnerOneIsGone) {
  const InterruptGuard outer;
  { const InterruptGuard inner; }
  std::raise(SIGINT);
  EXPECT_TRUE(InterruptGuard::requested());
}

}  // namespace
}  // namespace stencil_tune
