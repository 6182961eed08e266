#include "tuner/executor/thread_fiber.hpp"

#include "stencil_tune/error.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>

#include <unistd.h>
#include <array>
#include <csignal>
#include <memory>
#include <utility>

// AddressSanitizer wants to be told which stack runs.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STENCIL_TUNE_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define STENCIL_TUNE_ADDRESS_SANITIZER
#endif
#ifdef STENCIL_TUNE_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace stencil_tune {
namespace {

#ifdef STENCIL_TUNE_ADDRESS_SANITIZER
/// Before a switch to `to`; what it returns goes to arrive() when the switch has come back.
void* leave_for(const StackBounds& to) {
  void* frames = nullptr;
  __sanitizer_start_switch_fiber(&frames, to.bottom, to.bytes);
  return frames;
}
/// Before a switch that never comes back.
void leave_for_good(const StackBounds& to) { __sanitizer_start_switch_fiber(nullptr, to.bottom, to.bytes); }
StackBounds arrive(void* frames) {
  StackBounds from;
  __sanitizer_finish_switch_fiber(frames, &from.bottom, &from.bytes);
  return from;
}
#else
void* leave_for(const StackBounds&) { return nullptr; }
void leave_for_good(const StackBounds&) {}
StackBounds arrive(void*) { return {}; }
#endif

// Unoptimised kernels keep their register tiles, and every copy of them, on the stack.
constexpr std::size_t kStackBytes = 128 * 1024;

// Signal handlers need a stack that is not the one that just overflowed.
constexpr std::size_t kSignalStackBytes = 64 * 1024;

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};

thread_local ThreadFiber* running_fiber = nullptr;

}  // namespace

/// Turns the signals of a running fiber into its trap; passes all others on to who was there before.
class SignalTrap {
 public:
  /// Handlers are the process's, installed once; the signal stack is the calling OS thread's.
  static void prepare_this_thread() {
    static const bool installed = (install(), true);
    static thread_local const SignalTrap stack_of_this_thread;
    static_cast<void>(installed);
    static_cast<void>(stack_of_this_thread);
  }

 private:
  SignalTrap() : memory_(std::make_unique<char[]>(kSignalStackBytes)) {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = kSignalStackBytes;
    ::sigaltstack(&stack, &previous_);
  }
  ~SignalTrap() { ::sigaltstack(&previous_, nullptr); }

  static void install() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      action.sa_sigaction = handle;
      // A handler that is left by a jump must not leave its signal blocked.
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigemptyset(&action.sa_mask);
      ::sigaction(kSignals[i], &action, &earlier_[i]);
    }
  }

  static void handle(int signal, siginfo_t* info, void*) {
    if (ThreadFiber* fiber = running_fiber) {
      fiber->trap_ = Trap{signal, reinterpret_cast<std::uintptr_t>(info->si_addr)};
      fiber->escape();
    }
    // Not ours: the instruction runs again and meets the earlier handler.
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      if (kSignals[i] == signal) ::sigaction(signal, &earlier_[i], nullptr);
    }
  }

  static inline std::array<struct sigaction, kSignals.size()> earlier_{};

  std::unique_ptr<char[]> memory_;
  stack_t previous_{};
};

ThreadFiber::ThreadFiber() {
  SignalTrap::prepare_this_thread();
  boost::context::protected_fixedsize_stack allocator(kStackBytes);
  stack_ = allocator.allocate();
  fiber_ =
      boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_), allocator,
                            [this](boost::context::fiber&& scheduler) { return run(std::move(scheduler)); });
}

ThreadFiber::~ThreadFiber() {
  closing_ = true;
  if (fiber_) switch_to_fiber();
}

void ThreadFiber::start(Entry entry, const void* arguments) {
  entry_ = entry;
  arguments_ = arguments;
  trap_.reset();
  begun_ = false;
  finished_ = false;
  cancelled_ = false;
}

// No object with a destructor may live in this frame: escape() jumps into it.
boost::context::fiber ThreadFiber::run(boost::context::fiber&& scheduler) {
  scheduler_stack_ = arrive(nullptr);
  scheduler_ = std::move(scheduler);
  while (!closing_) {
    if (sigsetjmp(escape_, 0) == 0) entry_(arguments_);
    finished_ = true;
    switch_to_scheduler();
  }
  leave_for_good(scheduler_stack_);
  return std::move(scheduler_);
}

void ThreadFiber::switch_to_fiber() {
  const StackBounds own{static_cast<const char*>(stack_.sp) - stack_.size, stack_.size};
  void* frames = leave_for(own);
  fiber_ = std::move(fiber_).resume();
  arrive(frames);
}

void ThreadFiber::switch_to_scheduler() {
  void* frames = leave_for(scheduler_stack_);
  scheduler_ = std::move(scheduler_).resume();
  scheduler_stack_ = arrive(frames);
}

void ThreadFiber::resume() {
  begun_ = true;
  running_fiber = this;
  switch_to_fiber();
  running_fiber = nullptr;
}

void ThreadFiber::cancel() {
  if (begun_ && !finished_) {
    cancelled_ = true;
    resume();
  }
  finished_ = true;
}

void ThreadFiber::wait() {
  switch_to_scheduler();
  if (cancelled_) escape();
}

void ThreadFiber::escape() noexcept { siglongjmp(escape_, 1); }

bool ThreadFiber::overflowed(std::uintptr_t address) const noexcept {
  const auto guard = reinterpret_cast<std::uintptr_t>(stack_.sp) - stack_.size;
  return address >= guard && address < guard + static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace stencil_tune
