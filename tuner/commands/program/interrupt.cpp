#include "tuner/commands/program/interrupt.hpp"

#include <array>
#include <csignal>
#include <cstddef>

namespace stencil_tune {
namespace {

std::atomic<int> guards = 0;
std::atomic<bool> interrupt_requested{false};
std::atomic<int> first_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free, "set from a handler");

void note_interrupt(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  interrupt_requested = true;
}

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kSignals.size()> before{};

void take_signals() {
  struct sigaction ours = {};
  ours.sa_handler = note_interrupt;
  // Once only: whoever asks again means at once. Reads from worker processes go on meanwhile.
  ours.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    // nohup(1) ignores hang-ups, and means it.
    if (kSignals[i] != SIGHUP || before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &ours, nullptr);
  }
}

void give_signals_back() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;
  interrupt_requested = false;
  first_signal = 0;
  take_signals();
}

InterruptGuard::~InterruptGuard() {
  if (--guards == 0) give_signals_back();
}

const std::atomic<bool>& InterruptGuard::requested() { return interrupt_requested; }

int InterruptGuard::exit_status(int otherwise) {
  constexpr int kBySignal = 128;  // as shells count
  const int signal = first_signal;
  return signal == 0 ? otherwise : kBySignal + signal;
}

}  // namespace stencil_tune
