#include "tuner/executor/thread_fiber.hpp"

#include "stencil_tune/error.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>

#include <unistd.h>
#include <array>
#include <csignal>
#include <memory>
#include <utility>

#ifdef STENCIL_TUNE_SANITIZED
#include <sanitizer/asan_interface.h>
#endif

namespace stencil_tune {
namespace {

// Unoptimised kernels keep their register tiles, and every copy of them, on the stack.
constexpr std::size_t kStackBytes = 128 * 1024;

// Signal handlers need a stack that is not the one that just overflowed.
constexpr std::size_t kSignalStackBytes = 64 * 1024;

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};

thread_local ThreadFiber* running_fiber = nullptr;

/// The address sanitizer does not see that a jump ended the frames of this stack, and would guard their memory on.
void end_frames(const boost::context::stack_context& stack) {
#ifdef STENCIL_TUNE_SANITIZED
  __asan_unpoison_memory_region(static_cast<char*>(stack.sp) - stack.size, stack.size);
#else
  static_cast<void>(stack);
#endif
}

/// Memory that the next mapping may get: the last frames of a fiber do not return.
struct Stack : boost::context::protected_fixedsize_stack {
  using boost::context::protected_fixedsize_stack::protected_fixedsize_stack;
  void deallocate(boost::context::stack_context& stack) noexcept {
    end_frames(stack);
    boost::context::protected_fixedsize_stack::deallocate(stack);
  }
};

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
  Stack allocator(kStackBytes);
  stack_ = allocator.allocate();
  fiber_ =
      boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_), allocator,
                            [this](boost::context::fiber&& scheduler) { return run(std::move(scheduler)); });
}

ThreadFiber::~ThreadFiber() {
  closing_ = true;
  if (fiber_) fiber_ = std::move(fiber_).resume();
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
  scheduler_ = std::move(scheduler);
  while (!closing_) {
    if (sigsetjmp(escape_, 0) == 0) entry_(arguments_);
    finished_ = true;
    scheduler_ = std::move(scheduler_).resume();
  }
  return std::move(scheduler_);
}

void ThreadFiber::resume() {
  begun_ = true;
  running_fiber = this;
  fiber_ = std::move(fiber_).resume();
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
  scheduler_ = std::move(scheduler_).resume();
  if (cancelled_) escape();
}

void ThreadFiber::escape() noexcept {
  end_frames(stack_);
  siglongjmp(escape_, 1);
}

bool ThreadFiber::overflowed(std::uintptr_t address) const noexcept {
  const auto guard = reinterpret_cast<std::uintptr_t>(stack_.sp) - stack_.size;
  return address >= guard && address < guard + static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace stencil_tune
