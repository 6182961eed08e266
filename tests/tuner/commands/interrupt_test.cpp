#include "tuner/commands/interrupt.hpp"

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
