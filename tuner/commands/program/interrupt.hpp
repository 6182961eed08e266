// Ctrl-C and its kin as a wish to end in good order.
#pragma once

#include <atomic>

namespace stencil_tune {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP sets `requested`; the same again ends the process at once. A
/// SIGHUP that was ignored stays so. One that lives within another changes nothing, and
/// may be of another thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static const std::atomic<bool>& requested();

  /// What a program ends with that heard a signal since the last guard was made: 130 after Ctrl-C, 143 after SIGTERM,
  /// 129 after SIGHUP; else `otherwise`.
  static int exit_status(int otherwise);
};

}  // namespace stencil_tune
