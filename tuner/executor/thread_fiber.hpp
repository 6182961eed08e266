// One emulated GPU thread: a fiber that runs a kernel, waits where the kernel waits, and can be abandoned anywhere.
#pragma once

#include <boost/context/fiber.hpp>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stencil_tune {

/// A signal that the running kernel raised.
struct Trap {
  int signal = 0;
  std::uintptr_t address = 0;
};

/// Reusable: one fiber runs many kernels, one after another. Used by one OS thread only. While a fiber runs, signals
/// for bad accesses and bad arithmetic abandon its kernel and are kept as its trap.
class ThreadFiber {
 public:
  using Entry = void (*)(const void* arguments);

  ThreadFiber();
  ~ThreadFiber();  ///< the kernel must have finished or been cancelled
  ThreadFiber(const ThreadFiber&) = delete;
  ThreadFiber& operator=(const ThreadFiber&) = delete;

  /// Makes the next resume() begin the kernel.
  void start(Entry entry, const void* arguments);

  /// From the scheduler: runs the kernel until it waits or is finished.
  void resume();
  bool finished() const noexcept { return finished_; }
  const std::optional<Trap>& trap() const noexcept { return trap_; }
  bool overflowed(std::uintptr_t address) const noexcept;  ///< whether the address is in the stack's guard page

  /// From the scheduler: abandons a kernel that waits or has not begun.
  void cancel();

  /// From within the kernel: back to the scheduler until it resumes this fiber.
  void wait();

  /// From within the kernel: abandons it; it counts as finished.
  [[noreturn]] void escape() noexcept;

 private:
  friend class SignalTrap;

  boost::context::fiber run(boost::context::fiber&& scheduler);

  boost::context::stack_context stack_;
  boost::context::fiber fiber_;      ///< this fiber, while it is suspended
  boost::context::fiber scheduler_;  ///< the scheduler, while this fiber runs
  Entry entry_ = nullptr;
  const void* arguments_ = nullptr;
  std::optional<Trap> trap_;
  sigjmp_buf escape_;
  bool begun_ = false;
  bool finished_ = true;
  bool cancelled_ = false;
  bool closing_ = false;
};

}  // namespace stencil_tune
