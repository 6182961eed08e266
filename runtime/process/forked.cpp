#include "runtime/process/forked.hpp"

#include "stencil_tune/error.hpp"

#include <atomic>

#include <pthread.h>

namespace stencil_tune {
namespace {

std::atomic<int> threads_inside{0};
std::atomic<bool> lost_locks{false};

void begin_child() {
  if (threads_inside.exchange(0) > 0) lost_locks = true;
}

// Before any thread can be inside: an initialization at the first use could itself be under way at a fork.
[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, begin_child);

}  // namespace

InsideLibrary::InsideLibrary() {
  if (has_lost_locks()) {
    throw Error(ErrorCode::launch_failed,
                "this process was forked while another thread of its parent was in stencil-tune, whose locks nobody "
                "releases here: fork when no thread looks kernels up or prepares them, or start processes that begin "
                "anew, as multiprocessing.get_context(\"spawn\") does");
  }
  ++threads_inside;
}

InsideLibrary::~InsideLibrary() { --threads_inside; }

bool has_lost_locks() noexcept { return lost_locks; }

}  // namespace stencil_tune
