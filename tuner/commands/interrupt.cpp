#include "tuner/commands/interrupt.hpp"

#include <csignal>

namespace stencil_tune {
namespace {

int guards = 0;
std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void note_interrupt(int) { interrupt_requested = true; }

void handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  // Once only: whoever asks again means at once. Reads from worker processes go on meanwhile.
  action.sa_flags = SA_RESTART | (handler == SIG_DFL ? 0 : static_cast<int>(SA_RESETHAND));
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;
  interrupt_requested = false;
  handle(note_interrupt);
}

InterruptGuard::~InterruptGuard() {
  if (--guards == 0) handle(SIG_DFL);
}

const std::atomic<bool>& InterruptGuard::requested() { return interrupt_requested; }

}  // namespace stencil_tune
